package launch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// cacheFormat is part of every key: a change of what is kept in the cache, or
// how it is made, needs a new one.
const cacheFormat = "swank-mcp 1"

// imageFiles is what an image is made of, and where what is made of it is
// kept: the fasls of Swank in one directory of the cache, the compiled helper
// and the core in another, each named by a hash of all that went into it.
type imageFiles struct {
	sbcl, swank      string
	dir              string // working directory of the image
	heapMB, stackMB  int
	noCore           bool
	sandbox          *Sandbox // nil: none
	yields, awaited  bool
	code             Code
	runBase          []string // where private directories may be made
	cacheDir         string
	swankKey, ourKey string
	cacheProblem     string // why there is no cache, one sentence; "" is usable
}

// findImageFiles resolves c. Only a missing SBCL or Swank, or the end of ctx,
// is an error.
func findImageFiles(ctx context.Context, c Config, code Code) (*imageFiles, error) {
	sbcl, err := FindSBCL(c)
	if err != nil {
		return nil, err
	}
	if err := c.Sandbox.keepOutside("SBCL", sbcl.Path, "--sbcl"); err != nil {
		return nil, err
	}
	swank, err := FindSwank(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := c.Sandbox.keepOutside("Swank", swank.Path, "--swank-dir"); err != nil {
		return nil, err
	}
	f := &imageFiles{
		sbcl: sbcl.Path, swank: swank.Path, dir: c.Dir, noCore: c.NoCore, sandbox: c.Sandbox, yields: c.Yields, awaited: c.Awaited, code: code, runBase: runBases(),
		heapMB: cmp.Or(c.HeapMB, DefaultHeapMB), stackMB: cmp.Or(c.StackMB, DefaultStackMB),
	}
	f.cacheDir, err = OpenCache(c.CacheDir)
	if err := c.Sandbox.keepOutside("the cache", f.cacheDir, "--cache-dir"); err != nil {
		return nil, err
	}
	// One that cannot be written may have a core that can be used.
	if keysErr := f.computeKeys(ctx); err == nil {
		err = keysErr
	}
	if err != nil {
		f.cacheProblem = fmt.Sprintf("Nothing is cached, so that each start takes seconds: %v", err)
	}
	return f, nil
}

// computeKeys hashes names, sizes and times of files, not their contents:
// it is part of every start.
func (f *imageFiles) computeKeys(ctx context.Context) error {
	h := sha256.New()
	fmt.Fprintln(h, cacheFormat)
	if err := hashFile(h, f.sbcl); err != nil {
		return err
	}
	if core := sbclCore(f.sbcl); core != "" {
		if err := hashFile(h, core); err != nil {
			return err
		}
	} else { // it may be a wrapper: ask it
		version, err := sbclVersion(ctx, f.sbcl)
		if err != nil {
			return err
		}
		fmt.Fprintln(h, version)
	}
	sources, err := swankSources(f.swank)
	if err != nil {
		return err
	}
	for _, file := range sources {
		if err := hashFile(h, file); err != nil {
			return err
		}
	}
	f.swankKey = hex.EncodeToString(h.Sum(nil)[:8])
	if f.code.Sum == nil {
		f.code.Sum = f.code.Checksum()
	}
	h.Write(f.code.Sum)
	f.ourKey = hex.EncodeToString(h.Sum(nil)[:8])
	return nil
}

// swankSources returns the source files in Swank's directory.
func swankSources(dir string) ([]string, error) {
	sources, err := filepath.Glob(filepath.Join(globQuote(dir), "*.lisp"))
	if err != nil {
		return nil, err
	}
	more, err := filepath.Glob(filepath.Join(globQuote(dir), "*", "*.lisp"))
	return append(sources, more...), err
}

func hashFile(h hash.Hash, name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	fmt.Fprintf(h, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
	return nil
}

func globQuote(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// sbclCore returns the core that program loads by default, or "" when that
// is not known.
func sbclCore(program string) string {
	if core := os.Getenv("SBCL_CORE"); core != "" {
		return core
	}
	var dirs []string
	if home := os.Getenv("SBCL_HOME"); home != "" {
		dirs = append(dirs, home)
	}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	prefix := filepath.Dir(filepath.Dir(program))
	dirs = append(dirs, filepath.Join(prefix, "lib", "sbcl"), "/usr/local/lib/sbcl", "/usr/lib/sbcl")
	for _, dir := range dirs {
		core := filepath.Join(dir, "sbcl.core")
		if _, err := os.Stat(core); err == nil {
			return core
		}
	}
	return ""
}

func (f *imageFiles) faslDir() string  { return filepath.Join(f.cacheDir, "swank-"+f.swankKey) }
func (f *imageFiles) imageDir() string { return filepath.Join(f.cacheDir, "image-"+f.ourKey) }
func (f *imageFiles) corePath() string { return filepath.Join(f.imageDir(), coreName) }

// coreName is the name of a core in its directory.
const coreName = "image.core"

// forget removes what may be broken of what was cached.
func (f *imageFiles) forget() {
	if f.cacheProblem == "" {
		_ = os.RemoveAll(f.faslDir())
		_ = os.RemoveAll(f.imageDir())
	}
}

// materialise puts the Lisp sources where an image can load them, in the cache
// or below scratch, and completes par. The function that it returns is called
// with true when the image has loaded them: fasls of Swank appear in the cache
// all at once, so that no other server loads half of them. Its error is a note.
func (f *imageFiles) materialise(par *parameters, scratch string) (finish func(loaded bool) error, err error) {
	ours, fasls := f.imageDir(), f.faslDir()
	if scratch != "" {
		ours, fasls = scratch, filepath.Join(scratch, "fasl")
	}
	if err := os.MkdirAll(ours, 0o700); err != nil {
		return nil, err
	}
	par.SwankDir, par.FaslDir = f.swank, fasls
	par.Boot, par.BootFasl = filepath.Join(ours, "boot.lisp"), filepath.Join(ours, "boot.fasl")
	if err := writeOnce(par.Boot, f.code.Boot); err != nil {
		return nil, err
	}
	if len(f.code.Helper) > 0 {
		par.HelperFasl = filepath.Join(ours, "helper.fasl")
		if par.Helper, err = WriteParts(filepath.Join(ours, "swank-mcp-helper"), f.code.Helper); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(fasls); scratch != "" || err == nil {
		return func(bool) error { return nil }, nil
	}
	if par.FaslDir, err = os.MkdirTemp(f.cacheDir, "tmp-swank-"); err != nil {
		return nil, err
	}
	temporary := par.FaslDir
	return func(loaded bool) error {
		defer os.RemoveAll(temporary)
		if !loaded {
			return nil
		}
		if err := os.Rename(temporary, fasls); err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, syscall.ENOTEMPTY) {
			return fmt.Errorf("keeping Swank's fasls in the cache: %w", err)
		}
		return nil
	}, nil
}

// leavesProcessors reports whether a process of f has a low priority. One that saves a core has,
// unless the core is awaited; and so has every one if the server comes first.
func (f *imageFiles) leavesProcessors(saves bool) bool { return saves && !f.awaited || f.yields }
