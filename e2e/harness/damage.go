//go:build unix

package harness

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// RawWrite writes to file descriptor 1 below all Lisp streams.
func RawWrite(text string) string {
	text = strings.ReplaceAll(text, "\\n", "\n")
	return fmt.Sprintf(`(let ((b (sb-ext:string-to-octets "%s"))) (sb-sys:with-pinned-objects (b) (sb-unix:unix-write 1 b 0 (length b))) :wrote)`, text)
}

// CancelAfter starts an evaluation, and cancels it when it has run so long; it must not be
// answered.
func CancelAfter(t *testing.T, s *Server, code string, after time.Duration) {
	t.Helper()
	p := Running(t, s, code)
	time.Sleep(after)
	if n := s.Answers()[p.ID.String()]; n != 0 {
		t.Errorf("%s was answered before it was cancelled", code)
	}
	Check(t, p.Cancel("patience is over"))
}
