package kept

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func inDir(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// A core is a server's of this user only with the seal under the user's key: not one that
// was changed, and not one that came from elsewhere.
func TestSeal(t *testing.T) {
	t.Parallel()
	dir, keys := t.TempDir(), filepath.Join(t.TempDir(), "state")
	c, _ := CoresIn(nil, dir, keys)
	saveTest(t, c, "mine", 0, 10)
	foreign := func(c *Cores, name string) error {
		t.Helper()
		core, err := c.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		return core.Foreign()
	}
	if err := foreign(c, "mine"); err != nil {
		t.Errorf("of what was saved: %v", err)
	}
	other, _ := CoresIn(nil, dir, t.TempDir())
	if err := foreign(other, "mine"); !errors.Is(err, ErrForeign) {
		t.Errorf("without a key: %v", err)
	}
	saveTest(t, other, "theirs", 0, 10)
	if err := foreign(other, "theirs"); err != nil {
		t.Errorf("of another user, for whom it is: %v", err)
	}
	if err := foreign(c, "theirs"); !errors.Is(err, ErrForeign) {
		t.Errorf("of another user: %v", err)
	}
	if err := os.Remove(filepath.Join(c.dir, "theirs.core")); err != nil {
		t.Fatal(err)
	}
	if err := foreign(c, "theirs"); !errors.Is(err, ErrForeign) {
		t.Errorf("of another user, and without a core: %v", err)
	}
	text, err := os.ReadFile(manifest(c, "mine"))
	if err != nil {
		t.Fatal(err)
	}
	core, _ := c.Find("mine")
	for what, changed := range map[string]string{
		"the checksum": strings.Replace(string(text), `"00000abc"`, `"00000abd"`, 1),
		"what follows": string(text) + "\n",
		"the seal":     strings.Replace(string(text), core.Seal, noSeal, 1),
		"no seal":      strings.Replace(string(text), core.Seal, "", 1),
	} {
		if changed == string(text) {
			t.Fatalf("%s is not there:\n%s", what, text)
		}
		if err := os.WriteFile(manifest(c, "mine"), []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := foreign(c, "mine"); !errors.Is(err, ErrForeign) {
			t.Errorf("with a change of %s: %v", what, err)
		}
	}
	for path, mode := range map[string]os.FileMode{c.dir: 0o700, core.Path(): 0o600, core.Source(): 0o600, manifest(c, "mine"): 0o600, filepath.Join(keys, KeyFile): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
	}
}

// What is somebody's in the directory stays, whatever it is called, and nothing is written
// through a link.
func TestOthersFilesStay(t *testing.T) {
	t.Parallel()
	dir := inDir(t, map[string]string{".swank-mcp/notes.lisp": "theirs", ".swank-mcp/x.core": "theirs", ".swank-mcp/.gitignore": "!*\n", "src.lisp": "source"})
	if err := os.Chmod(filepath.Join(dir, ".swank-mcp"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../src.lisp", filepath.Join(dir, ".swank-mcp", temporary+"a.lisp")); err != nil {
		t.Fatal(err)
	}
	c, _ := CoresIn(nil, dir, t.TempDir())
	saveTest(t, c, "a", 0, 10)
	for _, name := range []string{"notes", "x"} {
		err := c.Save(t.Context(), &Core{Name: name}, "", func(string, Opener) error { t.Error("it is written"); return nil })
		if err == nil || !strings.Contains(err.Error(), "is there already") {
			t.Errorf("under the name %s of a file: %v", name, err)
		}
	}
	if !c.Drop("a") {
		t.Error("not dropped")
	}
	for name, want := range map[string]string{".swank-mcp/notes.lisp": "theirs", ".swank-mcp/x.core": "theirs", ".swank-mcp/.gitignore": "!*\n", "src.lisp": "source"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); string(text) != want {
			t.Errorf("%s has %q, %v", name, text, err)
		}
	}
	if info, err := os.Stat(c.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory has mode %v, %v", info.Mode(), err)
	}
}

// A link in the place of the directory is not followed.
func TestLinkInsteadOfDirectory(t *testing.T) {
	t.Parallel()
	for link, files := range map[string]map[string]string{".": {"src.lisp": "x", "a.json": "x", temporary + "src.json": "x"}, "nowhere": {"src.lisp": "x"}} {
		dir := inDir(t, files)
		if err := os.Symlink(link, filepath.Join(dir, CoresDir)); err != nil {
			t.Fatal(err)
		}
		c, _ := CoresIn(nil, dir, t.TempDir())
		err := c.Save(t.Context(), &Core{Name: "new", Time: time.Now()}, "", func(string, Opener) error { t.Error("it is written"); return nil })
		if err == nil || !strings.Contains(err.Error(), "is not a directory, but a link or a file") {
			t.Errorf("through a link to %s: %v", link, err)
		}
		if c.Drop("a") {
			t.Error("dropped through a link")
		}
		if found, _ := os.ReadDir(dir); len(found) != len(files)+1 {
			t.Errorf("there are %v", found)
		}
	}
}
