package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/format"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
)

const module = "swank-mcp"

// tree is the directory of the module.
const tree = "../.."

type listed struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
	Deps         []string
}

// packages lists every package of the module.
func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports,Deps", "./...")
	cmd.Dir = tree
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// ours are the only packages of the module that each room may import.
var ours = map[string][]string{
	"internal/await":     nil,
	"internal/pagetest":  nil,
	"internal/files":     nil,
	"internal/nofiles":   nil,
	"internal/tier":      nil,
	"internal/rundir":    nil,
	"internal/stall":     {"internal/await"},
	"internal/tree":      nil,
	"internal/testenv":   {"internal/rundir"},
	"sexp":               nil,
	"swank":              {"sexp"},
	"swank/swanktest":    {"sexp", "swank"},
	"swank/lisp/host":    nil,
	"swank/lisp/launch":  {"sexp", "swank/lisp/host", "internal/files", "internal/rundir"},
	"swank/lisp/journal": {"sexp"},
	"swank/lisp/kept":    {"swank/lisp/journal", "internal/files"},
	"swank/lisp/project": {"internal/files"},
	"swank/lisp/helper":  {"sexp", "swank"},
	"swank/lisp/restore": {"swank/lisp/helper", "swank/lisp/journal"},
	"swank/lisp/attach":  {"sexp", "swank", "swank/lisp/helper", "swank/lisp/host"},
	"swank/lisp":         {"internal/nofiles", "sexp", "swank", "swank/lisp/host", "swank/lisp/launch", "swank/lisp/journal", "swank/lisp/kept", "swank/lisp/helper", "swank/lisp/restore", "swank/lisp/attach", "swank/lisp/project", "internal/files"},
	"register":           nil,
	"packaging":          nil,
	"people/transcript":  {"swank/lisp", "internal/files"},
	"people/control":     {"swank/lisp", "people/transcript", "internal/rundir"},
	"people/web":         {"people/control", "people/transcript"},
	"serve/door":         {"internal/nofiles"},
	"serve/hub":          {"mcpbridge", "swank/lisp", "swank/lisp/kept", "serve/pool"},
	"serve/lease":        {"internal/files"},
	"serve/pool":         nil,
	"serve":              {"internal/nofiles", "mcpbridge/aside", "mcpbridge/rawtext", "mcpbridge/stdio", "swank/lisp", "serve/door", "serve/hub", "serve/pool"},
	"sandbox":            {"swank/lisp/launch"},
	"cmd/swank-mcp": {"internal/rundir", "internal/files", "sandbox", "sexp", "swank", "swank/lisp", "swank/lisp/attach", "swank/lisp/kept", "swank/lisp/launch", "swank/lisp/project", "mcpbridge", "mcpbridge/render", "mcpbridge/tools",
		"people/control", "people/transcript", "people/web", "register", "serve", "serve/door", "serve/hub", "serve/lease", "serve/pool"},
	"e2e/wire":        nil,
	"e2e/harness":     {"e2e/wire", "swank", "internal/await", "internal/testenv", "internal/tier"},
	"e2e/model":       {"e2e/harness", "e2e/wire", "internal/await", "internal/tier"},
	"e2e/checkpoints": nil,
	"e2e/clients":     nil,
	"e2e/docs":        nil,
	"e2e/emacs":       nil,
	"e2e/guest":       nil,
	"e2e/http":        nil,
	"e2e/people":      nil,
	"e2e/project":     nil,
	"e2e/sandbox":     nil,
	"e2e/script":      nil,
	"e2e/session":     nil,
	"e2e/survival":    nil,
	"e2e/truth":       nil,
	"e2e/compose":     {"e2e/wire"},
	"e2e/bench":       {"e2e/wire", "sexp", "swank"},
	"e2e/many":        nil,
	"e2e/foreign":     {"e2e/wire"},

	"mcpbridge/rawtext":         nil,
	"mcpbridge/syntax":          {"mcpbridge/rawtext"},
	"mcpbridge/hyperspec":       nil,
	"mcpbridge/aside":           {"mcpbridge/rawtext"},
	"mcpbridge/stdio":           {"mcpbridge/rawtext", "mcpbridge/aside"},
	"mcpbridge/stdio/stdiotest": nil,
	"mcpbridge/args":            {"mcpbridge/rawtext"},
	"mcpbridge/render":          {"mcpbridge/rawtext", "swank/lisp"},
	"mcpbridge/spool":           {"mcpbridge/rawtext", "mcpbridge/args", "mcpbridge/render"},
	"mcpbridge/watch":           {"swank/lisp/project", "internal/files"},
	"mcpbridge/flame":           {"swank/lisp"},
	"mcpbridge/fake":            {"swank/lisp"},
	"mcpbridge/tools": {"mcpbridge/rawtext", "mcpbridge/args", "mcpbridge/render", "mcpbridge/spool",
		"mcpbridge/flame", "mcpbridge/syntax", "mcpbridge/hyperspec", "swank/lisp", "swank/lisp/kept", "swank/lisp/project", "internal/files"},
	"mcpbridge": {"swank/lisp", "swank/lisp/kept", "swank/lisp/project", "internal/files"}, // and what is below itself
}

