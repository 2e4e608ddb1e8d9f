//go:build compose

package compose

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

var (
	serverFlag  = flag.String("server", "", "command line that starts a swank-mcp attached to the image (required)")
	restartFlag = flag.String("restart", "", "command line that restarts the image (required by TestService)")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *serverFlag == "" {
		fmt.Fprintln(os.Stderr, "The flag -server is missing: run scripts/compose-test.")
		os.Exit(2)
	}
	os.Exit(m.Run())
}

// client is an MCP client of one server.
type client struct {
	*wire.Client
	t      *testing.T
	killed bool
}

// start starts the server of -server and opens it.
func start(t *testing.T) *client {
	t.Helper()
	return startWith(t, nil, strings.Fields(*serverFlag)...)
}

// startWith starts another server; env nil inherits ours.
func startWith(t *testing.T, env []string, command ...string) *client {
	t.Helper()
	w, err := wire.Start(wire.Options{Env: env}, command[0], command[1:]...)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{Client: w, t: t}
	t.Cleanup(func() {
		// Not killed: "docker compose run" would leave its container behind.
		if err := c.Close(await.Ceiling); err != nil && !c.killed {
			t.Errorf("ending the server: %v", err)
		}
		if t.Failed() && c.Said() != "" {
			t.Logf("stderr of the server:\n%s", c.Said())
		}
	})
	if _, err := c.Open(await.Context(t)); err != nil {
		t.Fatalf("opening the server: %v\n%s", err, c.Said())
	}
	return c
}

// kill ends the server as a crash would.
func (c *client) kill() {
	c.killed = true
	c.Kill()
}

// call calls a tool and returns its text and whether it is an error.
func (c *client) call(tool string, arguments map[string]any) (string, bool) {
	c.t.Helper()
	ctx, stop := await.Limited(c.t.Context())
	defer stop()
	r, err := c.Tool(ctx, tool, arguments)
	if err != nil {
		c.t.Fatalf("%s %v: %v\n%s", tool, arguments, err, c.Said())
	}
	return r.Text(), r.IsError
}

// eval evaluates code, which must succeed, and returns the reply.
func (c *client) eval(code string) string {
	c.t.Helper()
	text, bad := c.call("evaluate-lisp", map[string]any{"code": code})
	if bad {
		c.t.Fatalf("%s answered\n%s", code, text)
	}
	return text
}

// want evaluates code and compares the whole reply.
func (c *client) want(code, want string) {
	c.t.Helper()
	if got := c.eval(code); got != want {
		c.t.Errorf("%s answered\n%s\nwant\n%s", code, got, want)
	}
}

// What the first reply says of a session that was there, and of who else is in it.
const (
	wasThere = "; The session \"default\" was in this image before:"
	another  = " works in the session \"default\", too."
)

// joins is want for a first evaluation, whose reply says what the server found.
func (c *client) joins(code, want, found string) {
	c.t.Helper()
	if got := c.eval(code); !strings.HasPrefix(got, want+"\n") || !strings.Contains(got, found) {
		c.t.Errorf("%s answered\n%s\nwant\n%s and\n%s", code, got, want, found)
	}
}

// fail evaluates code, which must fail, and returns the reply.
func (c *client) fail(arguments map[string]any) string {
	c.t.Helper()
	text, bad := c.call("evaluate-lisp", arguments)
	if !bad {
		c.t.Fatalf("%v succeeded:\n%s", arguments, text)
	}
	return text
}

// value is the single value of a reply, on one line, without what was printed
// before it and noted after it.
func value(t *testing.T, reply string) string {
	t.Helper()
	_, v, found := strings.Cut("\n"+reply, "\n=> ")
	v, _, _ = strings.Cut(v, "\n; ")
	if !found || strings.Contains(v, "\n") {
		t.Fatalf("not one value: %s", reply)
	}
	return v
}

// contains fails the test unless text has each of the parts.
func contains(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s lacks %q:\n%s", what, p, text)
		}
	}
}

// back calls the image until it answers well again, and returns that reply and
// all that was said before it.
func (c *client) back(code string) (reply, before string) {
	c.t.Helper()
	await.True(c.t, code+" evaluates", func() bool {
		text, bad := c.call("evaluate-lisp", map[string]any{"code": code, "timeout": 10})
		if bad {
			before += text + "\n"
		}
		reply = text
		return !bad
	})
	return reply, before
}

// runCommand runs a command line of a flag.
func runCommand(t *testing.T, line string) {
	t.Helper()
	if line == "" {
		t.Fatal("a flag is missing: run scripts/compose-test")
	}
	words := strings.Fields(line)
	ctx := await.Context(t)
	if out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}
