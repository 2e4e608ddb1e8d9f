//go:build unix

package harness

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// keptUnused limits how long the cache keeps files that no run uses.
const keptUnused = 7 * 24 * time.Hour

// root returns the directory of the module, whichever of its packages is tested.
var root = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	for ; err == nil && filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir
		}
	}
	panic(fmt.Sprintf("no go.mod above the working directory: %v", err))
})

// InTree returns the path of a file of the module, by its path from the module's directory.
func InTree(path ...string) string { return filepath.Join(root(), filepath.Join(path...)) }

// Testdata returns the path of a file of e2e/testdata.
func Testdata(path ...string) string { return InTree("e2e", "testdata", filepath.Join(path...)) }

// madeOf returns a digest of what decides how the cache is filled: the SBCL, the Swank and the
// tree's helper.
var madeOf = sync.OnceValues(func() (string, error) {
	sum := sha256.New()
	version, err := exec.Command(*AttachedSBCL, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w; scripts/install-deps --test installs it", *AttachedSBCL, err)
	}
	fmt.Fprintf(sum, "%s\n", version)
	for _, dir := range []string{InTree("swank", "lisp", "helper"), *AttachedSwank} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".lisp" && filepath.Ext(path) != ".asd" {
				return err
			}
			text, err := os.ReadFile(path)
			fmt.Fprintf(sum, "%s %d\n%s", path[len(dir):], len(text), text)
			return err
		})
		if err != nil && dir != *AttachedSwank { // tests that need Swank say what is missing
			return "", err
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8]), nil
})

// locked does what f does while no other run on the cache does it under the same name.
func locked(name string, f func() error) error {
	lock, err := os.Create(filepath.Join(Run.Cache, name+".lock"))
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("%s: %w", lock.Name(), err)
	}
	return f()
}

// made returns a function that has f fill the cache, unless a run has done so: several packages
// are tested at once, and one of them does it. A mark of its name and the [madeOf] says so.
func made(name string, f func() error) func() error {
	return sync.OnceValue(func() error {
		of, err := madeOf()
		if err != nil {
			return err
		}
		mark := filepath.Join(Run.Cache, name+"-"+of+".made")
		return locked(name, func() error {
			if used(mark) {
				return nil
			}
			if err := f(); err != nil {
				return err
			}
			return os.WriteFile(mark, nil, 0o600)
		})
	})
}

// used reports whether the cache has the file, and notes that it is used.
func used(file string) bool {
	now := time.Now()
	return os.Chtimes(file, now, now) == nil
}

// build returns the path, in dir, of the binary under test. The cache keeps it, so that only a
// change of the product has it linked again.
func build(dir string) (string, error) {
	name := "swank-mcp"
	var args []string
	if *raceFlag {
		name, args = name+"-race", append(args, "-race")
	}
	tree := sha256.Sum256([]byte(root()))
	kept := filepath.Join(Run.Cache, fmt.Sprintf("bin-%x", tree[:4]), name)
	binary := filepath.Join(dir, "swank-mcp")
	return binary, locked("build", func() error {
		out, err := GoBuild(append(args, "-o", kept, "swank-mcp/cmd/swank-mcp")...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("building the binary under test: %w\n%s", err, out)
		}
		used(filepath.Dir(kept))
		if os.Link(kept, binary) == nil { // whoever builds again replaces the file, and does not write into it
			return nil
		}
		text, err := os.ReadFile(kept) // it is on another file system
		if err != nil {
			return err
		}
		return os.WriteFile(binary, text, 0o755)
	})
}

// GoBuild returns the command "go build" with the arguments. It builds without cgo, as a release is
// built; with the argument -race, it builds with cgo, which the race detector needs.
func GoBuild(args ...string) *exec.Cmd {
	cmd := exec.Command("go", append([]string{"build"}, args...)...)
	cgo := "CGO_ENABLED=0"
	if slices.Contains(args, "-race") {
		cgo = "CGO_ENABLED=1"
	}
	cmd.Env = append(os.Environ(), cgo)
	return cmd
}

// Cores counts the finished cores under dir that were written or used since then: a server that
// starts an image from one notes it with the directory of that core.
func Cores(dir string, since time.Time) int {
	n := 0
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
		case d.IsDir() && strings.HasPrefix(d.Name(), "tmp-"):
			return filepath.SkipDir // one that is being saved
		case filepath.Ext(path) == ".core":
			if info, err := os.Stat(filepath.Dir(path)); err == nil && !info.ModTime().Before(since) {
				n++
			}
		}
		return nil
	})
	return n
}

// dropGone removes from the cache what was compiled of sources that are gone, those of tests, and
// what no run has used for [keptUnused].
func dropGone() {
	for _, tmp := range []string{os.TempDir(), Run.Dir} {
		found, _ := filepath.Glob(filepath.Join(Run.Cache, "common-lisp", "*", tmp, "*"))
		for _, fasls := range found {
			if _, err := os.Stat(filepath.Join(tmp, filepath.Base(fasls))); errors.Is(err, fs.ErrNotExist) {
				_ = os.RemoveAll(fasls)
			}
		}
	}
	for _, pattern := range []string{"*.made", "swank-*.core", "bin-*", "swank-mcp/sandbox/*"} {
		found, _ := filepath.Glob(filepath.Join(Run.Cache, pattern))
		for _, file := range found {
			if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) > keptUnused {
				_ = os.RemoveAll(file)
			}
		}
	}
}
