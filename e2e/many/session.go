package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// names is how many functions a session defines, again and again.
const names = 10

// pause is how long a session rests between two calls, at most.
const pause = 4 * time.Second

// patience is how long a call is sent again.
const patience = time.Minute

// session is one session with what must be in it.
type session struct {
	c      *client
	name   string
	modern bool
	conn   string // in the era with handshakes

	said   [names]int // the newest value of each function that was acknowledged
	tried  [names]int // and the newest that was sent
	serial int

	answers []time.Time     // when calls were answered
	took    []time.Duration // by a call, from its first sending to its answer
	again   map[string]int  // answers that say to send it again
	broken  map[string]int  // answers that have broken off
	errs    []error         // any others, as of connections that ended without an answer
}

func newSession(c *client, i int) *session {
	return &session{c: c, name: fmt.Sprintf("many-%d-%d", os.Getpid(), i), modern: i%2 == 0, again: map[string]int{}, broken: map[string]int{}}
}

// era is that of the protocol that the session speaks.
func (s *session) era() string {
	if s.modern {
		return newEra
	}
	return oldEra
}

func (s *session) path() string { return "/s/" + s.name + "/mcp" }

// once sends code once.
func (s *session) once(ctx context.Context, code string) (string, error) {
	params := map[string]any{"name": "evaluate-lisp", "arguments": map[string]any{"code": code}}
	if s.modern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    newEra,
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
			"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "many", "version": "1"},
		}
	} else if s.conn == "" {
		a, err := s.c.post(ctx, s.path(), "", "initialize", map[string]any{"protocolVersion": oldEra,
			"capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "many", "version": "1"}})
		if err != nil {
			return "", err
		}
		if _, err := s.c.post(ctx, s.path(), a.conn, "notifications/initialized", map[string]any{}); err != nil {
			return "", err
		}
		s.conn = a.conn
	}
	a, err := s.c.post(ctx, s.path(), s.conn, "tools/call", params)
	if err != nil {
		return "", err
	}
	return a.text, nil
}

// call sends code until it is answered, and notes what was answered before that.
func (s *session) call(ctx context.Context, code string) (string, error) {
	began := time.Now()
	for {
		text, err := s.once(ctx, code)
		var again *tryAgainError
		var broken *brokenError
		switch {
		case err == nil:
			s.answers = append(s.answers, time.Now())
			s.took = append(s.took, time.Since(began))
			return text, nil
		case ctx.Err() != nil:
			return "", ctx.Err()
		case errors.As(err, &again):
			s.again[fmt.Sprintf("%s: %d %s", s.era(), again.status, short(again.text))]++
			if again.anew {
				s.conn = ""
				if time.Since(began) < patience {
					continue // the protocol wants a handshake, and no rest
				}
			}
		case errors.As(err, &broken):
			s.broken[s.era()+": "+short(err.Error())]++
		default:
			s.errs = append(s.errs, err)
			return "", err
		}
		if time.Since(began) > patience {
			err = fmt.Errorf("%s: no answer for %v: %w", s.name, patience, err)
			s.errs = append(s.errs, err)
			return "", err
		}
		time.Sleep(200 * time.Millisecond)
	}
}

var messageText = regexp.MustCompile(`"message":"([^"]*)"`)

// short is what an answer says, to be counted.
func short(text string) string {
	if m := messageText.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	text = regexp.MustCompile(`[0-9.]+`).ReplaceAllString(strings.TrimSpace(text), "N")
	return text[:min(len(text), 120)]
}

// begin has the session begin.
func (s *session) begin(ctx context.Context) error {
	text, err := s.call(ctx, "(+ 1 1)")
	if err == nil && !strings.Contains(text, "=> 2") {
		err = fmt.Errorf("%s: (+ 1 1) is %q", s.name, text)
	}
	s.answers, s.took = nil, nil
	return err
}

// work defines functions and calls them, until ctx ends.
func (s *session) work(ctx context.Context) {
	for ctx.Err() == nil {
		n := rand.IntN(names)
		s.serial++
		s.tried[n] = s.serial
		code := fmt.Sprintf("(defun f%d () %d)", n, s.serial)
		if rand.IntN(3) == 0 {
			code += fmt.Sprintf(" (sleep 0.%d)", rand.IntN(8))
		}
		if _, err := s.call(ctx, code); err == nil {
			s.said[n] = s.serial
		}
		select {
		case <-ctx.Done():
		case <-time.After(rand.N(pause)):
		}
	}
}

var integer = regexp.MustCompile(`-?[0-9]+`)

// check asks for all functions. Each has the value that was acknowledged, or one that was
// sent later.
func (s *session) check(ctx context.Context) error {
	var forms strings.Builder
	for n := range names {
		fmt.Fprintf(&forms, " (if (fboundp 'f%d) (funcall 'f%[1]d) 0)", n)
	}
	text, err := s.call(ctx, "(list"+forms.String()+")")
	if err != nil {
		return err
	}
	_, list, _ := strings.Cut(text, "=> (")
	values := integer.FindAllString(list, names)
	for n := range names {
		if len(values) < names {
			return fmt.Errorf("%s: the answer is %q", s.name, text)
		}
		v, _ := strconv.Atoi(values[n])
		if v < s.said[n] || v > s.tried[n] {
			return fmt.Errorf("%s: f%d is %d; acknowledged was %d, sent %d", s.name, n, v, s.said[n], s.tried[n])
		}
	}
	return nil
}
