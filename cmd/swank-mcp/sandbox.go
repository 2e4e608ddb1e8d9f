package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"swank-mcp/people/control"
	"swank-mcp/sandbox"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/launch"
)

// sandboxFlags are what the flags say about the sandbox of a launched image.
type sandboxFlags struct {
	mode  sandbox.Mode
	ports []int
	reads []string // files and directories
}

// sandbox returns the sandbox that the flags ask for, nil for none. Writes returns the
// directories in which the image may write, absolute, beside its own and session, which the
// server has made, "" for none. What the sandbox cannot do is told to log, which may be nil,
// before an image starts.
func (c *command) sandbox(writes func() []string, session string, log *slog.Logger) (*sandbox.Sandbox, error) {
	if c.sandboxed.mode == sandbox.Off || c.attaching() != "" {
		return nil, nil
	}
	o := sandbox.Options{Mode: c.sandboxed.mode, Ports: c.sandboxed.ports, HeapMB: c.lisp.Launch.HeapMB, MemoryMB: c.limits.memoryMB, FileMB: c.limits.diskMB}
	for _, path := range c.sandboxed.reads {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		o.Reads = append(o.Reads, abs)
	}
	o.Writes, o.Session, o.Apart = writes, session, c.apart()
	if c.http.place.Address != "" {
		state := c.httpState()
		for _, path := range []string{c.tokensFile(state), c.http.place.Key, filepath.Join(state, "sessions"), slotsDir(state)} { // others' too
			if path == "" {
				continue
			}
			abs, err := filepath.Abs(path)
			if err != nil {
				return nil, err
			}
			o.Secret = append(o.Secret, abs)
		}
	}
	if log != nil {
		o.Tell = func(missing string) { log.Warn("the sandbox is not whole: " + missing) }
	}
	return sandbox.New(o), nil
}

// apart returns what code of a session must not write, as the server believes it, or other
// servers of the user do.
func (c *command) apart() (all []sandbox.Apart) {
	state := stateDir()
	for _, dir := range control.EveryDir(state) {
		all = append(all, sandbox.Apart{What: "the sockets of servers", Path: dir})
	}
	for _, prefix := range launch.ImageDirs() {
		all = append(all, sandbox.Apart{What: "the directories of images, with their sockets", Path: prefix, Prefix: true})
	}
	if state != "" {
		all = append(all, sandbox.Apart{What: "the server's state, with keys and what is kept of sessions", Path: state})
	}
	if cache, err := launch.CacheDir(c.lisp.Launch.CacheDir); err == nil {
		all = append(all, sandbox.Apart{What: "the cache, from which images start", Path: cache, Readable: true})
	}
	if c.http.place.Address == "" {
		return all
	}
	if state := c.httpState(); state != "" {
		all = append(all, sandbox.Apart{What: "the sessions of the server", Path: state})
	}
	if path, ok := strings.CutPrefix(c.http.place.Address, "unix:"); ok {
		if abs, err := filepath.Abs(path); err == nil {
			all = append(all, sandbox.Apart{What: "the socket of the server", Path: abs})
		}
	}
	return all
}

// confine puts the images of cfg into the sandbox, where they may write in dir, too, "" for
// none. It returns a function for the image that comes of cfg, and the sandbox, nil for none.
func (c *command) confine(cfg *lisp.Config, dir string, log *slog.Logger) (of func(*lisp.Image), s *sandbox.Sandbox, err error) {
	var im *lisp.Image // is there before any image starts
	if dir != "" {
		if dir, err = filepath.Abs(dir); err != nil {
			return nil, nil, err
		}
	}
	made := dir
	if c.http.place.Address == "" {
		made = "" // the user has named it
	}
	s, err = c.sandbox(func() []string {
		dirs := im.WorksIn()
		if dir != made {
			dirs = append(slices.Clone(dirs), dir)
		}
		return dirs
	}, made, log)
	if err != nil || s == nil {
		return func(*lisp.Image) {}, nil, err
	}
	cfg.Launch.Sandbox = s.Launch()
	cfg.Trees.Confine(s.MayRead)
	if l := c.limits.String(); l != "" {
		says := cfg.Launch.Sandbox.Says
		cfg.Launch.Sandbox.Says = func(ctx context.Context) string { return says(ctx) + "; no more than " + l }
	}
	return func(i *lisp.Image) { im = i }, s, nil
}

// strict returns an error if the sandbox s, or nil, has to be whole and is not. It waits for
// the system until ctx ends.
func (c *command) strict(ctx context.Context, s *sandbox.Sandbox) error {
	if s == nil || c.sandboxed.mode != sandbox.Strict {
		return nil
	}
	_, err := s.Ask(ctx)
	return err
}

// addSandbox adds to r what doctor says of the sandbox s.
func addSandbox(ctx context.Context, r *launch.Report, s *sandbox.Sandbox) {
	answer, err := s.Ask(ctx)
	if err != nil {
		r.AddError("sandbox", "", err)
		return
	}
	check := launch.Check{Name: "sandbox", Found: "by " + answer.By()}
	switch {
	case len(answer.Missing()) > 0:
		check.Problem, check.Advice = strings.Join(answer.Missing(), "\n"), answer.Limits()
	case answer.Limits() != "":
		check.Found += "\n" + answer.Limits()
	}
	r.Add(check)
}

// modeFlag is off, on or strict.
type modeFlag sandbox.Mode

func (m *modeFlag) String() string { return string(*m) }

func (m *modeFlag) Set(v string) error {
	switch mode := sandbox.Mode(v); mode {
	case sandbox.Off, sandbox.On, sandbox.Strict:
		*m = modeFlag(mode)
		return nil
	}
	return errors.New("not off, on or strict")
}

// portsFlag are numbers of ports with commas between them.
type portsFlag []int

func (p *portsFlag) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*p), " ", ","), "[]")
}

func (p *portsFlag) Set(v string) error {
	var names listFlag
	_ = names.Set(v)
	*p = nil
	for _, name := range names {
		n, err := strconv.Atoi(name)
		if err != nil || n < 1 || n > 65535 {
			return fmt.Errorf("%q is not the number of a TCP port, as in 443,5432", name)
		}
		*p = append(*p, n)
	}
	return nil
}

// pathsFlag are paths with the separator of PATH between them.
type pathsFlag []string

func (p *pathsFlag) String() string { return strings.Join(*p, string(filepath.ListSeparator)) }

func (p *pathsFlag) Set(v string) error {
	*p = filepath.SplitList(v)
	return nil
}
