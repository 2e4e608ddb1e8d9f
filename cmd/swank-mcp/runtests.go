package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/attach"
)

// errNotRun ends with status 2 after everything has been said.
var errNotRun = errors.New("the tests could not be run")

// test runs the tests of one system, or of the project's system that has them, in an image
// that is started for them and has only what the files say. It prints what run-tests would
// answer, and a line with the result.
func (c *command) test(ctx context.Context) error {
	if len(c.args) > 1 {
		return fmt.Errorf("%w: test takes one system, not %s", errUsage, strings.Join(c.args, " "))
	}
	c.lisp.Attach = attach.Target{} // what is attached to is somebody's image
	c.lisp.Launch.Awaited = true    // the core, below
	im, _, closeImage, err := c.image(ctx)
	if err != nil {
		return err
	}
	defer closeImage()
	system, err := c.testSystem(ctx, im)
	if err != nil {
		fmt.Fprintf(c.stderr, "swank-mcp: %v\nName one: swank-mcp test SYSTEM\n", err)
		return errNotRun
	}
	in := lisp.Request{Timeout: c.maxTimeout, Debug: 1}
	f, err := im.Session(c.session).Fresh(ctx, system, true, "", in)
	if err != nil {
		fmt.Fprintln(c.stderr, tools.ErrorText(err))
		return errNotRun
	}
	fmt.Fprintln(c.stdout, tools.TestsText(system, f, in))
	result, err := verdict(f)
	fmt.Fprintln(c.stdout, "\n"+render.Safe(system)+": "+result)
	im.CoresBuilt(ctx) // the next run finds it
	return err
}

func (c *command) testSystem(ctx context.Context, im *lisp.Image) (string, error) {
	if len(c.args) == 0 {
		return im.Project(ctx).TestSystem()
	}
	if strings.HasSuffix(c.args[0], ".asd") {
		return filepath.Abs(c.args[0])
	}
	return c.args[0], nil
}

// verdict is the result of tests in a word or two, and how the command ends.
func verdict(f *lisp.Fresh) (string, error) {
	t, failure := f.Tests, f.Result.Failure
	switch {
	case !t.Begun || t.Untested != "":
		return "could not be run", errNotRun
	case t.Failed+t.Errors > 0 || failure != nil:
		return "failed", errReported
	case t.Passed+t.Skipped == 0:
		return "ended without an error; whether tests have passed is not known", nil
	}
	return "passed", nil
}
