package script

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
)

func scriptDir() string { return harness.Testdata("script") }

// Every tool has a script of its name, which calls it and meets an error of it,
// in images launched and attached alike.
func TestEveryToolHasAScript(t *testing.T) {
	t.Parallel()
	s := harness.StartCold(t, wire.Options{Env: harness.Environ(harness.Run.Dir)}, "--toolsets", "all")
	harness.Open(t, s)
	tools := harness.ToolNames(t, s)
	if len(tools) < 38 {
		t.Errorf("only %d tools are listed: %v", len(tools), tools)
	}
	for _, tool := range tools {
		calls := scriptCalls(t, tool)
		succeed, fail := 0, 0
		for _, c := range calls {
			switch {
			case c.tool != tool:
			case c.fails:
				fail++
			default:
				succeed++
			}
		}
		if succeed == 0 || fail == 0 {
			t.Errorf("%s.txtar has %d calls of %s that succeed and %d that fail, and needs one of each", tool, succeed, tool, fail)
		}
		if _, listed := harness.LaunchedOnly["TestScript/"+tool]; listed {
			t.Errorf("the script of %s is for launched images only", tool)
		}
	}
}

// Each entry of launchedOnly that names a script has a script and a reason.
func TestLaunchedOnlyScripts(t *testing.T) {
	t.Parallel()
	for name, why := range harness.LaunchedOnly {
		script, ok := strings.CutPrefix(name, "TestScript/")
		if !ok {
			continue
		}
		if _, err := os.Stat(filepath.Join(scriptDir(), script+".txtar")); err != nil || why == "" {
			t.Errorf("launchedOnly has %s, for the reason %q: %v", name, why, err)
		}
	}
	if _, all := harness.LaunchedOnly["TestScript"]; all {
		t.Error("launchedOnly has all scripts")
	}
}

// scriptCall is a line of a script that calls a tool in every image.
type scriptCall struct {
	tool  string
	fails bool // it is expected to
}

// scriptCalls are the calls in the script of that name, none if there is no such script.
func scriptCalls(t *testing.T, name string) (calls []scriptCall) {
	t.Helper()
	f, err := os.Open(filepath.Join(scriptDir(), name+".txtar"))
	if err != nil {
		t.Error(err)
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) > 0 && words[0] == "--" {
			break // files follow
		}
		fails := len(words) > 0 && words[0] == "!"
		if fails {
			words = words[1:]
		}
		if len(words) > 2 && words[0] == "as" {
			words = words[2:]
		}
		switch {
		case len(words) > 0 && words[0] == "eval":
			calls = append(calls, scriptCall{"evaluate-lisp", fails})
		case len(words) > 1 && words[0] == "call" && !slices.Contains(words, "&"):
			calls = append(calls, scriptCall{words[1], fails})
		}
	}
	return calls
}
