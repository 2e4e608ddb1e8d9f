package mcpbridge

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Bounds of a spool.
const (
	spoolTexts = 32       // how many texts are kept
	spoolBytes = 16 << 20 // how many bytes they have together
)

// spool keeps the newest texts that were too long to show, under the handles
// out-1, out-2, …. It outlives images, not the server.
type spool struct {
	mu    sync.Mutex
	texts []spooled // oldest first
	bytes int
	last  int
}

type spooled struct {
	handle string
	text   string
	chars  int
}

// gapPattern is what omission leaves of characters that the image did not keep.
var gapPattern = regexp.MustCompile(`(?m)^; … ([\d,]+) characters left out here: too long to keep\.`)

// gap says, for replies that searched the text, what was not there to search.
func (t spooled) gap() string {
	m := gapPattern.FindStringSubmatch(t.text)
	if m == nil {
		return ""
	}
	return " " + m[1] + " characters in its middle were not kept and not searched."
}

// add keeps text, whose length in characters is chars, and returns its handle.
// Older texts make room; of a text beyond the bounds the beginning is kept.
func (s *spool) add(text string, chars int) string {
	if len(text) > spoolBytes {
		text = strings.ToValidUTF8(text[:spoolBytes], "")
		chars = utf8.RuneCountInString(text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	handle := fmt.Sprintf("out-%d", s.last)
	s.texts = append(s.texts, spooled{handle, text, chars})
	s.bytes += len(text)
	for len(s.texts) > spoolTexts || s.bytes > spoolBytes {
		s.bytes -= len(s.texts[0].text)
		s.texts[0] = spooled{}
		s.texts = s.texts[1:]
	}
	return handle
}

// get returns the text of a handle, which may be abbreviated to its number.
func (s *spool) get(handle string) (spooled, error) {
	name := strings.ToLower(strings.TrimSpace(handle))
	if !strings.HasPrefix(name, "out-") {
		name = "out-" + name
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	live := make([]string, 0, len(s.texts))
	for _, t := range s.texts {
		if t.handle == name {
			return t, nil
		}
		live = append(live, fmt.Sprintf("%s (%s characters)", t.handle, count(t.chars)))
	}
	problem := fmt.Sprintf("There is no text under the handle %q.", clip(handle, 60))
	if len(live) == 0 {
		return spooled{}, &argError{problem, "No text is kept: none was too long so far. Handles are given by replies that were cut."}
	}
	return spooled{}, &argError{problem, fmt.Sprintf("Kept, newest last (the newest %d, %d MB in all): %s.\nNext: read-output {\"handle\": %q}",
		spoolTexts, spoolBytes>>20, strings.Join(live, ", "), s.texts[len(s.texts)-1].handle)}
}
