package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
)

// TestLimitsAreListed holds docs/limits.md complete: it has a row for each length of time that the
// product contains, which says what that decides, and no other row.
func TestLimitsAreListed(t *testing.T) {
	t.Parallel()
	there := map[string]bool{}
	files(t, func(path string, data []byte) {
		room, _, _ := strings.Cut(path, "/")
		switch {
		case strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata/") || slices.Contains([]string{"e2e", "docs", "packaging", "tools"}, room),
			testsOwn.MatchString(path) || strings.Contains(path, "/fake/") || strings.HasSuffix(filepath.Dir(path), "test"):
		case filepath.Ext(path) == ".go":
			for _, name := range goDurations(t, path, data) {
				there[path+" "+name] = true
			}
		case filepath.Ext(path) == ".lisp":
			for _, name := range lispDurations(string(data)) {
				there[path+" "+name] = true
			}
		case filepath.Ext(path) == ".js":
			for _, name := range scriptDurations(string(data)) {
				there[path+" "+name] = true
			}
		}
	})
	page, err := os.ReadFile(filepath.Join(tree, "docs/limits.md"))
	harness.Check(t, err)
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` `([^`]+)` \\| ([^|]+) \\| ([^|]+) \\|$").FindAllStringSubmatch(string(page), -1) {
		listed[row[1]+" "+row[2]] = true
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if !listed[name] {
			t.Errorf("docs/limits.md has no row for %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if !there[name] {
			t.Errorf("docs/limits.md has a row for %s, which has no length of time", name)
		}
	}
}

// testsOwn matches the paths of packages that only tests use.
var testsOwn = regexp.MustCompile(`^internal/(?:await|stall|pagetest|testenv|tier|tree)/`)

// goDurations returns the names of the constants, variables and functions of a Go file in which
// a length of time is written.
func goDurations(t *testing.T, path string, data []byte) (names []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, data, parser.SkipObjectResolution)
	harness.Check(t, err)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if writesDuration(d.Body) {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && slices.ContainsFunc(v.Values, func(e ast.Expr) bool { return writesDuration(e) }) {
					names = append(names, v.Names[0].Name)
				}
			}
		}
	}
	return names
}

// writesDuration reports whether one of the units of package time from a millisecond on stands
// below n as a factor or a part of a number, or alone: not as a divisor, nor to round.
func writesDuration(n ast.Node) (found bool) {
	unit := func(e ast.Node) bool {
		s, ok := e.(*ast.SelectorExpr)
		if !ok {
			return false
		}
		x, ok := s.X.(*ast.Ident)
		return ok && x.Name == "time" && slices.Contains([]string{"Millisecond", "Second", "Minute", "Hour"}, s.Sel.Name)
	}
	number := func(e ast.Node) bool { _, ok := e.(*ast.BasicLit); return ok }
	waits := []string{"WithTimeout", "After", "NewTimer", "NewTicker", "Sleep", "DialTimeout", "AfterFunc"}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			found = found || n.Op == token.MUL && (number(n.X) && unit(n.Y) || unit(n.X) && number(n.Y)) ||
				n.Op == token.QUO && unit(n.X) && number(n.Y)
		case *ast.CallExpr:
			s, ok := n.Fun.(*ast.SelectorExpr)
			found = found || ok && slices.Contains(waits, s.Sel.Name) && slices.ContainsFunc(n.Args, func(e ast.Expr) bool { return unit(e) })
		case *ast.ValueSpec:
			found = found || slices.ContainsFunc(n.Values, func(e ast.Expr) bool { return unit(e) })
		case *ast.SelectorExpr:
			return false
		}
		return !found
	})
	if e, ok := n.(ast.Expr); ok {
		found = found || unit(e)
	}
	return found
}

var (
	lispDefinition = regexp.MustCompile(`^\((?:defun|defmacro|defmethod|defvar|defparameter|defconstant|defstruct) \(?([^\s()]+)`)
	lispDuration   = regexp.MustCompile(`\(sleep [0-9./]+\)|:(?:timeout|seconds|repeat-interval|sample-interval) (?:\(if \([^()]*\) )?[0-9./]+|` +
		`with-time(?:out|-limit) [0-9./]+|(?:for|over) pause in '\(|\((?:milli|micro)?(?:patience|seconds) [1-9][0-9]*\)|` +
		`\([<>+] .*\(microseconds\).*[a-z)] [1-9][0-9]{3,}\)|\(make-patience [0-9./]+|thread [1-9][0-9]{3,}\)|\(await-(?:able|thread|signal|state) .* [0-9./]+`)
	lispNamed = regexp.MustCompile(`^\((?:defvar|defparameter|defconstant) \S*(?:-seconds|-interval|patience|-microseconds|-time|-limit)[*+] [1-9]`)
	aCount    = regexp.MustCompile(`^\(\S+ (?:\*heap-limit\*|\*unread-limit\*) `) // parts of the heap, messages
)

// lispDurations returns the names of the definitions of a Lisp file in which a length of time
// is written.
func lispDurations(text string) (names []string) {
	name := ""
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(line, "(* 1000000 ", "(* ") // seconds in microseconds
		if m := lispDefinition.FindStringSubmatch(line); m != nil {
			name = m[1]
		}
		written := lispDuration.MatchString(line) || lispNamed.MatchString(line)
		if written && !aCount.MatchString(line) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

var (
	scriptFunction = regexp.MustCompile(`^(?:async )?function (\w+)`)
	scriptDuration = regexp.MustCompile(`set(?:Timeout|Interval)\(.*[0-9]`)
)

// scriptDurations returns the names of the functions of a script of the page in which a length
// of time is written.
func scriptDurations(text string) (names []string) {
	name := ""
	for line := range strings.Lines(text) {
		if m := scriptFunction.FindStringSubmatch(line); m != nil {
			name = m[1]
		}
		if scriptDuration.MatchString(line) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
