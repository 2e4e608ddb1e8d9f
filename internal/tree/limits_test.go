package tree

import (
	"go/ast"
	"go/constant"
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

// writesDuration reports whether a length of time from a millisecond on is written below n: a unit
// of package time, alone or as a factor of a number, or a number of nanoseconds. A unit is none as a
// divisor, where something is rounded to it, and beside a variable that it makes a length of time.
func writesDuration(n ast.Node) (found bool) {
	var above []ast.Node
	ast.Inspect(n, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		switch n := n.(type) {
		case *ast.SelectorExpr:
			found = found || isUnit(n) && !onlyMeasures(n, above)
		case *ast.CallExpr:
			found = found || slices.ContainsFunc(n.Args, manyNanoseconds) && takesDuration(n)
		}
		above = append(above, n)
		return true
	})
	return found
}

// isUnit reports whether e is a unit of package time from a millisecond on.
func isUnit(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && isName(s.X, "time") && slices.Contains([]string{"Millisecond", "Second", "Minute", "Hour"}, s.Sel.Name)
}

// isName reports whether e is that name.
func isName(e ast.Expr, name string) bool {
	x, ok := e.(*ast.Ident)
	return ok && x.Name == name
}

// onlyMeasures reports whether the unit, below the nodes above it, is no length of time by itself.
func onlyMeasures(unit ast.Expr, above []ast.Node) bool {
	for i := len(above) - 1; i >= 0; i-- {
		switch n := above[i].(type) {
		case *ast.ParenExpr:
			unit = n
		case *ast.BinaryExpr:
			other := n.X
			if other == unit {
				other = n.Y
			}
			switch {
			case (n.Op == token.QUO || n.Op == token.REM) && n.Y == unit:
				return true
			case n.Op == token.MUL:
				return !isNumber(other)
			}
			return false
		case *ast.CallExpr:
			s, ok := n.Fun.(*ast.SelectorExpr)
			if !isName(n.Fun, "float64") {
				return ok && slices.Contains([]string{"Round", "Truncate"}, s.Sel.Name)
			}
			unit = n
		default:
			return false
		}
	}
	return false
}

// isNumber reports whether e is made of numbers alone.
func isNumber(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.ParenExpr:
		return isNumber(e.X)
	case *ast.BinaryExpr:
		return isNumber(e.X) && isNumber(e.Y)
	}
	return false
}

// manyNanoseconds reports whether e is a number that is a millisecond at least.
func manyNanoseconds(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return false
	}
	v := constant.MakeFromLiteral(lit.Value, lit.Kind, 0)
	return (lit.Kind == token.INT || lit.Kind == token.FLOAT) && constant.Compare(v, token.GEQ, constant.MakeInt64(1e6))
}

// takesDuration reports whether a number among the arguments of the call is a length of time.
func takesDuration(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"Duration", "WithTimeout", "WithTimeoutCause", "After", "NewTimer", "NewTicker", "Tick", "Sleep", "DialTimeout", "AfterFunc", "Reset", "Add"}, s.Sel.Name)
}

// What stands for a length of time in Go is found wherever it stands, and nothing else is.
func TestDurationsAreFound(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"time.Sleep(50 * time.Millisecond)":                   true,
		"d := limit + 5*time.Second":                          true,
		"if waited > (2 * time.Minute) { return }":            true,
		"d = min(d, time.Second)":                             true,
		"return cmp.Or(d, time.Minute)":                       true,
		"x := Options{Limit: time.Hour}":                      true,
		"if time.Since(began) > time.Second { return }":       true,
		"half := time.Second / 2":                             true,
		"d := (1 + 2) * time.Second":                          true,
		"for range time.Tick(time.Second) {}":                 true,
		"d := time.Duration(5e9)":                             true,
		"ctx, _ := context.WithTimeout(ctx, 3_000_000_000)":   true,
		"deadline := now.Add(time.Minute)":                    true,
		"d := time.Duration(n) * time.Second":                 false,
		"d := time.Second * time.Duration(n)":                 false,
		"ms := d / time.Millisecond":                          false,
		"text := d.Round(time.Millisecond).String()":          false,
		"d := time.Duration(f * float64(time.Second))":        false,
		"ms := float64(d) / float64(time.Millisecond)":        false,
		"text := fmt.Sprint(d % time.Minute / time.Second)":   false,
		"d := 200 * time.Microsecond":                         false,
		"n.Add(5)":                                            false,
		"d := time.Duration(ticks) * time.Second / perSecond": false,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() { "+code+" }", parser.SkipObjectResolution)
		harness.Check(t, err)
		if got := writesDuration(f.Decls[0]); got != want {
			t.Errorf("%s: a length of time is found: %v, want %v", code, got, want)
		}
	}
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
