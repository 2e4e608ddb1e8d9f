package mcpbridge

import (
	"slices"
	"strings"
	"testing"

	"swank-mcp/mcpbridge/fake"
	"swank-mcp/mcpbridge/tools"
)

// instructionsFor is what a client is told that is shown the selected tools.
func instructionsFor(s Selection) string {
	return New(Options{Open: opens(&fake.Image{}), Tools: s}).instructions()
}

// wronglyNamed are the tools that the instructions name and that are not shown,
// and the names with a hyphen in them that are no tools.
func wronglyNamed(s Selection) (wrong []string) {
	shown := names(s.pick())
	for _, m := range toolInText.FindAllStringSubmatch(instructionsFor(s), -1) {
		name := m[1]
		if slices.Contains(shown, name) || name == "on-error" || tools.Find(name) == nil && !strings.Contains(name, "-") {
			continue
		}
		wrong = append(wrong, name)
	}
	return wrong
}

// Whatever is selected, nobody is told to call what is not there, and what is
// there is told of. TestSelectionProperty asks the same of any selection.
func TestInstructions(t *testing.T) {
	look := []string{"`describe-symbol`", "`apropos-search`", "`find-definition`", "`cross-reference`"}
	for _, c := range []struct {
		name string
		s    Selection
		want []string
		not  []string
	}{
		{"default", Selection{}, append(look, "`evaluate-lisp` evaluates", "`inspect-object` takes", "`trace-function` shows", "`load-system`",
			"`restart-frame`", "; `session-status` answers", "; `read-output` reads"), nil},
		{"all", Selection{Toolsets: []string{"all"}}, look, nil},
		{"core", Selection{Toolsets: []string{"core"}}, []string{"`evaluate-lisp`", "`load-system`"}, []string{"Look before", "Further", "on-error"}},
		{"evaluation alone", Selection{Tools: []string{"evaluate-lisp"}}, []string{"`evaluate-lisp`", "run one at a time.", "says so.\n"}, []string{"Systems:"}},
		{"one look-up beside", Selection{Tools: []string{"evaluate-lisp", "apropos-search"}}, []string{"runs: `apropos-search` (find a name). A name is"}, nil},
		{"debug", Selection{Toolsets: []string{"debug"}}, []string{"without the tool that evaluates"}, []string{"What is there"}},
		{"inspect", Selection{Toolsets: []string{"inspect"}}, look, []string{"What goes on"}},
		{"build", Selection{Toolsets: []string{"build"}}, nil, []string{"not to change"}},
		{"profile", Selection{Toolsets: []string{"profile"}}, []string{"goes on: `list-threads`, `memory-report`."}, nil},
		{"read-only", Selection{ReadOnly: true}, append(look, "(SBCL), to look into and not to change:", "goes on: `session-status`."), nil},
		{"read-only of all", Selection{ReadOnly: true, Toolsets: []string{"all"}}, []string{"goes on: `session-status`, `list-threads`, `memory-report`."}, nil},
		{"without two", Selection{Exclude: []string{"read-output", "macroexpand-form"}}, []string{"says so.\n", "Further: `inspect-object`"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := instructionsFor(c.s)
			if wrong := wronglyNamed(c.s); len(wrong) > 0 {
				t.Errorf("they name %v:\n%s", wrong, text)
			}
			for _, w := range c.want {
				if !strings.Contains(text, w) {
					t.Errorf("no %q in:\n%s", w, text)
				}
			}
			for _, w := range c.not {
				if strings.Contains(text, w) {
					t.Errorf("%q in:\n%s", w, text)
				}
			}
			if n := len(text); n >= 2000 || n < 200 || strings.Contains(text, "\n\n\n") || strings.Count(text, "\n\n") != 1 || !strings.HasSuffix(text, ".\n") {
				t.Errorf("%d bytes:\n%s", n, text)
			}
		})
	}
}