// forTests are the packages that only tests, and these themselves, may import.
var forTests = []string{"internal/await", "internal/pagetest", "internal/tier", "internal/testenv", "internal/stall", "e2e/harness", "e2e/model", "swank/swanktest", "mcpbridge/fake", "mcpbridge/stdio/stdiotest"}

// knowMCP are the packages that may use the MCP SDK, and those that use them.
var knowMCP = []string{"mcpbridge", "mcpbridge/stdio", "serve", "serve/hub", "cmd/swank-mcp"}

func TestDependenciesPointOneWay(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range packages(t) {
		room := strings.TrimPrefix(p.ImportPath, module+"/")
		seen[room] = true
		allowed, known := ours[room]
		if !known {
			t.Errorf("package %s has no place among the rooms", room)
			continue
		}
		for _, path := range p.Imports {
			rest, ok := strings.CutPrefix(path, module+"/")
			below := room == "mcpbridge" && strings.HasPrefix(rest, room+"/")
			if ok && !slices.Contains(allowed, rest) && !below {
				t.Errorf("%s imports %s, which is not below it", room, rest)
			}
			if slices.Contains(forTests, rest) && !slices.Contains(forTests, room) {
				t.Errorf("%s imports %s, which is for tests", room, rest)
			}
		}
		if room == "swank/lisp/journal" && (slices.Contains(p.Imports, "os") || slices.Contains(p.Imports, "io")) {
			t.Errorf("%s does input or output", room)
		}
		inner := room == "sexp" || strings.HasPrefix(room, "swank")
		for _, path := range p.Deps {
			first, _, _ := strings.Cut(path, "/")
			if inner && strings.Contains(first, ".") && !strings.HasPrefix(path, "vendor/") && first != module {
				t.Errorf("%s depends on %s; it may use the standard library only", room, path)
			}
			if !slices.Contains(knowMCP, room) && strings.Contains(path, "modelcontextprotocol/go-sdk") {
				t.Errorf("%s depends on the MCP SDK (%s)", room, path)
			}
			if room == "e2e/wire" && strings.HasPrefix(path, module+"/") {
				t.Errorf("the independent client depends on %s", path)
			}
		}
		for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
			if strings.HasPrefix(room, "e2e") && strings.Contains(path, "modelcontextprotocol/go-sdk") {
				t.Errorf("tests of %s import the MCP SDK", room)
			}
		}
	}
	for _, room := range []string{"sexp", "swank", "swank/lisp/launch", "swank/lisp/attach", "swank/lisp/journal", "swank/lisp", "mcpbridge", "cmd/swank-mcp", "e2e/wire"} {
		if !seen[room] {
			t.Errorf("go list does not know the package %s", room)
		}
	}
}

// files calls f for each text file that belongs to the repository.
func files(t *testing.T, f func(path string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" && !d.IsDir() {
			return nil // of a linked worktree
		}
		if d.IsDir() {
			if name := d.Name(); name == ".git" || name == "node_modules" || name == "bin" || name == "dist" {
				return filepath.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		path, _ = filepath.Rel(tree, path)
		f(path, data)
		return nil
	})
	harness.Check(t, err)
}

func TestFilesAreSmall(t *testing.T) {
	t.Parallel()
	var sizes []int
	files(t, func(path string, data []byte) {
		ext := filepath.Ext(path)
		if ext != ".go" && ext != ".lisp" || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata/") {
			return
		}
		n := bytes.Count(data, []byte("\n"))
		sizes = append(sizes, n)
		if n > 450 {
			t.Errorf("%s has %d lines, more than 450", path, n)
		}
	})
	if len(sizes) == 0 {
		t.Fatal("found no source file")
	}
	slices.Sort(sizes)
	t.Logf("%d files, median %d lines, largest %d", len(sizes), sizes[len(sizes)/2], sizes[len(sizes)-1])
}

func TestGofmt(t *testing.T) {
	t.Parallel()
	files(t, func(path string, data []byte) {
		if filepath.Ext(path) != ".go" {
			return
		}
		if good, err := format.Source(data); err != nil || !bytes.Equal(good, data) {
			t.Errorf("%s is not gofmt-ed (%v)", path, err)
		}
	})
}

// Nothing that is committed may know the machine it was written on.
func TestNoMachineInFiles(t *testing.T) {
	t.Parallel()
	checkout, err := filepath.Abs(tree)
	harness.Check(t, err)
	words := []string{"/" + "work/", "/" + "root/", "registry." + "npmjs", "registry." + "yarnpkg", "proxy." + "golang.org", "sum." + "golang.org", "npm" + "mirror", "files." + "pythonhosted"}
	if len(strings.Split(checkout, "/")) > 2 {
		words = append(words, checkout)
	}
	if home, err := os.UserHomeDir(); err == nil && len(home) > 2 {
		words = append(words, home+"/")
	}
	urls := regexp.MustCompile(`"resolved":\s*"https?:`)
	files(t, func(path string, data []byte) {
		for _, w := range words {
			if i := bytes.Index(data, []byte(w)); i >= 0 {
				t.Errorf("%s contains %q: %q", path, w, data[max(0, i-30):min(len(data), i+60)])
			}
		}
		if urls.Match(data) {
			t.Errorf("%s names a registry", path)
		}
	})
}
