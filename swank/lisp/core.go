package lisp

import (
	"bytes"
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
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
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
	helper           [][]byte
	runBase          []string // where private directories may be made
	cacheDir         string
	swankKey, ourKey string
	cacheProblem     string // why there is no cache, one sentence; "" is usable
}

// findImageFiles resolves c. Only a missing SBCL or Swank, or the end of ctx,
// is an error.
func findImageFiles(ctx context.Context, c Config, helper [][]byte) (*imageFiles, error) {
	sbcl, err := FindSBCL(c)
	if err != nil {
		return nil, err
	}
	swank, err := FindSwank(ctx, c)
	if err != nil {
		return nil, err
	}
	f := &imageFiles{
		sbcl: sbcl.Path, swank: swank.Path, dir: c.Dir, helper: helper, runBase: runBases(),
		heapMB: cmp.Or(c.HeapMB, DefaultHeapMB), stackMB: cmp.Or(c.StackMB, DefaultStackMB),
	}
	f.cacheDir, err = openCache(c)
	// One that cannot be written may have a core that can be used.
	if keysErr := f.computeKeys(ctx); err == nil {
		err = keysErr
	}
	if err != nil {
		f.cacheProblem = fmt.Sprintf("Nothing is cached, so that each start takes seconds: %v", err)
	}
	return f, nil
}

// openCache returns the directory of our cache after it has proved writable.
func openCache(c Config) (string, error) {
	dir := c.CacheDir
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(base, "swank-mcp")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return dir, err
	}
	probe, err := os.MkdirTemp(dir, "tmp-probe-")
	if err != nil {
		return dir, err
	}
	return dir, os.Remove(probe)
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
	} else { // a wrapper, perhaps: ask
		version, err := sbclVersion(ctx, f.sbcl)
		if err != nil {
			return err
		}
		fmt.Fprintln(h, version)
	}
	sources, err := filepath.Glob(filepath.Join(globQuote(f.swank), "*.lisp"))
	if err != nil {
		return err
	}
	more, err := filepath.Glob(filepath.Join(globQuote(f.swank), "*", "*.lisp"))
	if err != nil {
		return err
	}
	for _, file := range append(sources, more...) {
		if err := hashFile(h, file); err != nil {
			return err
		}
	}
	f.swankKey = hex.EncodeToString(h.Sum(nil)[:8])
	helper := bytes.Join(f.helper, nil)
	fmt.Fprintf(h, "%d %d %d\n", len(f.helper), len(helper), len(bootSource))
	h.Write(helper)
	h.Write(bootSource)
	f.ourKey = hex.EncodeToString(h.Sum(nil)[:8])
	return nil
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
// cannot be told.
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
func (f *imageFiles) corePath() string { return filepath.Join(f.imageDir(), "image.core") }

// hasCore reports whether there is a core for these files, and marks it used.
func (f *imageFiles) hasCore() bool {
	info, err := os.Stat(f.corePath())
	if err != nil || info.Size() == 0 {
		return false
	}
	now := time.Now()
	_ = os.Chtimes(f.imageDir(), now, now)
	return true
}

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
	if err := writeOnce(par.Boot, bootSource); err != nil {
		return nil, err
	}
	if len(f.helper) > 0 {
		par.HelperFasl = filepath.Join(ours, "helper.fasl")
		if par.Helper, err = writeHelper(filepath.Join(ours, "swank-mcp-helper"), f.helper); err != nil {
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

// writeOnce writes a file that no reader sees half of. A file of the right
// size is there already, its name having the hash of its contents.
func writeOnce(name string, data []byte) error {
	if info, err := os.Stat(name); err == nil && info.Size() == int64(len(data)) {
		return nil
	}
	temporary, err := os.CreateTemp(filepath.Dir(name), "tmp-")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(data)
	if closeErr := temporary.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}

// wantsCore reports whether a core should be built for the next start.
func (p *process) wantsCore(c Config) bool {
	return !c.NoCore && !p.fromCore && p.image.cacheProblem == "" && !p.image.hasCore()
}

// buildCore builds the core that f lacks: an SBCL of its own, at low priority,
// loads what f's images are loaded from and saves itself; the result is started
// once before it gets its name in the cache. Any number of servers may build at
// once; the last one's result stays. When ctx ends, nothing is left of it.
func (f *imageFiles) buildCore(ctx context.Context) error {
	fail := func(doing string, err error) error {
		var failure *launchError
		if free, ok := freeBytes(f.cacheDir); ok && free < coreSize {
			return fmt.Errorf("building a core: %s: %w (a core needs %d MiB, the disk of %s has %d MiB left)", doing, err, coreSize>>20, f.cacheDir, free>>20)
		}
		if errors.As(err, &failure) && failure.stderr != "" {
			return fmt.Errorf("building a core: %s: %w: %s", doing, err, lastLine(failure.stderr))
		}
		return fmt.Errorf("building a core: %s: %w", doing, err)
	}
	if free, ok := freeBytes(f.cacheDir); ok && free < coreSize {
		return fail("looking for room", syscall.ENOSPC)
	}
	work, err := os.MkdirTemp(f.cacheDir, "tmp-core-")
	if err != nil {
		return fail("making a directory", err)
	}
	defer os.RemoveAll(work)
	fresh := filepath.Join(work, "image.core")
	builder, err := f.launch(ctx, launchPlan{save: fresh})
	if err != nil {
		return fail("saving it", err)
	}
	builder.close(ctx)
	check, err := f.launch(ctx, launchPlan{core: fresh})
	if err != nil {
		return fail("starting it", err)
	}
	check.close(ctx)
	if err := seal(fresh); err != nil {
		return fail("checking it", err)
	}
	if err := os.Rename(fresh, f.corePath()); err != nil {
		return fail("keeping it", err)
	}
	f.prune()
	return nil
}

// coreSize is roughly the size of a core, with room to spare.
const coreSize = 64 << 20

func lastLine(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }

// Bounds of what stays in the cache.
const (
	keepImages = 2
	keepFasls  = 2
	staleAfter = time.Hour // a temporary directory of this age has lost its maker
)

// ownedName matches the directories that we make: somebody may name a cache
// directory that has others in it.
var ownedName = regexp.MustCompile(`^(?:(image|swank)-[0-9a-f]{16}|(tmp)-(?:swank|core|probe)-[0-9]+)$`)

// prune removes what has not been used for longest, and what servers that were
// killed have left. Errors leave things for the next time.
func (f *imageFiles) prune() {
	entries, err := os.ReadDir(f.cacheDir)
	if err != nil {
		return
	}
	kinds := map[string][]fs.FileInfo{}
	for _, entry := range entries {
		kind := ownedName.FindStringSubmatch(entry.Name())
		if info, err := entry.Info(); err == nil && info.IsDir() && kind != nil {
			kinds[kind[1]+kind[2]] = append(kinds[kind[1]+kind[2]], info)
		}
	}
	remove := func(infos []fs.FileInfo) {
		for _, info := range infos {
			_ = os.RemoveAll(filepath.Join(f.cacheDir, info.Name()))
		}
	}
	newestFirst := func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) }
	for kind, keep := range map[string]int{"image": keepImages, "swank": keepFasls} {
		infos := kinds[kind]
		slices.SortFunc(infos, newestFirst)
		remove(infos[min(keep, len(infos)):])
	}
	remove(slices.DeleteFunc(kinds["tmp"], func(info fs.FileInfo) bool {
		return time.Since(info.ModTime()) < staleAfter
	}))
}
