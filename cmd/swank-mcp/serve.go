package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"swank-mcp/mcpbridge"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/kept"
	"swank-mcp/swank/lisp/project"
)

// serve speaks MCP until its client or ctx ends. The image is started by the
// first call that needs it.
func (c *command) serve(ctx context.Context) error {
	if c.http.place.Address != "" {
		return c.serveHTTP(ctx)
	}
	if isTerminal(c.stdin) {
		fmt.Fprint(c.stdout, strings.ReplaceAll(registration, "PROGRAM", program()))
		return nil
	}
	tune()
	left := c.kept()
	im, log, closeImage, err := c.image(ctx)
	if err != nil {
		return err
	}
	im.Session(c.session).KeepIn(left)
	options := c.bridgeOptions(ctx, im)
	options.Session, options.SessionDir, options.Kept, options.Log = c.session, c.sessionDir, left, log
	if _, named := c.projectDir(); !named {
		options.Roots = func(dirs []string) { im.WorkIn(dirs...) }
	}
	b := mcpbridge.New(options)
	hide, end := c.showToPeople(ctx, im, b, c.noTranscript, log)
	defer func() { // the end of the image is noted, too
		b.Close()
		hide()
		im.SaveAtEnd()
		closeImage()
		end()
	}()
	in, ok := c.stdin.(io.ReadCloser)
	if !ok {
		in = io.NopCloser(c.stdin)
	}
	return b.Serve(ctx, in, c.stdout)
}

// bridgeOptions are those of a bridge to im that the flags say, whatever the transport. ctx
// ends with the server.
func (c *config) bridgeOptions(ctx context.Context, im *lisp.Image) mcpbridge.Options {
	return mcpbridge.Options{
		Open:       func(session string) tools.Session { return im.Session(session) },
		Version:    version(),
		Timeout:    c.timeout,
		MaxTimeout: c.maxTimeout,
		JobLimit:   c.limits.wall,
		MaxOutput:  c.maxOutput,
		Tools:      c.tools,
		WatchFiles: c.watchFiles,
		Trees:      im.Trees(),
		Project:    func() *project.Project { return im.Project(ctx) },
	}
}

// kept is the file, in the user's state directory, in which the session is kept for the
// next server with the same session directory. It is nil with --no-journal, and for an
// attached image, where the session itself stays.
func (c *config) kept() *kept.File {
	dir, err := filepath.Abs(c.sessionDir)
	state := stateDir()
	if c.noJournal || c.attaching() != "" || err != nil || state == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(dir))
	return kept.Open(filepath.Join(state, hex.EncodeToString(sum[:8])+"-"+c.session+".lisp"))
}

// stateDir is our directory among the user's state, "" if it is not known where that is.
func stateDir() string {
	state := os.Getenv("XDG_STATE_HOME")
	if home, err := os.UserHomeDir(); !filepath.IsAbs(state) && err == nil {
		state = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(state) {
		return ""
	}
	return filepath.Join(state, "swank-mcp")
}

const registration = `swank-mcp is an MCP server: a client starts it and speaks with it over stdin
and stdout. There is nothing to type here. To register it with Claude Code:

  claude mcp add lisp -- PROGRAM

With other clients: PROGRAM install --client NAME, or by hand: command "PROGRAM",
no arguments. To see whether it will work: PROGRAM doctor. To try it:
PROGRAM eval '(+ 1 2)'
`

// program is what to type, or to put into a configuration, to run this binary:
// its name where PATH finds it, else its whole path.
func program() string {
	path, err := os.Executable()
	if err != nil {
		return "swank-mcp"
	}
	if found, err := exec.LookPath(filepath.Base(path)); err == nil {
		a, errA := os.Stat(found)
		b, errB := os.Stat(path)
		if errA == nil && errB == nil && os.SameFile(a, b) {
			return filepath.Base(path)
		}
	}
	return path
}

// closeGrace is how long the image may take to end.
const closeGrace = 3 * time.Second

func closeContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), closeGrace)
}

// isTerminal reports whether r is a character device that somebody may type
// on; /dev/null is none.
func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&fs.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
