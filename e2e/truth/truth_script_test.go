package truth

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"swank-mcp/e2e/harness"
)

// truthScript is what was done, as a script that TestScript takes.
type truthScript struct{ lines, files []string }

func (s *truthScript) add(c harness.TruthCall, failed bool) {
	line := s.line(c)
	if failed {
		line = "! " + line
	}
	s.lines = append(s.lines, line)
}

func (s *truthScript) line(c harness.TruthCall) string {
	switch {
	case c.Kills():
		return "kill-image"
	case c.File != "":
		name := fmt.Sprintf("version%d", len(s.files)+1)
		s.files = append(s.files, "-- "+name+" --\n"+c.Text)
		return "cp " + name + " " + c.File
	case c.Tool == "evaluate-lisp" && len(c.Args) == 1:
		return "eval " + inScript(c.Args["code"].(string))
	}
	args, _ := json.Marshal(c.Args) // of strings and numbers
	return "call " + c.Tool + " " + inScript(string(args))
}

func inScript(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func (s *truthScript) String() string {
	text := "server CL_SOURCE_REGISTRY=$WORK/mini/:\n" + strings.Join(s.lines, "\n") + "\n" + strings.Join(s.files, "")
	for _, name := range slices.Sorted(maps.Keys(harness.MiniSystem)) {
		text += "-- " + name + " --\n" + harness.MiniSystem[name] + "\n"
	}
	return text
}
