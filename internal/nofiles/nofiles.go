// Package nofiles tells that the process has as many files open as it may: each connection, each
// image and each pipe is one. Who meets that as an error asks [Is] of it, and tells [Problem] and
// [Advice].
package nofiles

import (
	"errors"
	"fmt"
)

// Is reports whether err is that no more files can be opened.
func Is(err error) bool {
	for _, out := range outOfFiles {
		if errors.Is(err, out) {
			return true
		}
	}
	return false
}

// Problem names the limit, as the end of a sentence.
func Problem() string {
	if n := limit(); n > 0 {
		return fmt.Sprintf("the server has as many files open as it may, which are %d (ulimit -n)", n)
	}
	return "the server has as many files open as it may"
}

// Advice says what to do, in whole sentences.
const Advice = "Nothing was done. There is room when clients close connections, or sessions end. " +
	"Whoever runs the server can start it with a higher limit: ulimit -n 65536, or LimitNOFILE=65536 in its unit of systemd."
