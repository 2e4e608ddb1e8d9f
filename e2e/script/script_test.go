package script

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// Sessions written down as documents: testdata/script/*.txtar. The commands
// are described in docs/development.md.
func TestScript(t *testing.T) {
	t.Parallel()
	harness.Check(t, harness.Run.Warm())
	harness.Check(t, harness.WarmLibraries())
	if *harness.AttachedFlag {
		warmPerson(t)
	}
	runScripts(t, harness.Run.Binary, testscript.Params{Dir: scriptDir(), UpdateScripts: *harness.Update})
}

// runScripts runs scripts whose servers are the binary.
func runScripts(t *testing.T, binary string, p testscript.Params) {
	p.RequireUniqueNames = true
	p.Setup = func(env *testscript.Env) error { return setUpScript(env, binary) }
	p.Condition = scriptCondition
	p.Cmds = map[string]func(*testscript.TestScript, bool, []string){
		"server":     serverCommand,
		"call":       callCommand,
		"eval":       evalCommand,
		"reply":      replyCommand,
		"as":         asCommand,
		"kill-image": killImageCommand,
		"close":      closeCommand,
		"fixture":    fixtureCommand,
		"await":      awaitCommand,
		"seal":       sealCommand,
	}
	testscript.RunT(scriptT{t}, p)
}

// script is what one script keeps between its commands.
type script struct {
	binary  string // of the servers
	clients map[string]*scriptClient
	as      string       // who speaks: the key of clients
	person  scriptPerson // with -attached
}

// scriptClient is one MCP client with a server of its own.
type scriptClient struct {
	*wire.Client
	pending []*wire.Pending      // calls sent with &, oldest first
	tools   map[string]shownTool // see shown; nil before it was asked
}

// scriptKey is the key of a [script] among the values of its environment.
type scriptKey struct{}

// scriptOf returns what the script keeps.
func scriptOf(ts *testscript.TestScript) *script { return ts.Value(scriptKey{}).(*script) }

// client is the client of the one who speaks, with its server running.
func client(ts *testscript.TestScript) *scriptClient {
	s := scriptOf(ts)
	c := s.clients[s.as]
	if c == nil {
		ts.Fatalf("no server runs here: start one first, as in: server --timeout 5")
	}
	return c
}

// setUpScript gives the script the environment that its servers will have, and
// ends these when it ends.
func setUpScript(env *testscript.Env, binary string) error {
	s := &script{binary: binary, clients: map[string]*scriptClient{}}
	env.Values[scriptKey{}] = s
	for _, v := range harness.Environ(env.WorkDir) {
		name, value, _ := strings.Cut(v, "=")
		env.Setenv(name, value)
	}
	if err := shareSwank(env.WorkDir); *harness.AttachedFlag && err != nil {
		return err
	}
	env.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
	env.Defer(func() {
		failed := false
		for name, c := range s.clients {
			for _, complaint := range harness.Farewell(c.Client) {
				env.T().Log("server", name, complaint)
				failed = true
			}
			env.T().Log("server", name, harness.LastOf(c.Client))
		}
		if said := s.person.end(); said != "" {
			env.T().Log("the person's Lisp said (end):\n" + harness.Tail(said, 3000))
		}
		if failed {
			env.T().FailNow()
		}
	})
	return nil
}

// as NAME COMMAND...: another client does it.
func asCommand(ts *testscript.TestScript, neg bool, args []string) {
	commands := map[string]func(*testscript.TestScript, bool, []string){
		"server": serverCommand, "call": callCommand, "eval": evalCommand, "reply": replyCommand,
		"kill-image": killImageCommand, "close": closeCommand, "await": awaitCommand,
	}
	if len(args) < 2 || commands[args[1]] == nil {
		ts.Fatalf("usage: as NAME COMMAND [ARGUMENT...], with one of server, call, eval, reply, kill-image, close, await")
	}
	s := scriptOf(ts)
	defer func(was string) { s.as = was }(s.as)
	s.as = args[0]
	commands[args[1]](ts, neg, args[2:])
}

// fixture DIR TO: a copy of the project DIR, of testdata or with its whole path.
func fixtureCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fixture DIR TO")
	}
	from := args[0]
	if !filepath.IsAbs(from) {
		from = harness.Testdata(from)
	}
	ts.Check(os.CopyFS(ts.MkAbs(args[1]), os.DirFS(from)))
}

// kill-image: kill -9, as an accident would, and wait for the end.
func killImageCommand(ts *testscript.TestScript, neg bool, args []string) {
	ctx, stop := await.Limited(context.Background())
	defer stop()
	r, err := client(ts).Tool(ctx, "session-status", harness.Object{})
	ts.Check(err)
	m := harness.PidPattern.FindStringSubmatch(r.Text())
	if neg || len(args) > 0 || m == nil {
		ts.Fatalf("usage: kill-image, while one runs; session-status says:\n%s", r.Text())
	}
	var pid int
	fmt.Sscan(m[1], &pid)
	ts.Check(syscall.Kill(pid, syscall.SIGKILL))
	ts.Check(scriptOf(ts).person.again())
	// Until the server has noticed, a call would die with the image.
	if await.Until(func() bool {
		r, err := client(ts).Tool(ctx, "session-status", harness.Object{})
		return err == nil && !strings.Contains(r.Text(), m[0]+",")
	}) != nil {
		ts.Fatalf("the server still shows %s", m[0])
	}
}

// close: the end of the server's input; it must end well.
func closeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: close")
	}
	c := client(ts)
	delete(scriptOf(ts).clients, scriptOf(ts).as)
	for _, complaint := range harness.Farewell(c.Client) {
		ts.Fatalf("%s", complaint)
	}
}
