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

// script records calls as lines and files that TestScript takes.
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
	case c.Wait > 0:
		return fmt.Sprintf("exec sleep %.1f", c.Wait.Seconds())
	case c.File != "":
		return "cp " + s.file(c.Text) + " " + c.File
	case c.Tool == "evaluate-lisp" && len(c.Args) == 1:
		code := c.Args["code"].(string)
		if strings.Contains(code, "\n") {
			return "eval @" + s.file(code)
		}
		return "eval " + inScript(code)
	}
	args, _ := json.Marshal(c.Args) // of strings and numbers
	return "call " + c.Tool + " " + inScript(string(args))
}

// file has the text in a file and returns its name.
func (s *script) file(text string) string {
	name := fmt.Sprintf("file%d", len(s.files)+1)
	s.files = append(s.files, section(name, text))
	return name
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
