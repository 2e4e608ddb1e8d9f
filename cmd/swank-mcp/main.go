// Swank-mcp gives MCP clients a live Common Lisp image. See usage.go for what
// it takes; the tools are in package mcpbridge, the image in swank/lisp.
//
// It speaks MCP on stdout and so keeps to it: messages for people go to
// stderr, as one line that begins with "swank-mcp: ", hints on lines of their
// own. Exit status: 0 done, 1 failed, 2 wrong usage; or, of hook, that the agent is to
// mend the file; or, of test, that the tests could not be run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"swank-mcp/sandbox"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == sandbox.Command { // a server has started this to become an image
		fmt.Fprintln(os.Stderr, "swank-mcp: the sandbox:", sandbox.Confine(os.Args[2:]))
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A client that is gone is an error of a write, not the end of the process:
	// the image is to be closed. Caught, not ignored, as children inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	go func() {
		<-ctx.Done()
		time.Sleep(sameSignal)
		stop() // a second signal ends the process at once
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// sameSignal is how long a second signal counts as the first: timeout(1) sends its own to
// the process and to the group of it.
const sameSignal = 100 * time.Millisecond

// errUsage is a command line that cannot be understood.
var errUsage = errors.New("wrong usage")

// errReported ends with status 1 after everything has been said.
var errReported = errors.New("failed")

type command struct {
	config
	args   []string // after the subcommand
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
}

// run is the program. It returns the exit status; ctx ends it early.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &command{stdin: stdin, stdout: stdout, stderr: stderr}
	name, err := c.parse(args)
	if err == nil {
		err = c.dispatch(ctx, name)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return 0
	case errors.Is(err, errReported):
		return 1
	case errors.Is(err, errMend), errors.Is(err, errNotRun):
		return 2
	case errors.Is(err, errUsage):
		fmt.Fprintf(stderr, "swank-mcp: %v\nswank-mcp --help shows what it takes.\n", err)
		return 2
	}
	fmt.Fprintf(stderr, "swank-mcp: %v\n", err)
	return 1
}

// takeArguments are the commands that do.
var takeArguments = append([]string{"eval", "test", "allow", "sessions", "install", "completion"}, takeID...)

// takeID are those whose argument is a server.
var takeID = []string{"watch", "stop", "pause", "resume", "undo"}

// startImages lists the commands that start an image in the working directory.
var startImages = []string{"serve", "eval", "test", "doctor"}

// workingDirectory returns an error that says what to do if there is none any more.
func workingDirectory() error {
	if _, err := os.Getwd(); err != nil {
		return fmt.Errorf("the working directory is not there (%w), maybe because it was deleted; change to another one first: cd ~", err)
	}
	return nil
}

func (c *command) dispatch(ctx context.Context, name string) error {
	switch {
	case name == "help" && len(c.args) == 1:
		for _, p := range pages {
			if p.name == c.args[0] {
				fmt.Fprint(c.stdout, p.text)
				return nil
			}
		}
		return fmt.Errorf("%w: help takes no argument %q", errUsage, c.args[0])
	case !slices.Contains(takeArguments, name) && len(c.args) > 0:
		return fmt.Errorf("%w: %s takes no argument %q", errUsage, name, c.args[0])
	}
	if slices.Contains(startImages, name) {
		if err := workingDirectory(); err != nil {
			return err
		}
	}
	switch name {
	case "serve":
		return c.serve(ctx)
	case "eval":
		return c.eval(ctx)
	case "test":
		return c.test(ctx)
	case "doctor":
		return c.doctor(ctx)
	case "ps":
		return c.ps(ctx)
	case "watch":
		return c.watch(ctx)
	case "stop":
		return c.stop(ctx)
	case "pause", "resume":
		return c.pause(ctx, name == "pause")
	case "undo":
		return c.undo(ctx)
	case "allow":
		return c.allow(ctx)
	case "sessions":
		return c.sessions(ctx)
	case "ready":
		return c.ready(ctx)
	case "hook":
		return c.hook(ctx)
	case "install":
		return c.install(ctx)
	case "completion":
		return c.completion()
	case "version":
		fmt.Fprintln(c.stdout, "swank-mcp "+version())
		return nil
	case "help":
		return flag.ErrHelp
	}
	return fmt.Errorf("%w: no command %q; there are serve, eval, test, doctor, ps, watch, stop, pause, resume, undo, allow, sessions, ready, hook, install, completion and version", errUsage, name)
}
