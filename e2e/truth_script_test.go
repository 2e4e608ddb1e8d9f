package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// truthScript is what was done, as a script that TestScript takes.
type truthScript struct{ lines, files []string }

func (s *truthScript) add(c truthCall, failed bool) {
	line := s.line(c)
	if failed {
		line = "! " + line
	}
	s.lines = append(s.lines, line)
}

func (s *truthScript) line(c truthCall) string {
	switch {
	case c.kills():
		return "kill-image"
	case c.file != "":
		name := fmt.Sprintf("version%d", len(s.files)+1)
		s.files = append(s.files, "-- "+name+" --\n"+c.text)
		return "cp " + name + " " + c.file
	case c.tool == "evaluate-lisp" && len(c.args) == 1:
		return "eval " + inScript(c.args["code"].(string))
	}
	args, _ := json.Marshal(c.args) // of strings and numbers
	return "call " + c.tool + " " + inScript(string(args))
}

func inScript(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func (s *truthScript) String() string {
	text := "server CL_SOURCE_REGISTRY=$WORK/mini/:\n" + strings.Join(s.lines, "\n") + "\n" + strings.Join(s.files, "")
	for _, name := range slices.Sorted(maps.Keys(miniSystem)) {
		text += "-- " + name + " --\n" + miniSystem[name] + "\n"
	}
	return text
}
