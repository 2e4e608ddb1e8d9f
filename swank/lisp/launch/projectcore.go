package launch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Need is a system that a project needs and that is not its own.
type Need struct {
	_     struct{} `sexp:",list" json:"-"`
	Name  string
	File  string   // the definition, an absolute path; "" if there is none
	Files []string // what the system is made of, the definition too; absolute paths
}

// A core of a project has Swank, the helper and the systems that the project needs. It
// lies in a directory of the cache that is named by a hash of all that. Beside it are
// what it was made of, and empty files that are named by a hash of the uses that it has.

// neededName is the file that says what a project's core was made of.
const neededName = "needed.json"

// needed is a file that went into a project's core, as it was then.
type needed struct {
	File  string
	Size  int64
	Nanos int64 // its time of modification
}

// mark is the name of the empty file for use.
func (f *imageFiles) mark(use string) string {
	sum := sha256.Sum256([]byte(f.ourKey + use))
	return "for-" + hex.EncodeToString(sum[:8])
}

// ProjectCore returns the core in the cache that was built for use, for [Config], or ""
// if there is none. It removes one that was made of files of which one has changed since.
func ProjectCore(ctx context.Context, c Config, code Code, use string) string {
	if c.NoCore || c.Sandbox != nil || !canLaunch {
		return ""
	}
	f, err := findImageFiles(ctx, c, code)
	if err != nil || f.cacheProblem != "" {
		return ""
	}
	return f.projectCore(use)
}

func (f *imageFiles) projectCore(use string) string {
	uses, err := filepath.Glob(filepath.Join(globQuote(f.cacheDir), "project-*", f.mark(use)))
	if err != nil {
		return ""
	}
	found := ""
	for _, mark := range uses {
		dir := filepath.Dir(mark)
		core := filepath.Join(dir, coreName)
		if info, err := os.Stat(core); err != nil || info.Size() == 0 || !asNeeded(dir) {
			_ = os.RemoveAll(dir)
			continue
		}
		now := time.Now()
		_ = os.Chtimes(dir, now, now)
		found = core
	}
	return found
}

// asNeeded reports whether the files that went into the core of a directory are as they were.
func asNeeded(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, neededName))
	var files []needed
	if err != nil || json.Unmarshal(text, &files) != nil {
		return false
	}
	for _, was := range files {
		if is, err := look(was.File); err != nil || is != was {
			return false
		}
	}
	return true
}

func look(file string) (needed, error) {
	info, err := os.Stat(file)
	if err != nil {
		return needed{}, err
	}
	return needed{file, info.Size(), info.ModTime().UnixNano()}, nil
}

// ErrChanging is about needs whose files are being changed: a session has yet to compile them.
var ErrChanging = errors.New("a file of what the project needs is changing")

// changedSince is how the builder says that it has found such a file.
const changedSince = "has changed since it was compiled"

// BuildProjectCore builds a core for use that has needs, dependencies first, beside what
// p was started with, unless there is one. It is built as by [Process.BuildCore]; p may
// have ended. It fails with [ErrChanging] for files that have changed since they were compiled.
func (p *Process) BuildProjectCore(ctx context.Context, use string, needs []Need) error {
	f := p.image
	if f.noCore || f.sandbox != nil || f.cacheProblem != "" || len(needs) == 0 {
		return nil
	}
	var files []needed
	for _, n := range needs {
		for _, file := range n.Files {
			is, err := look(file)
			if err != nil {
				return fmt.Errorf("%w: %w", ErrChanging, err)
			}
			files = append(files, is)
		}
	}
	manifest, err := json.Marshal(files)
	if err != nil {
		return err
	}
	h := sha256.New()
	fmt.Fprintln(h, f.ourKey, systemsText(needs))
	h.Write(manifest)
	dir := filepath.Join(f.cacheDir, "project-"+hex.EncodeToString(h.Sum(nil)[:8]))
	if isTaken(dir) {
		return f.markCore(use, dir)
	}
	err = f.buildCore(ctx, needs, func(work string) error {
		if err := os.WriteFile(filepath.Join(work, neededName), manifest, 0o600); err != nil {
			return err
		}
		if !isTaken(dir) {
			_ = os.RemoveAll(dir) // one without a core would stand in the way
		}
		if err := os.Rename(work, dir); err != nil && !isTaken(dir) {
			return err
		}
		return f.markCore(use, dir)
	})
	if err != nil && strings.Contains(err.Error(), changedSince) {
		err = fmt.Errorf("%w: %w", ErrChanging, err)
	}
	return err
}

// isTaken reports whether there is a core in dir, perhaps another server's.
func isTaken(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, coreName))
	return err == nil
}

// markCore marks the core in dir, and no other, as the one for use.
func (f *imageFiles) markCore(use, dir string) error {
	others, _ := filepath.Glob(filepath.Join(globQuote(f.cacheDir), "project-*", f.mark(use)))
	for _, other := range others {
		_ = os.Remove(other)
	}
	return os.WriteFile(filepath.Join(dir, f.mark(use)), nil, 0o600)
}

// systemsText is what boot.lisp reads: ((NAME DEFINITION) ...).
func systemsText(needs []Need) string {
	var b bytes.Buffer
	b.WriteByte('(')
	for _, n := range needs {
		fmt.Fprintf(&b, "(%s %s)\n", lispString(n.Name), lispString(n.File))
	}
	b.WriteByte(')')
	return strings.TrimSpace(b.String())
}
