package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"swank-mcp/swank/lisp/host"
)

// Check is one thing that [Doctor] looked at.
type Check struct {
	Name    string // "SBCL", "Swank", "cache", "core", "init file", "start"
	Found   string // what is there; may be "" beside a Problem
	Problem string // "" is well
	Advice  string // what to do about Problem, or ""
	Fatal   bool   // with this Problem no image can be started
}

// Report is what [Doctor] found, in the order in which it looked.
type Report struct{ Checks []Check }

// OK reports whether an image can be started: no check has a fatal problem.
func (r *Report) OK() bool {
	for _, c := range r.Checks {
		if c.Problem != "" && c.Fatal {
			return false
		}
	}
	return true
}

// Doctor looks at everything that a launched image needs, then starts one and
// ends it. It writes nothing but what a start writes, that is, the cache.
func Doctor(ctx context.Context, c Config, code Code) *Report {
	r := new(Report)
	sbcl := r.sbcl(ctx, c)
	swank := r.swank(ctx, c)
	r.cache(c)
	r.initFile(c)
	if sbcl && swank {
		r.start(ctx, c, code)
	}
	return r
}

// Add adds a check.
func (r *Report) Add(c Check) { r.Checks = append(r.Checks, c) }

// AddError adds a fatal check with the parts of a [*host.StartError].
func (r *Report) AddError(name, found string, err error) {
	check := Check{Name: name, Found: found, Problem: err.Error(), Fatal: true}
	var start *host.StartError
	if errors.As(err, &start) {
		check.Problem, check.Advice = start.Problem, start.Advice
	}
	r.Add(check)
}

func (r *Report) sbcl(ctx context.Context, c Config) bool {
	found, err := FindSBCL(c)
	if err != nil {
		r.AddError("SBCL", "", err)
		return false
	}
	version, err := sbclVersion(ctx, found.Path)
	if err == nil && !strings.HasPrefix(version, "SBCL ") {
		err = fmt.Errorf("%s --version: it answers %q", found.Path, version)
	}
	if err != nil {
		r.Add(Check{
			Name: "SBCL", Found: found.Path, Fatal: true,
			Problem: err.Error(),
			Advice:  "Name the SBCL program with --sbcl.",
		})
		return false
	}
	r.Add(Check{Name: "SBCL", Found: version + ", " + found.Path})
	return true
}

func (r *Report) swank(ctx context.Context, c Config) bool {
	found, err := FindSwank(ctx, c)
	if err != nil {
		r.AddError("Swank", "", err)
		return false
	}
	r.Add(Check{Name: "Swank", Found: found.Path})
	return true
}

func (r *Report) cache(c Config) {
	dir, err := OpenCache(c.CacheDir)
	if err != nil {
		r.Add(Check{
			Name: "cache", Found: dir,
			Problem: fmt.Sprintf("cannot be written: %v; each start takes seconds", err),
			Advice:  "Make it writable, or name another directory with --cache-dir.",
		})
		return
	}
	check := Check{Name: "cache", Found: dir}
	if free, ok := freeBytes(dir); ok && free < coreSize && !c.NoCore {
		check.Problem = fmt.Sprintf("%d MiB are free, a core needs %d MiB", free>>20, coreSize>>20)
		check.Advice = "Make room, or name another directory with --cache-dir."
	}
	r.Add(check)
	cores, _ := filepath.Glob(filepath.Join(globQuote(dir), "image-*", "image.core"))
	found := "none yet: built in the background after the first start"
	switch {
	case c.NoCore:
		found = "switched off"
	case len(cores) > 0:
		var size int64
		for _, core := range cores {
			if info, err := os.Stat(core); err == nil {
				size += info.Size()
			}
		}
		found = fmt.Sprintf("%d, %d MiB", len(cores), size>>20)
	}
	r.Add(Check{Name: "core", Found: found})
}

func (r *Report) initFile(c Config) {
	home, err := os.UserHomeDir()
	file := filepath.Join(home, ".sbclrc")
	switch {
	case c.NoUserInit:
		r.Add(Check{Name: "init file", Found: "switched off"})
		return
	case err != nil:
		r.Add(Check{Name: "init file", Problem: err.Error()})
		return
	}
	if f, err := os.Open(file); errors.Is(err, os.ErrNotExist) {
		r.Add(Check{Name: "init file", Found: "no " + file})
	} else if err != nil {
		r.Add(Check{Name: "init file", Found: file, Problem: err.Error(), Advice: "Make it readable."})
	} else {
		_ = f.Close()
		r.Add(Check{Name: "init file", Found: file})
	}
}

// start starts an image as a server would, and says what it had to work around.
func (r *Report) start(ctx context.Context, c Config, code Code) {
	begin := time.Now()
	p, err := Start(ctx, c, code)
	took := time.Since(begin).Round(time.Millisecond)
	if err != nil {
		r.AddError("start", "", err)
		if last := &r.Checks[len(r.Checks)-1]; last.Advice == askDoctor {
			last.Advice = ""
		}
		return
	}
	defer p.Close(context.WithoutCancel(ctx))
	from := "from source and fasls"
	if p.fromCore {
		from = "from the core"
	}
	check := Check{
		Name: "start",
		Found: fmt.Sprintf("%s with Swank %s in %v %s, serving on %s:%s",
			p.status.Implementation, p.status.Swank, took, from, p.status.Network, p.status.Address),
		Problem: strings.Join(p.notes, "\n"),
	}
	if p.status.HelperWarnings != "" {
		check.Problem = strings.TrimPrefix(check.Problem+"\n"+p.status.HelperWarnings, "\n")
	}
	r.Add(check)
}
