// Package aside keeps long arguments of a tool's call from the SDK, which copies what it reads some
// ten times. A transport takes the arguments out of the call and leaves a mark in their place. The
// call's handler puts them back.
package aside

import (
	"crypto/rand"
	"encoding/json"
	"strings"
	"sync"

	"swank-mcp/mcpbridge/rawtext"
)

// long is the size in bytes of the arguments that are taken out.
const long = 64 << 10

// Arguments holds the arguments of one call, which were cut out of it.
type Arguments struct {
	mark string // the name by which the call knows them
	raw  json.RawMessage
}

// A mark is written as the arguments {"kept aside": NAME}.
const (
	before = `{"kept aside":"`
	behind = `"}`
)

// Cut takes the arguments out of params, valid JSON, those of tools/call. It returns params as they
// are, and nil, if there are no long arguments. Of arguments that are there twice, the last count.
func Cut(params []byte) (short []byte, a *Arguments) {
	if len(params) <= long || params[0] != '{' {
		return params, nil
	}
	arguments := rawtext.Member(params, "arguments")
	if len(arguments) <= long {
		return params, nil
	}
	a = &Arguments{mark: rand.Text(), raw: arguments}
	return Replace(params, "arguments", []byte(before+a.mark+behind)), a
}

// Replace returns the JSON object with another value, valid JSON, for its member of that name.
func Replace(object []byte, name string, value []byte) []byte {
	short := []byte{'{'}
	member := func(key string, value []byte) {
		if len(short) > 1 {
			short = append(short, ',')
		}
		short = append(append(append(short, rawtext.Quote(key)...), ':'), value...)
	}
	rawtext.Members(object, func(key, value []byte) {
		if string(key) != name {
			member(string(key), value)
		}
	})
	member(name, value)
	return append(short, '}')
}

// Store has the arguments of the calls that are on their way to their handlers. The zero value is
// ready.
type Store struct {
	mu  sync.Mutex
	all map[string]*Arguments
}

// Keep keeps a, if it is not nil, until Take or Discard.
func (s *Store) Keep(a *Arguments) {
	if a == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*Arguments{}
	}
	s.all[a.mark] = a
}

// Discard gives up a, if it is not nil, which no handler has taken: the call has been answered.
func (s *Store) Discard(a *Arguments) {
	if a == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, a.mark)
}

// Take returns what is kept where arguments are a mark of Cut, once, and else arguments as they are.
func (s *Store) Take(arguments json.RawMessage) json.RawMessage {
	mark, found := strings.CutPrefix(string(arguments[:min(len(arguments), 100)]), before)
	if !found {
		return arguments
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.all[strings.TrimSuffix(mark, behind)]
	if a == nil {
		return arguments
	}
	delete(s.all, a.mark)
	raw := a.raw
	a.raw = nil // whoever has a may live as long as the call
	return raw
}
