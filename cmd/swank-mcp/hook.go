package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp/project"
)

// edited is what an agent's hook says of the file that it has just written: the part of
// Claude Code's PostToolUse that we read.
type edited struct {
	Event string `json:"hook_event_name"`
	Dir   string `json:"cwd"`
	Input struct {
		Path string `json:"file_path"`
	} `json:"tool_input"`
}

// errMend ends with status 2, which tells the agent's hook to show it what was written
// to stderr.
var errMend = errors.New("not well-formed")

// hook mends the parentheses of the Lisp file that an agent has just written, which is
// named in JSON on stdin, and tells the agent what it did. Where it cannot, it tells the
// agent the line. About a file that is well-formed, or no Lisp, it says nothing.
func (c *command) hook(ctx context.Context) error {
	text, err := readAll(ctx, c.stdin)
	if err != nil {
		return fmt.Errorf("reading stdin: %w", err)
	}
	var e edited
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return fmt.Errorf("%w: hook reads the JSON that an agent gives to its hooks, such as {\"tool_input\": {\"file_path\": \"app.lisp\"}}: %w", errUsage, err)
	}
	path := e.Input.Path
	if path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(e.Dir, path)
	}
	if !ofLisp(path) {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil // deleted since
	}
	said, mended, err := tools.MendFile(ctx, path)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case said == "":
		return nil
	case !mended:
		fmt.Fprintln(c.stderr, said)
		return errMend
	}
	var out struct {
		Output struct {
			Event   string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	out.Output.Event, out.Output.Context = e.Event, said
	if e.Event == "" {
		out.Output.Event = "PostToolUse"
	}
	return json.NewEncoder(c.stdout).Encode(out)
}

// ofLisp reports whether path is called as files of Common Lisp are.
func ofLisp(path string) bool {
	return project.IsSource(path)
}
