//go:build unix

package harness

import (
	"swank-mcp/internal/await"
)

// Vitals lists the state that a guest must leave as it was; the person's own client reads it.
const Vitals = `(format nil "connections ~A sockets ~A threads ~{~A~^, ~}"
  (length swank::*connections*)
  (count-if (lambda (f) (let ((to (ignore-errors (sb-posix:readlink f)))) (and to (search "socket:" to))))
            (mapcar #'sb-ext:native-namestring (directory "/proc/self/fd/*" :resolve-symlinks nil)))
  (sort (mapcar #'sb-thread:thread-name
                (remove sb-thread:*current-thread* (sb-thread:list-all-threads))) #'string<))`

// Returns waits until the image is as it was, and tells how often it asked.
func (p *Person) Returns(was string) (asked int) {
	p.t.Helper()
	got := ""
	if await.Until(func() bool { asked++; got = p.Says(Vitals); return got == was }) != nil {
		p.t.Errorf("the image has\n %s\nit had\n %s", got, was)
	}
	return asked
}
