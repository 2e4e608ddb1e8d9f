package spool

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/render"
)

// maxGap bounds the line that stands for the rest of a text, in bytes.
const maxGap = 200

// Bounds of a spool.
const (
	MaxTexts = 32       // how many texts are kept
	MaxBytes = 16 << 20 // how many bytes they have together
)

// Spool keeps the newest texts that were too long to show, under the handles
// out-1, out-2, …. It outlives images. The zero value is ready; any goroutine may
// call the methods.
type Spool struct {
	mu    sync.Mutex
	texts []Text // oldest first
	bytes int
	last  int
}

// Text is a text of a spool.
type Text struct {
	Handle string // such as out-3
	All    string
	Chars  int   // the length of All
	Lost   int64 // characters that All only stands for: nothing keeps them
}

// NewText returns all, whose length in characters is chars, as a text to be read by handle.
func NewText(handle, all string, chars int) Text {
	lost, _ := render.Gaps(all)
	return Text{handle, all, chars, lost}
}

// Gap says, for replies that searched the text, what was not there to search.
func (t Text) Gap() string {
	if t.Lost == 0 {
		return ""
	}
	return " " + render.Count(t.Lost) + " characters of it were not kept and not searched."
}

// Add keeps text, whose length in characters is chars, and returns its handle.
// Older texts make room; of a text beyond the bounds the beginning is kept.
func (s *Spool) Add(text string, chars int) string {
	handle, _ := s.keep(text, chars)
	return handle
}

// keep does what Add does, and returns how many bytes of text can be read.
func (s *Spool) keep(text string, chars int) (handle string, kept int) {
	kept = len(text)
	if kept > MaxBytes {
		kept = MaxBytes - maxGap
		for !utf8.RuneStart(text[kept]) {
			kept--
		}
		text = text[:kept] + render.Gap(int64(utf8.RuneCountInString(text[kept:])))
		chars = utf8.RuneCountInString(text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	handle = fmt.Sprintf("out-%d", s.last)
	s.texts = append(s.texts, NewText(handle, text, chars))
	s.bytes += len(text)
	for len(s.texts) > MaxTexts || s.bytes > MaxBytes {
		s.bytes -= len(s.texts[0].All)
		s.texts[0] = Text{}
		s.texts = s.texts[1:]
	}
	return handle, kept
}

// Get returns the text of a handle, which may be abbreviated to its number. Errors:
// *args.Error.
func (s *Spool) Get(handle string) (Text, error) {
	name := strings.ToLower(strings.TrimSpace(handle))
	if !strings.HasPrefix(name, "out-") {
		name = "out-" + name
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	live := make([]string, 0, len(s.texts))
	for _, t := range s.texts {
		if t.Handle == name {
			return t, nil
		}
		live = append(live, fmt.Sprintf("%s (%s characters)", t.Handle, render.Count(t.Chars)))
	}
	problem := fmt.Sprintf("There is no text under the handle %q.", rawtext.Clip(handle, 60))
	if len(live) == 0 {
		return Text{}, &args.Error{Problem: problem, Advice: "No text is kept: none was too long so far. Handles are given by replies that were cut."}
	}
	return Text{}, &args.Error{Problem: problem, Advice: fmt.Sprintf("Kept, newest last (the newest %d, %d MB in all): %s.\nNext: read-output {\"handle\": %q}",
		MaxTexts, MaxBytes>>20, strings.Join(live, ", "), s.texts[len(s.texts)-1].Handle)}
}

// Handles returns the handles that typed begins, newest first.
func (s *Spool) Handles(typed string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, t := range slices.Backward(s.texts) {
		if strings.HasPrefix(t.Handle, strings.ToLower(typed)) {
			out = append(out, t.Handle)
		}
	}
	return out
}
