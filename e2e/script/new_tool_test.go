package script

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// TestAddingATool adds the tool of docs/development.md as that page says: a file, a
// line, and -update. What follows from these is all that changes, it holds, and the
// script that it begins runs.
func TestAddingATool(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	harness.Check(t, harness.Run.Warm())
	const name = "lisp-version"
	dir := t.TempDir()
	overlay := withTool(t, dir, name)

	// What -update writes, it writes to a copy.
	tree := filepath.Join(dir, "tree")
	for _, made := range []string{"docs/reference", "mcpbridge/testdata/tools", "e2e/testdata/script"} {
		harness.Check(t, os.CopyFS(filepath.Join(tree, made), os.DirFS(harness.InTree(made))))
	}
	before := contents(t, tree)
	bridge := filepath.Join(dir, "bridge.test")
	runIn(t, ".", "go", "test", "-c", "-overlay", overlay, "-o", bridge, "swank-mcp/mcpbridge")
	runIn(t, harness.InTree("mcpbridge"), bridge, "-test.run", "^(TestToolGoldens|TestOverviewOfTheTools|TestReferenceOfTheTools|TestEveryToolHasAScript)$", "-update", "-tree", tree)
	runIn(t, harness.InTree("mcpbridge"), bridge, "-tree", tree)

	var changed []string
	after := contents(t, tree)
	for path, now := range after {
		if now != before[path] {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	want := []string{"docs/reference/tools.md", "e2e/testdata/script/" + name + ".txtar", "mcpbridge/testdata/tools/" + name + ".json"}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("changed by -update (-want +got):\n%s", diff)
	}
	for _, says := range []string{"\n| [**`" + name + "`**](#" + name + ")", "\n### " + name + "\n", "```call\n" + name + " {"} {
		if !strings.Contains(after["docs/reference/tools.md"], says) {
			t.Errorf("the reference does not have %q", says)
		}
	}

	binary := filepath.Join(dir, "swank-mcp")
	if out, err := harness.GoBuild("-overlay", overlay, "-o", binary, "swank-mcp/cmd/swank-mcp").CombinedOutput(); err != nil {
		t.Fatalf("building it: %v\n%s", err, out)
	}
	runScripts(t, binary, testscript.Params{Files: []string{filepath.Join(tree, "e2e/testdata/script", name+".txtar")}})
}

var goBlock = regexp.MustCompile("(?s)\n```go\n(.*?)```\n")

// withTool makes the two edits by hand, for go build -overlay.
func withTool(t *testing.T, dir, name string) (overlay string) {
	t.Helper()
	page, err := os.ReadFile(harness.InTree("docs", "development.md"))
	harness.Check(t, err)
	code := goBlock.FindSubmatch(page)
	line := regexp.MustCompile("one line, `([^`]+)`").FindSubmatch(page)
	list, err := os.ReadFile(harness.InTree("mcpbridge", "tools", "tools.go"))
	if err != nil || code == nil || line == nil || !bytes.Contains(code[1], []byte(`"`+name+`"`)) {
		t.Fatalf("the page has no file and line of %s (%v)", name, err)
	}
	const last = "\t\t&interruptThreadTool,\n"
	longer := strings.Replace(string(list), last, last+"\t\t"+string(line[1])+"\n", 1)
	if longer == string(list) {
		t.Fatal("the list of tools does not end as this test knows it")
	}
	replace := map[string]string{}
	for file, text := range map[string]string{strings.ReplaceAll(name, "-", "_") + ".go": string(code[1]), "tools.go": longer} {
		place := harness.InTree("mcpbridge", "tools", file)
		replace[place] = filepath.Join(dir, file)
		harness.Write(t, replace[place], text)
	}
	text, err := json.Marshal(harness.Object{"Replace": replace})
	harness.Check(t, err)
	overlay = filepath.Join(dir, "overlay.json")
	harness.Check(t, os.WriteFile(overlay, text, 0o600))
	return overlay
}

// runIn runs a program in a directory.
func runIn(t *testing.T, dir, program string, args ...string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}

// contents are the texts of the files below dir, by their paths in it.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(data)
		return err
	})
	harness.Check(t, err)
	return all
}
