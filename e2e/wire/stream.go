package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"sync"
	"time"
	"unicode/utf8"
)

// Line is one recorded line of the conversation, without its newline.
type Line struct {
	At   time.Time
	Data []byte
}

// stream is the jsonrpc2.ObjectStream: one JSON text per line each way.
type stream struct {
	out io.WriteCloser
	in  *bufio.Reader
	rec bool

	wmu  sync.Mutex // guards out: an injected byte must not split a message
	mu   sync.Mutex // guards what follows
	sent []Line
	got  []Line
	null []json.RawMessage // replies with a null id
	bad  error             // first breach of the framing by the server
}

// WriteObject sends v as one line.
func (s *stream) WriteObject(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write(append(data, '\n'))
}

func (s *stream) write(data []byte) error {
	if s.rec {
		s.mu.Lock()
		s.sent = append(s.sent, Line{time.Now(), bytes.TrimSuffix(data, []byte("\n"))})
		s.mu.Unlock()
	}
	s.wmu.Lock()
	defer s.wmu.Unlock()
	_, err := s.out.Write(data)
	return err
}

// ReadObject reads the next line into v. Replies without an id answer no call
// of ours (a malformed line got them); they are kept aside, since jsonrpc2
// would take them for the answer to id 0.
func (s *stream) ReadObject(v any) error {
	for {
		line, err := s.in.ReadBytes('\n')
		if err == io.EOF && len(line) > 0 {
			return s.breach("last line has no newline: %.200q", line)
		}
		if err != nil {
			return err
		}
		line = line[:len(line)-1]
		if s.rec {
			s.mu.Lock()
			s.got = append(s.got, Line{time.Now(), line})
			s.mu.Unlock()
		}
		if !utf8.Valid(line) {
			return s.breach("line is not UTF-8: %.200q", line)
		}
		if !json.Valid(line) {
			return s.breach("line is not one JSON text: %.200q", line)
		}
		if bytes.ContainsAny(line, "\r") {
			return s.breach("line holds a carriage return: %.200q", line)
		}
		if isNullReply(line) {
			s.mu.Lock()
			s.null = append(s.null, line)
			s.mu.Unlock()
			continue
		}
		if line[0] == '[' { // the answer to an injected batch: no call waits for it
			continue
		}
		if err := json.Unmarshal(line, v); err != nil {
			if fractionalID.Match(line) { // an injected id that jsonrpc2 cannot hold
				continue
			}
			return s.breach("line is no JSON-RPC message: %v: %.200q", err, line)
		}
		return nil
	}
}

var fractionalID = regexp.MustCompile(`"id":-?\d+\.\d+`)

// isNullReply reports whether line is a reply whose id is null or missing.
func isNullReply(line []byte) bool {
	if len(line) > 1<<16 { // error replies to garbage are short
		return false
	}
	var m struct {
		ID     *json.RawMessage `json:"id"`
		Method *string          `json:"method"`
		Error  *json.RawMessage `json:"error"`
	}
	return json.Unmarshal(line, &m) == nil && m.ID == nil && m.Method == nil && m.Error != nil
}

func (s *stream) breach(format string, args ...any) error {
	err := fmt.Errorf("wire: server broke the framing: "+format, args...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bad == nil {
		s.bad = err
	}
	return err
}

// Close closes the server's stdin.
func (s *stream) Close() error {
	s.wmu.Lock()
	defer s.wmu.Unlock()
	return s.out.Close()
}
