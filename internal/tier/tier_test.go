package tier

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMarks finds every mark where scripts/test looks for it: as the first statement of a
// test, whose name no test without this mark has. Then one command runs it, and only one. The tests
// whose tries are more each night are found likewise, so they call Tries themselves.
func TestMarks(t *testing.T) {
	tiers := map[string]string{} // of the name of a test
	marks := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../../internal/tier/") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		first, tries := 0, 0
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") || f.Name.Name == "TestMain" || f.Recv != nil {
				continue
			}
			mark := markOf(f)
			if mark != "" {
				first++
			}
			if before, ok := tiers[f.Name.Name]; ok && before != mark {
				t.Errorf("%s: another %s is of the tier %q, not %q: scripts/test finds them by their names", path, f.Name.Name, before, mark)
			}
			tiers[f.Name.Name] = mark
			tries += bytes.Count(text[f.Pos()-file.FileStart:f.End()-file.FileStart], []byte("tier.Tries("))
		}
		if n := bytes.Count(text, []byte("tier.Tries(")); n != tries {
			t.Errorf("%s calls tier.Tries %d times, %d of them in a test", path, n, tries)
		}
		if n := bytes.Count(text, []byte("tier.More(")) + bytes.Count(text, []byte("tier.Nightly(")); n != first {
			t.Errorf("%s has %d marks, %d of them as the first statement of a test", path, n, first)
		}
		marks += first
		return nil
	})
	if err != nil || marks == 0 {
		t.Fatalf("%d marks, %v", marks, err)
	}
}

// markOf returns More or Nightly if f begins with that, or else "".
func markOf(f *ast.FuncDecl) string {
	if len(f.Body.List) == 0 {
		return ""
	}
	statement, _ := f.Body.List[0].(*ast.ExprStmt)
	if statement == nil {
		return ""
	}
	call, _ := statement.X.(*ast.CallExpr)
	if call == nil {
		return ""
	}
	sel, _ := call.Fun.(*ast.SelectorExpr)
	if sel == nil {
		return ""
	}
	if pkg, _ := sel.X.(*ast.Ident); pkg == nil || pkg.Name != "tier" {
		return ""
	}
	if name := sel.Sel.Name; name == "More" || name == "Nightly" {
		return name
	}
	return ""
}
