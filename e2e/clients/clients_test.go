package clients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// step is one line that a client under clients/ prints.
type step struct {
	Step       string
	Version    string
	Names      []string
	Text       string
	Blocks     int
	IsError    bool
	Structured bool
	Messages   []string
	Error      string
	MS         float64
}

// Clients by other authors list tools, evaluate, call a tool that is not listed, see
// progress, cancel and go on, in both protocol eras.
func TestForeignClients(t *testing.T) {
	tier.More(t)
	t.Parallel()
	harness.Check(t, harness.Run.Warm())
	for _, client := range []struct {
		name    string
		command func(t *testing.T) []string
	}{
		{"typescript", typescriptClient},
		{"mcp-go", mcpGoClient},
	} {
		for _, era := range []string{"2025-11-25", "2026-07-28"} {
			t.Run(client.name+" "+era, func(t *testing.T) {
				command := append(client.command(t), era, harness.Run.Binary) // first: it may be built
				judge(t, era, drive(t, command))
			})
		}
	}
}

// drive runs a client, with these variables in its environment, and returns what it prints.
func drive(t *testing.T, command []string, env ...string) map[string]step {
	t.Helper()
	cmd := await.Command(t, command[0], command[1:]...)
	cmd.Env = harness.Environ(harness.Run.Dir, append(env, "SWANK_MCP_TOOLSETS=")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v\n%s\n%s", command, err, out, harness.Tail(stderr.String(), 3000))
	}
	steps := map[string]step{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var s step
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			t.Fatalf("client printed %q: %v", lines.Text(), err)
		}
		steps[s.Step] = s
	}
	return steps
}

// judge holds a client to what it should have seen.
func judge(t *testing.T, era string, steps map[string]step) {
	t.Helper()
	if v := steps["open"].Version; v != era {
		t.Errorf("negotiated %q, want %q", v, era)
	}
	for _, name := range []string{"evaluate-lisp", "session-status", "read-output"} {
		if !slices.Contains(steps["tools"].Names, name) {
			t.Errorf("tools %v lack %s", steps["tools"].Names, name)
		}
	}
	if slices.Contains(steps["tools"].Names, "list-threads") {
		t.Errorf("tools %v show list-threads", steps["tools"].Names)
	}
	if hidden := steps["hidden"]; hidden.IsError || !strings.Contains(hidden.Text, "main thread") {
		t.Errorf("list-threads, which is not shown: %+v", hidden)
	}
	for _, w := range []struct {
		step, prefix string
		isErr        bool
	}{
		{"define", "=> *KEPT*", false},
		{"evaluate", "=> 42", false},
		{"error", "[ERROR] DIVISION-BY-ZERO\n", true},
		{"progress", "[stdout]\nline 0\nline 1\nline 2\nline 3\n\n=> NIL", false},
		{"after", "=> (3 41)", false},
	} {
		s := steps[w.step]
		if !strings.HasPrefix(s.Text, w.prefix) || s.IsError != w.isErr || s.Blocks != 1 || s.Structured {
			t.Errorf("step %s: %+v; want one block that begins %q, isError %v", w.step, s, w.prefix, w.isErr)
		}
	}
	if all := strings.Join(steps["progress"].Messages, ""); !strings.Contains(all, "line 0") || len(steps["progress"].Messages) < 2 {
		t.Errorf("progress messages: %q", steps["progress"].Messages)
	}
	if c := steps["cancel"]; c.Error == "" {
		t.Errorf("cancelling: %+v", c)
	}
}

var mcpGoBinary = sync.OnceValues(func() (string, error) {
	binary := filepath.Join(harness.Run.Dir, "mcpgo")
	cmd := harness.GoBuild("-o", binary, ".")
	cmd.Dir = harness.InTree("e2e", "clients", "mcpgo")
	out, err := cmd.CombinedOutput()
	return string(out), err
})

func mcpGoClient(t *testing.T) []string {
	t.Helper()
	if out, err := mcpGoBinary(); err != nil {
		t.Fatalf("building the mcp-go client: %v\n%s", err, out)
	}
	return []string{filepath.Join(harness.Run.Dir, "mcpgo")}
}

var typescriptInstall = sync.OnceValue(func() error { return harness.InstallPackages("typescript") })

// node is the program that runs them.
func node(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("Node.js is not installed; scripts/install-deps --test installs it")
	}
	return node
}

func typescriptClient(t *testing.T) []string {
	t.Helper()
	harness.Check(t, typescriptInstall())
	return []string{node(t), filepath.Join(harness.Run.Dir, "typescript", "drive.mjs")}
}
