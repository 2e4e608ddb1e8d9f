package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTestSystem(t *testing.T) {
	for _, c := range []struct{ name, text, want, err string }{
		{name: "called so", text: `(defsystem "app") (asdf:defsystem #:app/tests :perform (test-op (o c)))`, want: "app/tests"},
		{name: "first on its line", text: "(defsystem \"app\")\n(defsystem :App-Test)", want: "app-test"},
		{name: "with a test-op", text: "(defsystem \"lib\")\n(defsystem \"app\" :perform (test-op (o c)))", want: "app"},
		{name: "a comment", text: "; (defsystem \"old-tests\")\n(defsystem \"app\"\n  :perform (test-op (o c)))", want: "app"},
		{name: "two", text: "(defsystem \"a-tests\")\n(defsystem \"b-tests\")",
			err: "the project in DIR has more than one system with tests: a-tests, b-tests"},
		{name: "none", text: "(defsystem \"contest\")",
			err: "no system of the project in DIR is called as if it had tests, and none has a test-op: contest"},
		{name: "no definition", text: "", err: "there is no definition of a system (*.asd) in DIR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "app.asd")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			p := &Project{Dirs: []string{dir}, Definitions: []string{file}}
			c.err = strings.ReplaceAll(c.err, "DIR", dir)
			got, err := p.TestSystem()
			if got != c.want || err == nil != (c.err == "") || err != nil && err.Error() != c.err {
				t.Errorf("%q, %v; want %q, %s", got, err, c.want, c.err)
			}
		})
	}
	if _, err := new(Project).TestSystem(); err == nil {
		t.Error("no project has a test system")
	}
}
