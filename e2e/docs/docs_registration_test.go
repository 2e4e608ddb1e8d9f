package docs

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// registered is how a client's configuration says to start a server.
type registered struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// registration checks that a part of a client's configuration is of its
// format, and starts each server that it names.
func (r *reader) registration(b item) {
	var found []registered
	var err error
	switch b.kind {
	case "json":
		var v any
		if err = json.Unmarshal([]byte(b.text), &v); err == nil {
			found = fromJSON(v)
		}
	case "toml":
		found, err = fromTOML(b.text)
	case "elisp":
		found, err = r.fromElisp(b.text)
	}
	if b.kind == "json" && strings.Contains(b.text, "swank-mcp hook") {
		return // it starts no server; the script hook of cmd/swank-mcp shows what it does
	}
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("it names no command")
	}
	if err != nil {
		r.errorf(b, "as %s: %v", b.kind, err)
		return
	}
	for _, f := range found {
		var env []string
		for k, v := range f.Env {
			env = append(env, k+"="+v)
		}
		r.starts(b, f.Command, f.Args, env)
	}
}

// starts checks that the command is a server that lists its tools.
func (r *reader) starts(b item, command string, args, env []string) {
	r.ran++
	if command == "swank-mcp" {
		command = harness.Run.Binary // what the reader's PATH finds
	} else if !filepath.IsAbs(command) {
		r.errorf(b, "%q is neither swank-mcp nor a whole path", command)
		return
	}
	c, err := wire.Start(wire.Options{Env: append(r.env(), env...), Dir: r.dir}, command, args...)
	if err != nil {
		r.errorf(b, "%v", err)
		return
	}
	ctx := await.Context(r.t)
	var list struct{ Tools []struct{ Name string } }
	if _, err = c.Open(ctx); err == nil {
		err = c.Call(ctx, "tools/list", harness.Object{}, &list)
	}
	if err != nil || len(list.Tools) == 0 {
		r.errorf(b, "%s %v: %v, %d tools\n%s", command, args, err, len(list.Tools), c.Said())
	}
	for _, complaint := range harness.Farewell(c) {
		r.errorf(b, "%s", complaint)
	}
}

// fromJSON finds every object with a command, at any depth.
func fromJSON(v any) (found []registered) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	if _, ok := m["command"]; ok {
		var f registered
		b, _ := json.Marshal(m)
		if json.Unmarshal(b, &f) == nil {
			found = append(found, f)
		}
	}
	for _, value := range m {
		found = append(found, fromJSON(value)...)
	}
	return found
}

var (
	tomlTable = regexp.MustCompile(`^\[[\w.-]+\]$`)
	tomlPair  = regexp.MustCompile(`^(\w+) = (.+)$`)
)

// fromTOML reads the part of TOML that configurations of servers need: tables,
// and pairs whose values are JSON as well.
func fromTOML(text string) ([]registered, error) {
	pairs := harness.Object{}
	for _, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, " #")
		line = strings.TrimSpace(line)
		if line == "" || tomlTable.MatchString(line) {
			continue
		}
		var v any
		m := tomlPair.FindStringSubmatch(line)
		if m == nil || json.Unmarshal([]byte(m[2]), &v) != nil {
			return nil, fmt.Errorf("not understood: %s", line)
		}
		pairs[m[1]] = v
	}
	return fromJSON(pairs), nil
}

var (
	elispCommand = regexp.MustCompile(`:command ("[^"]*")(?:\s+:args \(([^)]*)\))?`)
	elispString  = regexp.MustCompile(`"[^"]*"`)
)

// fromElisp has the forms checked by validate-syntax, whose rules for
// parentheses and strings are those of Emacs, too.
func (r *reader) fromElisp(text string) (found []registered, err error) {
	s := harness.StartWith(r.t, wire.Options{Env: r.env(), Dir: r.dir})
	if got := harness.Call(r.t, s, "validate-syntax", harness.Object{"code": text}); got.IsError || !strings.HasPrefix(got.Text(), "well-formed") {
		return nil, fmt.Errorf("%s", got.Text())
	}
	for _, m := range elispCommand.FindAllStringSubmatch(text, -1) {
		f := registered{Command: strings.Trim(m[1], `"`)}
		for _, arg := range elispString.FindAllString(m[2], -1) {
			f.Args = append(f.Args, strings.Trim(arg, `"`))
		}
		found = append(found, f)
	}
	return found, nil
}
