package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"swank-mcp/e2e/wire"
)

// suiteLimit bounds one suite in one Lisp.
const suiteLimit = 30 * time.Minute

// lab is where the Lisps work and what they are started with.
type lab struct {
	binary, dir string
	seed        uint64        // what is edited
	limit       time.Duration // bounds what is done with a library, and each edit
}

// env is the same for both Lisps but for the fasls, which are each Lisp's own, and
// the place of temporary files: both run at the same time.
func (l lab) env(lisp, dir string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(l.dir, "home"), "LANG=C.UTF-8",
		"XDG_CACHE_HOME=" + filepath.Join(l.dir, "cache", lisp), "TMPDIR=" + filepath.Join(dir, "tmp")}, l.registry())
}

// work makes a directory for a suite, empty but for one for temporary files.
func (l lab) work(name string) (string, error) {
	dir := filepath.Join(l.dir, "work", name)
	return dir, errors.Join(os.RemoveAll(dir), os.MkdirAll(filepath.Join(dir, "tmp"), 0o755), os.MkdirAll(filepath.Join(l.dir, "home"), 0o755))
}

// both calls one for each Lisp, at the same time.
func both(plain, session func() (answer, error)) (p, s answer, err error) {
	done := make(chan error)
	go func() {
		var err error
		p, err = plain()
		done <- err
	}()
	s, err = session()
	return p, s, errors.Join(<-done, err)
}

// plain evaluates forms in a plain sbcl that works in dir, one after the other, and
// returns its standard output.
func (l lab) plain(dir string, forms []string) (string, error) {
	return l.plainFor(suiteLimit, dir, forms)
}

// plainFor is plain with a limit. At its end the error is context.DeadlineExceeded.
func (l lab) plainFor(limit time.Duration, dir string, forms []string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), limit)
	defer stop()
	args := []string{"--noinform", "--no-sysinit", "--no-userinit"}
	for _, form := range forms {
		args = append(args, "--eval", form)
	}
	cmd := exec.CommandContext(ctx, "sbcl", append(args, "--eval", "(sb-ext:exit)")...)
	cmd.Dir, cmd.Env = dir, l.env("plain", dir)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		err = ctx.Err() // an error that nobody handles is an outcome, too
	}
	return string(out), err
}

// session makes one tool call in a session of its own, whose image works in dir, and
// returns the reply.
func (l lab) session(dir, tool string, args map[string]any) (wire.Result, error) {
	limit := int(suiteLimit.Seconds())
	c, err := wire.Start(wire.Options{Env: l.env("session", dir), Dir: dir, NoRecord: true}, l.binary, "--no-userinit",
		"--toolsets", "all", "--max-output", "100000000", "--max-timeout", strconv.Itoa(limit))
	if err != nil {
		return wire.Result{}, err
	}
	defer c.Close(10 * time.Second)
	ctx, stop := context.WithTimeout(context.Background(), suiteLimit+time.Minute)
	defer stop()
	if _, err := c.Open(ctx); err != nil {
		return wire.Result{}, fmt.Errorf("%w\n%s", err, c.Said())
	}
	args["timeout"] = limit
	r, err := c.Tool(ctx, tool, args)
	if err != nil {
		return r, fmt.Errorf("%w\n%s", err, c.Said())
	}
	return r, nil
}

// evaluate evaluates forms in a session.
func (l lab) evaluate(dir string, forms []string) (string, error) {
	r, err := l.session(dir, "evaluate-lisp", map[string]any{"code": strings.Join(forms, "\n")})
	return r.Text(), err
}
