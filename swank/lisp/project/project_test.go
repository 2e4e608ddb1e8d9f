package project

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree makes the files, which end up with their names as contents unless one is given
// behind a blank, and returns their directory.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		name, text, _ := strings.Cut(f, " ")
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	tests := []struct {
		name     string
		files    []string
		own      string // definitions, below the directory
		kept     string // those of dependencies
		managers string
	}{
		{"none", []string{"README.md", "src/a.lisp"}, "", "", ""},
		{"some", []string{"app.asd", "App-Tests.asd", "lib/text/text.asd"}, "App-Tests.asd app.asd lib/text/text.asd", "", ""},
		{"left out", []string{"a.asd", ".git/b.asd", "build/c.asd", "node_modules/d.asd", ".qlot/e.asd", ".asd"}, "a.asd", "", ""},
		{"twice: the upper one", []string{"old/deep/a.asd", "z/a.asd", "y/a.asd"}, "y/a.asd", "", ""},
		{"two names: strings do not fold", []string{"old/deep/a.asd", "z/a.asd", "y/A.asd"}, "y/A.asd z/a.asd", "", ""},
		{"Qlot", []string{"a.asd", "qlfile", ".qlot/dists/ql/software/b-1/b.asd", ".qlot/dists/ql/software/b-1/t/b-t.asd"}, "a.asd",
			".qlot/dists/ql/software/b-1/b.asd .qlot/dists/ql/software/b-1/t/b-t.asd", "Qlot"},
		{"ocicl", []string{"a.asd", "ocicl.csv b,ghcr.io/x/b:1,b-1/b.asd\nc,x,../../c.asd\nd,x,gone/d.asd\nno line\n", "ocicl/b-1/b.asd", "ocicl/b-1/x.asd"},
			"a.asd", "ocicl/b-1/b.asd", "ocicl"},
		{"a folder called as ocicl's", []string{"systems/a.asd"}, "systems/a.asd", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := tree(t, tt.files...)
			p := Find(t.Context(), nil, dir)
			below := func(files []string) string {
				for i, f := range files {
					files[i], _ = filepath.Rel(dir, f)
				}
				return filepath.ToSlash(strings.Join(files, " "))
			}
			got := []string{below(p.Definitions), below(p.Dependencies), strings.Join(p.Managers, " ")}
			if d := cmp.Diff([]string{tt.own, tt.kept, tt.managers}, got); d != "" {
				t.Error(d)
			}
			if p.Cut {
				t.Error("it was cut")
			}
		})
	}
}

// TestFindIsBounded: a directory without end ends, what lies high is found, and links
// lead nowhere.
func TestFindIsBounded(t *testing.T) {
	dir := tree(t, "a.asd", strings.Repeat("d/", maxDepth)+"deep.asd", "x/y.txt")
	if err := os.Symlink(dir, filepath.Join(dir, "x", "around")); err != nil {
		t.Fatal(err)
	}
	p := Find(t.Context(), nil, dir)
	if d := cmp.Diff([]string{"a"}, p.Systems()); d != "" || !p.Cut {
		t.Errorf("cut: %v; %s", p.Cut, d)
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	if p := Find(over, nil, dir); !p.Cut || len(p.Definitions) > 0 {
		t.Errorf("after the end: %+v", p)
	}
	if p := Find(t.Context(), nil, filepath.Join(dir, "not there")); len(p.Files()) > 0 || p.Cut {
		t.Errorf("of a directory that is not there: %+v", p)
	}
}
