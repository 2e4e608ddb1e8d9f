package script

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// server [NAME=VALUE...] [FLAG...]
func serverCommand(ts *testscript.TestScript, neg bool, args []string) {
	s := scriptOf(ts)
	if neg || s.clients[s.as] != nil {
		ts.Fatalf("usage: server [NAME=VALUE...] [FLAG...], once, or after close; another one: as NAME server")
	}
	var env []string
	for len(args) > 0 && assignment.MatchString(args[0]) {
		env, args = append(env, args[0]), args[1:]
	}
	env = append(harness.Environ(ts.Getenv("HOME")), env...)
	if *harness.AttachedFlag {
		flags, err := s.person.arguments(env, s.as)
		ts.Check(err)
		args = append(flags, args...)
	}
	c, err := wire.Start(wire.Options{Env: env, Dir: ts.MkAbs(".")}, s.binary, args...)
	ts.Check(err)
	s.clients[s.as] = &scriptClient{Client: c}
	ctx, stop := await.Limited(context.Background())
	defer stop()
	_, err = c.Open(ctx)
	ts.Check(err)
}

var assignment = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*=`)

// call TOOL [JSON | ARGUMENT=VALUE...] [&]
func callCommand(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: call TOOL ['{\"argument\": …}' | ARGUMENT=VALUE...] [&]")
	}
	tool, args := args[0], args[1:]
	later := ampersand(&args)
	arguments, rest := assignments(args)
	switch {
	case len(rest) == 1 && len(arguments) == 0:
		if err := json.Unmarshal([]byte(text(ts, rest[0])), &arguments); err != nil {
			ts.Fatalf("call %s: the arguments are no JSON object: %v", tool, err)
		}
	case len(rest) > 0:
		ts.Fatalf("call %s: %q is neither a JSON object nor ARGUMENT=VALUE", tool, rest[0])
	}
	send(ts, neg, later, tool, arguments)
}

// eval [ARGUMENT=VALUE...] CODE... [&]
func evalCommand(ts *testscript.TestScript, neg bool, args []string) {
	later := ampersand(&args)
	arguments, code := assignments(args)
	if len(code) == 0 {
		ts.Fatalf("usage: eval [ARGUMENT=VALUE...] 'CODE' [&], or @FILE for CODE")
	}
	for i, c := range code {
		code[i] = text(ts, c)
	}
	arguments["code"] = strings.Join(code, " ")
	send(ts, neg, later, "evaluate-lisp", arguments)
}

// text is what an argument of a script stands for: @FILE is the file's content.
func text(ts *testscript.TestScript, arg string) string {
	if file, ok := strings.CutPrefix(arg, "@"); ok {
		return ts.ReadFile(file)
	}
	return arg
}

// assignments takes ARGUMENT=VALUE from the front of args. A value that is JSON
// is what it says, any other one is a string.
func assignments(args []string) (map[string]any, []string) {
	m := harness.Object{}
	for len(args) > 0 && assignment.MatchString(args[0]) {
		name, value, _ := strings.Cut(args[0], "=")
		var v any
		if json.Unmarshal([]byte(value), &v) != nil {
			v = value
		}
		m[name], args = v, args[1:]
	}
	return m, args
}

// ampersand takes a last & from args and tells whether there was one.
func ampersand(args *[]string) bool {
	a := *args
	if len(a) == 0 || a[len(a)-1] != "&" {
		return false
	}
	*args = a[:len(a)-1]
	return true
}

func send(ts *testscript.TestScript, neg, later bool, tool string, arguments map[string]any) {
	c := client(ts)
	p, err := c.GoTool(tool, arguments, wire.CallOptions{})
	ts.Check(err)
	if later {
		c.pending = append(c.pending, p)
		return
	}
	take(ts, neg, p)
}

// reply: the oldest call that was sent with &.
func replyCommand(ts *testscript.TestScript, neg bool, args []string) {
	c := client(ts)
	if len(args) > 0 || len(c.pending) == 0 {
		ts.Fatalf("usage: reply, once for each call that ended with &")
	}
	p := c.pending[0]
	c.pending = c.pending[1:]
	take(ts, neg, p)
}

// take makes the text of the reply the script's stdout.
func take(ts *testscript.TestScript, neg bool, p *wire.Pending) {
	reply, isError, err := replied(p)
	ts.Check(err)
	fmt.Fprintln(ts.Stdout(), reply)
	switch {
	case isError && !neg:
		ts.Fatalf("the reply is an error")
	case neg && !isError:
		ts.Fatalf("the reply is not an error")
	}
	if c := client(ts); len(c.pending) == 0 { // else a call may wait behind one that is under way
		ts.Check(followNext(c, reply))
	}
}
