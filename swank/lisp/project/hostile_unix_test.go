//go:build unix

package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A project that was cloned, or that others write to, has whatever they want in the place of its
// files. None of it is waited for, or read without an end.
func TestHostileFiles(t *testing.T) {
	for name, put := range map[string]func(file string) error{
		"pipe":   func(file string) error { return syscall.Mkfifo(file, 0o600) },
		"device": func(file string) error { return os.Symlink("/dev/zero", file) },
		"pipe by a link": func(file string) error {
			return errors.Join(syscall.Mkfifo(file+".pipe", 0o600), os.Symlink(filepath.Base(file)+".pipe", file))
		},
		"folder":         func(file string) error { return os.Mkdir(file, 0o700) },
		"link to itself": func(file string) error { return os.Symlink(filepath.Base(file), file) },
		"link out":       func(file string) error { return os.Symlink("/etc/passwd", file) },
		"sparse":         func(file string) error { return errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, 4<<30)) },
		"many lines": func(file string) error {
			return os.WriteFile(file, []byte(strings.Repeat("a, b, c/d.asd\n", 2_000_000)), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			if err := errors.Join(put(at(ocicl)), put(at("app.asd")), os.Mkdir(at("sub"), 0o700),
				os.WriteFile(at("sub/ours.asd"), []byte(`(defsystem "ours")`), 0o600)); err != nil {
				t.Fatal(err)
			}
			p := Find(t.Context(), nil, dir)
			if len(p.Managers) > 0 || len(p.Dependencies) > 0 {
				t.Errorf("%q keep %q", p.Managers, p.Dependencies)
			}
			if found := fmt.Sprint(p.Definitions); !strings.Contains(found, "ours.asd") {
				t.Errorf("found %s", found)
			}
			if system, err := p.TestSystem(); err == nil {
				t.Errorf("a system of tests: %q", system)
			}
		})
	}
}

// A link within the project is a file of the project.
func TestLinkInProject(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "sub"), 0o700),
		os.WriteFile(filepath.Join(dir, "sub", "app.lisp"), []byte(`(defsystem "app/tests")`), 0o600),
		os.Symlink("sub/app.lisp", filepath.Join(dir, "app.asd"))); err != nil {
		t.Fatal(err)
	}
	if system, err := Find(t.Context(), nil, dir).TestSystem(); system != "app/tests" || err != nil {
		t.Errorf("%q, %v", system, err)
	}
}
