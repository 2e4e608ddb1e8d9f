//go:build unix

package harness

import (
	"fmt"
	"strings"
	"testing"
)

// RawWrite writes to file descriptor 1 below all Lisp streams.
func RawWrite(text string) string {
	text = strings.ReplaceAll(text, "\\n", "\n")
	return fmt.Sprintf(`(let ((b (sb-ext:string-to-octets "%s"))) (sb-sys:with-pinned-objects (b) (sb-unix:unix-write 1 b 0 (length b))) :wrote)`, text)
}

// Cancelled starts an evaluation, as [Running], and cancels it; it must not be answered before.
func Cancelled(t *testing.T, s *Server, code string) {
	t.Helper()
	p := Running(t, s, code)
	if n := s.Answers()[p.ID.String()]; n != 0 {
		t.Errorf("%s was answered before it was cancelled", code)
	}
	Check(t, p.Cancel("patience is over"))
}
