package main

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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
// directories of the project.
func (c *command) sandbox(writes func() []string) (*sandbox.Sandbox, error) {
	if c.sandboxed.mode == sandbox.Off || c.attaching() != "" {
		return nil, nil
	}
	o := sandbox.Options{Mode: c.sandboxed.mode, Ports: c.sandboxed.ports}
	for _, path := range c.sandboxed.reads {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		o.Reads = append(o.Reads, abs)
	}
	sessions := ""
	if c.sessionDir != "" {
		var err error
		if sessions, err = filepath.Abs(c.sessionDir); err != nil {
			return nil, err
		}
	}
	o.Writes = func() []string {
		dirs := slices.Clone(writes())
		if sessions != "" {
			dirs = append(dirs, sessions)
		}
		return dirs
	}
	return sandbox.New(o)
}

// confine puts the images of cfg into the sandbox, and logs what it cannot do. It returns a
// function for the image that comes of cfg.
func (c *command) confine(cfg *lisp.Config, log *slog.Logger) (of func(*lisp.Image), err error) {
	var im *lisp.Image // is there before any image starts
	s, err := c.sandbox(func() []string { return im.WorksIn() })
	if err != nil || s == nil {
		return func(*lisp.Image) {}, err
	}
	for _, missing := range s.Missing() {
		log.Warn("the sandbox is not whole: " + missing)
	}
	cfg.Launch.Sandbox = s.Launch()
	return func(i *lisp.Image) { im = i }, nil
}

// sandboxCheck is what doctor says of the sandbox.
func sandboxCheck(s *sandbox.Sandbox) launch.Check {
	return launch.Check{Name: "sandbox", Found: "by " + s.By(), Problem: strings.Join(s.Missing(), "\n")}
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
