package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
)

// mayTakePaths are the packages of the product that call functions of the system with paths, each with
// the reason why no code of a session can put a link in the place of what they open, or why that does
// not matter. All others go through internal/files.
var mayTakePaths = map[string]string{
	"cmd/swank-mcp":      "what the person who starts the server names by flags, before code runs; directories of sessions over HTTP, which lie above those that code may write; the page of watch, in a directory of the server's",
	"internal/files":     "the door itself",
	"mcpbridge/stdio":    "/proc/self/fd",
	"mcpbridge/tools":    "pictures, in a temporary directory of the server's that only its user can enter",
	"people/control":     "sockets, in a directory that only the user can enter and no image in a sandbox reaches",
	"people/transcript":  "the transcript, in the user's state directory, which no image in a sandbox reaches",
	"register":           "the configuration of clients, written by a command that a person calls and that runs no code",
	"sandbox":            "control groups and /proc; the root of an image, which is made before the image runs; what a system and a home have for Lisp to read, but not by what lies where code may write",
	"serve/door":         "the tokens and the socket, which no image in a sandbox reaches",
	"serve/hub":          "handshakes, which no image in a sandbox reaches; sizes of files of sessions, of which nothing is told but the sum",
	"serve/lease":        "leases, in directories that no image in a sandbox reaches",
	"swank":              "the secret of Slime in a person's home",
	"swank/lisp":         "the helper for a person's image, in the cache",
	"swank/lisp/attach":  "/proc",
	"swank/lisp/host":    "/proc",
	"swank/lisp/kept":    "definitions of sessions and the key of checkpoints, in the user's state directory, which no image in a sandbox reaches",
	"swank/lisp/launch":  "the cache and the directories that images run in, which only the user can enter: code may write in one, and not above it; SBCL and Swank; /proc. Cores on the disk are run in the sandbox",
	"swank/lisp/restore": "a new file under a random name in the image's own directory",
}

// takePaths are the functions of os and path/filepath that open, list, make, change or remove what has
// a path, or tell of it.
var takePaths = map[string][]string{
	"os": {"Chmod", "Chown", "Chtimes", "CopyFS", "Create", "CreateTemp", "DirFS", "Lchown", "Link", "Lstat", "Mkdir", "MkdirAll", "MkdirTemp", "Open", "OpenFile",
		"OpenInRoot", "OpenRoot", "ReadDir", "ReadFile", "Readlink", "Remove", "RemoveAll", "Rename", "Stat", "Symlink", "Truncate", "WriteFile"},
	"path/filepath": {"EvalSymlinks", "Glob", "Walk", "WalkDir"},
}

// TestOneDoorToFiles holds that what an image or a client may have written is opened by internal/files
// alone.
func TestOneDoorToFiles(t *testing.T) {
	t.Parallel()
	there := map[string][]string{} // calls by package
	files(t, func(path string, data []byte) {
		room, _, _ := strings.Cut(path, "/")
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata/") || testsOwn.MatchString(path) ||
			slices.Contains([]string{"e2e", "docs", "packaging", "tools"}, room) || strings.HasSuffix(filepath.Dir(path), "test") {
			return
		}
		for _, call := range callsWithPaths(t, path, data) {
			there[filepath.Dir(path)] = append(there[filepath.Dir(path)], call)
		}
	})
	for _, room := range slices.Sorted(maps.Keys(there)) {
		if mayTakePaths[room] == "" {
			t.Errorf("%s takes paths:\n  %s", room, strings.Join(there[room], "\n  "))
		}
	}
	for _, room := range slices.Sorted(maps.Keys(mayTakePaths)) {
		if there[room] == nil {
			t.Errorf("%s takes no paths any more", room)
		}
	}
	if len(there["internal/files"]) == 0 {
		t.Error("no call is found")
	}
}

// callsWithPaths returns the calls in a file, with their places.
func callsWithPaths(t *testing.T, path string, data []byte) (calls []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, data, 0)
	harness.Check(t, err)
	names := map[string][]string{} // of functions, by what the package is called here
	for _, spec := range file.Imports {
		of, err := strconv.Unquote(spec.Path.Value)
		harness.Check(t, err)
		if functions := takePaths[of]; functions != nil {
			name := of[strings.LastIndexByte(of, '/')+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			names[name] = functions
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && slices.Contains(names[x.Name], s.Sel.Name) {
				calls = append(calls, set.Position(s.Pos()).String()+": "+x.Name+"."+s.Sel.Name)
			}
		}
		return true
	})
	return calls
}
