package clients

import (
	"encoding/json"
	"errors"
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

// TestInspectorStrict: the strict check of the MCP Inspector, which knows what
// clients refuse in schemas, has nothing to say of any tool, in both eras.
func TestInspectorStrict(t *testing.T) {
	tier.More(t)
	t.Parallel()
	harness.Check(t, installInspector())
	for _, era := range []string{"legacy", "modern"} {
		if tools, findings := strictCheck(t, "--protocol-era", era, harness.Run.Binary); tools < 20 || findings != "" {
			t.Errorf("%s: %d tools, findings: %s", era, tools, findings)
		}
	}
	// A server that it must complain of.
	bad := filepath.Join(harness.Run.Dir, "inspector", "bad.mjs")
	if tools, findings := strictCheck(t, node(t), bad); tools != 1 || !strings.Contains(findings, "type-union") {
		t.Errorf("the check does not see what is wrong with a bad schema: %d tools, findings: %s", tools, findings)
	}
}

// The same over HTTP, in both eras.
func TestInspectorStrictOverHTTP(t *testing.T) {
	tier.More(t)
	t.Parallel()
	h := harness.StartHTTP(t, t.TempDir())
	harness.Check(t, installInspector())
	for _, era := range []string{"legacy", "modern"} {
		tools, findings := strictCheck(t, "--protocol-era", era, "--server-url", h.Url+"/mcp", "--transport", "http", "--header", "Authorization: Bearer "+h.Token)
		if tools < 20 || findings != "" {
			t.Errorf("%s: %d tools, findings: %s", era, tools, findings)
		}
	}
}

var installInspector = sync.OnceValue(func() error { return harness.InstallPackages("inspector") })

// strictCheck has the Inspector list the tools of a server and check them.
func strictCheck(t *testing.T, command ...string) (tools int, findings string) {
	t.Helper()
	inspector := filepath.Join(harness.Run.Dir, "inspector", "node_modules", "@modelcontextprotocol", "inspector",
		"clients", "launcher", "build", "index.js")
	args := append([]string{inspector, "--cli"}, command...)
	args = append(args, "--strict", "--method", "tools/list", "--format", "json")
	var env []string
	for _, v := range harness.Environ(harness.Run.Dir) {
		if strings.HasPrefix(v, "SWANK_MCP_") && !slices.Contains(command, "--server-url") { // the Inspector passes on no other
			args = append(args, "-e", v)
		}
		env = append(env, v)
	}
	cmd := await.Command(t, node(t), args...)
	cmd.Env = env
	if v, err := exec.Command(node(t), "--version").Output(); err == nil && strings.HasPrefix(string(v), "v18.") {
		cmd.Env = append(env, "NODE_OPTIONS=--experimental-global-customevent --experimental-global-webcrypto")
	}
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != strictFailed || err != nil && exit == nil {
		t.Fatalf("%q: %v\n%s\n%s", args, err, harness.Clip(string(out)), exit.Stderr)
	}
	var answer struct {
		Result struct {
			Tools []json.RawMessage `json:"tools"`
		} `json:"result"`
		Findings json.RawMessage `json:"schemaFindings"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("%q printed %s: %v", args, harness.Clip(string(out)), err)
	}
	return len(answer.Result.Tools), string(answer.Findings)
}

// strictFailed is the exit status after a finding that is an error.
const strictFailed = 6
