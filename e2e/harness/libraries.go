//go:build unix

package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// libraryFasls has when [WarmLibraries] wrote each fasl, by path.
var libraryFasls map[string]time.Time

// WarmLibraries compiles those of Debian's libraries that projects of tests use into the
// cache that all have, once, and before one of them does: a reply tells what was compiled.
// A project that is given [OurFasls] has only its own files elsewhere.
var WarmLibraries = sync.OnceValue(func() error {
	if err := compileLibraries(); err != nil {
		return err
	}
	libraryFasls = writtenFasls()
	if len(libraryFasls) == 0 {
		return errors.New("no compiled libraries below " + Run.Cache)
	}
	return nil
})

var compileLibraries = made("libraries", func() error {
	cmd := exec.Command(*AttachedSBCL, "--noinform", "--no-sysinit", "--no-userinit", "--non-interactive",
		"--eval", "(require :asdf)",
		"--eval", `(dolist (name '("alexandria" "cl-ppcre" "fiveam" "split-sequence")) (asdf:load-system name))`)
	cmd.Env = Environ(Run.Dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compiling libraries: %w\n%s", err, Tail(string(out), 3000))
	}
	return nil
})

// writtenFasls tells when the fasls of Debian's libraries in the cache that all have were written.
func writtenFasls() map[string]time.Time {
	written := map[string]time.Time{}
	_ = filepath.WalkDir(filepath.Join(Run.Cache, "common-lisp"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".fasl" || !strings.Contains(path, "/usr/share/common-lisp/source/") {
			return nil
		}
		if info, err := d.Info(); err == nil {
			written[path] = info.ModTime()
		}
		return nil
	})
	return written
}

// compiledAnew returns the fasls that were written again since [WarmLibraries]. ASDF does
// that for a project with a copy of what a library depends on. All images that have the
// library then load it again, and what depends on it, in the middle of their tests. Such
// a project needs a directory of its own for all fasls.
func compiledAnew() (files []string) {
	now := writtenFasls()
	for file, at := range libraryFasls {
		if !now[file].Equal(at) {
			files = append(files, file)
		}
	}
	return files
}

// OurFasls has what is compiled of the directory dir below fasls, and the rest where it is
// by default.
func OurFasls(dir, fasls string) string {
	return "ASDF_OUTPUT_TRANSLATIONS=" + dir + "/:" + fasls + "/:"
}
