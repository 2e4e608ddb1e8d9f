package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp"
)

// eval evaluates the forms of the command line, or of stdin when there are
// none, in an image of its own or where --url says, and prints what evaluate-lisp would answer.
func (c *command) eval(ctx context.Context) error {
	code := strings.Join(c.args, "\n")
	if len(c.args) == 0 {
		if isTerminal(c.stdin) {
			return fmt.Errorf("%w: eval needs a form, as in: swank-mcp eval '(+ 1 2)'", errUsage)
		}
		var err error
		if code, err = readAll(ctx, c.stdin); err != nil {
			return fmt.Errorf("reading stdin: %w", err)
		}
	}
	if c.url != "" {
		return c.evalRemote(ctx, code)
	}
	c.lisp.Launch.Awaited = true // the core, below
	im, _, closeImage, err := c.image(ctx)
	if err != nil {
		return err
	}
	defer closeImage()
	defer im.CoresBuilt(ctx) // when the result is printed: else each evaluation starts without a core
	res, err := im.Session(c.session).Evaluate(ctx, lisp.Request{Code: code, Timeout: c.timeout, Debug: 1})
	if err != nil {
		fmt.Fprintln(c.stderr, tools.ErrorText(err))
		return errReported
	}
	text, failed := render.Result(res, render.View{Timeout: c.timeout})
	fmt.Fprintln(c.stdout, text)
	if failed {
		return errReported
	}
	return nil
}

// readAll reads r to its end, or until ctx ends; then the goroutine that reads
// stays behind in a Read that nothing wakes, and ends with the process.
func readAll(ctx context.Context, r io.Reader) (string, error) {
	type result struct {
		text []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		text, err := io.ReadAll(r)
		read <- result{text, err}
	}()
	select {
	case got := <-read:
		return string(got.text), got.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
