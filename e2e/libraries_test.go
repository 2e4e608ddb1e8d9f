package e2e

import (
	"fmt"
	"os/exec"
	"sync"
)

// warmLibraries compiles those of Debian's libraries that projects of tests use into the
// cache that all have, once, and before one of them does: a reply tells what was compiled.
// A project that is given [ourFasls] has only its own files elsewhere.
var warmLibraries = sync.OnceValue(func() error {
	cmd := exec.Command(*attachedSBCL, "--noinform", "--no-sysinit", "--no-userinit", "--non-interactive",
		"--eval", "(require :asdf)",
		"--eval", `(dolist (name '("alexandria" "cl-ppcre" "fiveam" "split-sequence")) (asdf:load-system name))`)
	cmd.Env = environ(run.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compiling libraries: %w\n%s", err, tail(string(out), 3000))
	}
	return nil
})

// ourFasls has what is compiled of the directory dir below fasls, and the rest where it is
// by default.
func ourFasls(dir, fasls string) string {
	return "ASDF_OUTPUT_TRANSLATIONS=" + dir + "/:" + fasls + "/:"
}
