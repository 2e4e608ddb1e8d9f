package lisp

import "swank-mcp/internal/nofiles"

// withoutFiles returns err, with which an image could not be started, or what there is to say
// where the reason is that no more files can be opened.
func withoutFiles(err error) error {
	if !nofiles.Is(err) {
		return err
	}
	return &StartError{Problem: "no Lisp image is started, because " + nofiles.Problem(), Advice: nofiles.Advice, Told: err}
}
