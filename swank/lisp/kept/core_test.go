package kept

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swank-mcp/swank/lisp/journal"
)

// saveTest saves a core of that name and age, of size bytes.
func saveTest(t *testing.T, c *Cores, name string, age time.Duration, size int) {
	t.Helper()
	core := &Core{Name: name, Auto: strings.HasPrefix(name, autoPrefix), Time: time.Now().Add(-age), Work: Work{Sessions: map[string]*journal.Journal{"default": {}}}}
	err := c.Save(t.Context(), core, "; source\n", func(file string, _ Opener) error {
		core.Size, core.Checksum, core.Made = int64(size), 0xabc, []byte(`{"sbcl": "SBCL"}`)
		return os.WriteFile(file, make([]byte, size), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// manifest is the path of what says what a core is.
func manifest(c *Cores, name string) string { return filepath.Join(c.dir, name+manifestSuffix) }

func names(c *Cores) string {
	var all []string
	for _, core := range c.List() {
		all = append(all, core.Name)
	}
	return strings.Join(all, " ")
}

func TestCores(t *testing.T) {
	dir := t.TempDir()
	c, err := CoresIn(nil, filepath.Join(dir, "sessions"), filepath.Join(dir, "keys"))
	if err != nil || names(c) != "" {
		t.Fatalf("at first: %v, %s", err, names(c))
	}
	saveTest(t, c, "old", time.Hour, 10)
	saveTest(t, c, "new", 0, 20)
	if got := names(c); got != "new old" {
		t.Errorf("there are %s", got)
	}
	core, err := c.Find("old")
	if err != nil || core.Size != 10 || core.Checksum != 0xabc || core.Sessions["default"] == nil {
		t.Errorf("found: %+v, %v", core, err)
	}
	if _, err := c.Find("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is none: %v", err)
	}

	// The name is in use, and a failure leaves nothing, also not of those before.
	broken := errors.New("broken")
	for _, name := range []string{"left.core", "left.lisp", temporary + "left.json", temporary + "x.core", "mine.core", "mine.lisp"} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write := func(file string, _ Opener) error { return errors.Join(os.WriteFile(file, nil, 0o600), broken) }
	if err := c.Save(t.Context(), &Core{Name: "old"}, "", write); !errors.Is(err, ErrCoreExists) {
		t.Errorf("of the same name: %v", err)
	}
	if err := c.Save(t.Context(), &Core{Name: "next"}, "", write); !errors.Is(err, broken) {
		t.Errorf("it fails: %v", err)
	}
	files, _ := filepath.Glob(c.dir + "/[a-z]*")
	hidden, _ := filepath.Glob(c.dir + "/.new-*")
	if len(files) != 8 || len(hidden) > 0 { // two cores, and what is somebody's
		t.Errorf("there are %q %q", files, hidden)
	}

	// What is damaged is found, and not in the list.
	if err := os.Truncate(core.Path(), 5); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Find("old"); err == nil || !strings.Contains(err.Error(), "5 bytes, and 10 were written") {
		t.Errorf("of a core that was cut short: %v", err)
	}
	if err := os.WriteFile(manifest(c, "new"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Find("new"); err == nil || !strings.Contains(err.Error(), "damaged") || !errors.Is(err, ErrForeign) || names(c) != "" {
		t.Errorf("of one that does not say what it is: %v, %s", err, names(c))
	}
	if !c.Drop("old") || c.Drop("old") || c.Drop("../old") {
		t.Error("dropped twice, or not")
	}
}

// The oldest that nobody has asked for make room, by count and by size.
func TestCoresArePruned(t *testing.T) {
	c, _ := CoresIn(nil, t.TempDir(), t.TempDir())
	saveTest(t, c, "named", 1000*time.Hour, 10)
	for i := range 7 {
		saveTest(t, c, AutoName(time.Now().Add(time.Duration(i)*time.Second)), time.Duration(100-i)*time.Hour, 10)
	}
	if all := c.List(); len(all) != maxAutos+1 || all[maxAutos].Name != "named" {
		t.Errorf("there are %s", names(c))
	}
	big := &Core{Name: autoPrefix + "big", Auto: true, Time: time.Now()}
	err := c.Save(t.Context(), big, "", func(file string, _ Opener) error {
		big.Size, big.Made = maxAutoBytes+1, []byte("{}")
		return errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, big.Size)) // with a hole
	})
	if got := names(c); err != nil || got != "autosave-big named" {
		t.Errorf("%v; there are %s", err, got)
	}
}

func TestNamesOfCores(t *testing.T) {
	for name, ok := range map[string]bool{"evening": true, "a.b-c_1": true, "last": false, "autosave-1": false, "": false, "a/b": false, ".x": false, "-x": false} {
		if err := CheckName(name); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}
