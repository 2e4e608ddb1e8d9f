//go:build unix

package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"swank-mcp/e2e/harness"
)

// script is what was done, as a script that TestScript takes.
type script struct{ lines, files []string }

func (s *script) add(c Call, reply string) {
	line := s.line(c)
	if harness.Failure(reply) {
		line = "! " + line
	}
	s.lines = append(s.lines, line)
}

func (s *script) line(c Call) string {
	switch {
	case c.kills():
		return "kill-image"
	case c.File != "":
		name := fmt.Sprintf("version%d", len(s.files)+1)
		s.files = append(s.files, section(name, c.Text))
		return "cp " + name + " " + c.File
	case c.Tool == "evaluate-lisp" && len(c.Args) == 1:
		return "eval " + inScript(c.Args["code"].(string))
	}
	args, _ := json.Marshal(c.Args) // of strings and numbers
	return "call " + c.Tool + " " + inScript(string(args))
}

func inScript(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func section(name, text string) string {
	return "-- " + name + " --\n" + strings.TrimSuffix(text, "\n") + "\n"
}

// text is the whole script, in a world.
func (s *script) text(w *World) string {
	registry := strings.ReplaceAll(w.Registry, w.Dir, "$WORK")
	text := "server " + registry + "\n" + strings.Join(s.lines, "\n") + "\n" + strings.Join(s.files, "")
	for _, name := range slices.Sorted(maps.Keys(w.files)) {
		text += section(name, w.files[name])
	}
	return text
}
