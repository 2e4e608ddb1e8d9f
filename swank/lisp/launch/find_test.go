package launch

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/swank/lisp/host"
)

// fakeSwank makes a directory that looks like Swank's.
func fakeSwank(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"swank-loader.lisp", "swank.lisp"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFindSwankOrder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	quicklisp := filepath.Join(dir, "quicklisp", "dists", "quicklisp", "software")
	fakeSwank(t, filepath.Join(quicklisp, "slime-v2.29"))
	fakeSwank(t, filepath.Join(quicklisp, "slime-v2.9")) // older, though its name sorts last
	newest := fakeSwank(t, filepath.Join(quicklisp, "slime-v2.30"))
	if err := os.Mkdir(filepath.Join(quicklisp, "slime-v2.31"), 0o700); err != nil { // empty
		t.Fatal(err)
	}
	asdf := fakeSwank(t, filepath.Join(dir, "common-lisp", "slime"))
	emacs := fakeSwank(t, filepath.Join(dir, ".emacs.d", "elpa", "slime-20240101.1"))

	expect := func(c Config, want string) {
		t.Helper()
		if got, err := FindSwank(t.Context(), c); err != nil || got.Path != want {
			t.Errorf("got %+v, %v; want %s", got, err, want)
		}
	}
	expect(Config{SwankDir: emacs}, emacs)
	expect(Config{}, newest)
	_ = os.RemoveAll(filepath.Join(dir, "quicklisp"))
	expect(Config{}, asdf)
	places := strings.Join(swankPlaces(dir), "\n")
	system, elpa := strings.Index(places, "/usr/share/common-lisp/source/slime"), strings.Index(places, ".emacs.d/elpa")
	if system < 0 || elpa < system || strings.Index(places, "quicklisp") > system {
		t.Errorf("order:\n%s", places)
	}
}

func TestCompareVersions(t *testing.T) {
	t.Parallel()
	inOrder := []string{"slime", "slime-2", "slime-2.9", "slime-2.09.1", "slime-2.30", "slime-2.30.1", "slime-20240101.1", "slime-20240101.12", "slime-v2.9", "slime-v2.30"}
	for i, a := range inOrder {
		for j, b := range inOrder {
			if got, want := compareVersions(a, b), cmp.Compare(i, j); got != want {
				t.Errorf("compareVersions(%s, %s) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestFindSwankSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	var start *host.StartError
	_, err := FindSwank(t.Context(), Config{SwankDir: t.TempDir()})
	if !errors.As(err, &start) || !strings.Contains(start.Problem, "swank-loader.lisp") || start.Advice == "" {
		t.Errorf("error %v", err)
	}
}

func TestFindSBCLSaysHowToInstall(t *testing.T) {
	var start *host.StartError
	_, err := FindSBCL(Config{SBCL: "no-such-sbcl"})
	if !errors.As(err, &start) || !strings.Contains(start.Problem, "no-such-sbcl") {
		t.Fatalf("error %v", err)
	}
	for program, want := range map[string]string{
		"apt-get": "sudo apt-get install sbcl", "dnf": "sudo dnf install sbcl", "pacman": "sudo pacman -S sbcl",
		"brew": "brew install sbcl", "nothing": "https://www.sbcl.org/",
	} {
		bin := t.TempDir()
		if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", bin)
		_, err := FindSBCL(Config{SBCL: "no-such-sbcl"})
		if !errors.As(err, &start) || !strings.Contains(start.Advice, want) {
			t.Errorf("with %s: %v", program, err)
		}
		if got := installAdvice("cl-swank"); (program == "apt-get") != strings.Contains(got, "cl-swank") || !strings.HasPrefix(got, "Install it: ") {
			t.Errorf("with %s: %s", program, got)
		}
	}
}

func TestFindSBCLOutsideOfPath(t *testing.T) {
	needSBCL(t)
	t.Setenv("PATH", t.TempDir())
	for _, c := range []Config{{}, {SBCL: "sbcl"}} {
		if got, err := FindSBCL(c); err != nil || !filepath.IsAbs(got.Path) || len(got.Looked) < 2 {
			t.Errorf("%+v: got %+v, %v", c, got, err)
		}
	}
}

func TestAskForSwank(t *testing.T) {
	needSBCL(t)
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	hidden := fakeSwank(t, filepath.Join(dir, "somewhere", "slime"))
	if err := os.WriteFile(filepath.Join(hidden, "swank.asd"), []byte(`(asdf:defsystem :swank)`), 0o600); err != nil {
		t.Fatal(err)
	}
	rc := `(require :asdf) (push #p"` + hidden + `/" (symbol-value (find-symbol "*CENTRAL-REGISTRY*" :asdf)))`
	if err := os.WriteFile(filepath.Join(dir, ".sbclrc"), []byte(rc), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := askForSwank(t.Context(), Config{}); got != hidden {
		t.Errorf("got %q, want %q", got, hidden)
	}
	if got := askForSwank(t.Context(), Config{NoUserInit: true}); got == hidden {
		t.Errorf("the init file was loaded")
	}
}

// A start that is given up does not leave an SBCL behind that is being asked.
func TestAskForSwankEndsWithItsContext(t *testing.T) {
	t.Parallel()
	slow := filepath.Join(t.TempDir(), "sbcl")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nexec sleep 1000000\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	await.Do(t, "the search ends with its context", func() {
		if got := askForSwank(ctx, Config{SBCL: slow}); got != "" {
			t.Errorf("got %q", got)
		}
	})
}
