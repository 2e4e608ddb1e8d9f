package kept

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// Code of a session that puts a link in the place of the directory of the cores, or of the one that it
// is in, at whatever moment, has nothing outside written, read or removed.
func TestSwappedWhileItIsUsed(t *testing.T) {
	tier.More(t)
	t.Parallel()
	for _, swapped := range []string{CoresDir, "sessions"} {
		t.Run(swapped, func(t *testing.T) {
			t.Parallel()
			project, outside := t.TempDir(), t.TempDir()
			sessions := filepath.Join(project, "sessions")
			names := []string{"drop.json", "drop.core", "drop.lisp", "save.lisp", temporary + "save.lisp", ".lock", ".gitignore"}
			theirs := outside // where the link leads, files have the names that cores have
			at, other := filepath.Join(sessions, CoresDir), filepath.Join(sessions, "other")
			if swapped == "sessions" {
				theirs = filepath.Join(outside, CoresDir)
				at, other = sessions, filepath.Join(project, "other")
			}
			if err := errors.Join(os.MkdirAll(filepath.Join(sessions, CoresDir), 0o700), os.MkdirAll(theirs, 0o755), os.Symlink(outside, other)); err != nil {
				t.Fatal(err)
			}
			for _, name := range names {
				if err := os.WriteFile(filepath.Join(theirs, name), []byte("theirs"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			c, err := CoresIn(nil, sessions, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			c.trees.Add(project)
			ended := make(chan struct{})
			var swaps int
			var swapping sync.WaitGroup
			swapping.Go(func() {
				for {
					select {
					case <-ended:
						return
					default:
						if err := unix.Renameat2(unix.AT_FDCWD, at, unix.AT_FDCWD, other, unix.RENAME_EXCHANGE); err != nil {
							t.Error(err)
							return
						}
						swaps++
					}
				}
			})
			saved, dropped := 0, 0
			for i := range 1_000 {
				// Nothing that the image writes is looked for where its path leads.
				err := c.Save(t.Context(), &Core{Name: "save", Time: time.Now()}, "; of the attacker's", func(_ string, open Opener) error {
					f, err := openNew(c, "save")
					if err != nil {
						return err
					}
					return f.Close()
				})
				if err == nil {
					saved++
				}
				c.List()
				for _, name := range []string{"drop", "save"} {
					if c.Drop(name) {
						dropped++
					}
				}
				if i%100 == 0 {
					untouched(t, theirs, names)
				}
			}
			close(ended)
			swapping.Wait()
			untouched(t, theirs, names)
			t.Logf("%d swaps; %d of 1,000 saved, %d of 2,000 dropped", swaps, saved, dropped)
			if swaps < 100 {
				t.Errorf("%d swaps", swaps)
			}
		})
	}
}

// openNew makes the file of a core that is being saved, as an image does that is confined.
func openNew(c *Cores, name string) (*os.File, error) {
	at, err := c.open()
	if err != nil {
		return nil, err
	}
	defer at.close()
	return at.root.OpenFile(temporary+name+coreSuffix, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
}

func untouched(t *testing.T, dir string, names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(names) {
		t.Fatalf("outside is %v, %v", entries, err)
	}
	for _, name := range names {
		info, statErr := os.Stat(filepath.Join(dir, name))
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err := errors.Join(err, statErr); err != nil || string(text) != "theirs" || info.Mode().Perm() != 0o644 {
			t.Fatalf("%s outside: %q, %v", name, text, err)
		}
	}
}

// What is in the place of a manifest costs no more than a manifest, and a foreign one less.
func TestManifestsAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, err := CoresIn(nil, dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	saveTest(t, c, "own", 0, 10)
	long := strings.Repeat(" ", maxForeign)
	foreign := fmt.Sprintf("{\n  \"seal\": %q,\n  \"name\": \"foreign\"%s}", noSeal, long)
	for name, text := range map[string]string{"foreign": foreign, "other": `{"name": "other"` + long + "}"} {
		if err := os.WriteFile(manifest(c, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sparse", "sparse2"} {
		if err := errors.Join(os.WriteFile(manifest(c, name), nil, 0o600), os.Truncate(manifest(c, name), 4<<30)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(manifest(c, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	await.Do(t, "the list", func() {
		for _, name := range []string{"foreign", "other", "sparse", "pipe"} {
			if core, err := c.Find(name); core != nil || !errors.Is(err, ErrForeign) {
				t.Errorf("%s: %+v, %v", name, core, err)
			}
		}
		if got := names(c); got != "own" {
			t.Errorf("there are %s", got)
		}
	})
	// Our own may be longer.
	core := &Core{Name: "large", Time: time.Now(), Summary: long}
	if err := c.Save(t.Context(), core, "", func(file string, _ Opener) error { return os.WriteFile(file, nil, 0o600) }); err != nil {
		t.Fatal(err)
	}
	if found, err := c.Find("large"); err != nil || found.Foreign() != nil {
		t.Errorf("%v", err)
	}
	text, err := os.ReadFile(manifest(c, "large"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(manifest(c, "large"), bytes.Replace(text, []byte(long), []byte(long[1:]+"x"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := c.Find("large"); found != nil || !errors.Is(err, ErrForeign) {
		t.Errorf("changed: %+v, %v", found, err)
	}
	core = &Core{Name: "huge", Time: time.Now(), Summary: strings.Repeat(" ", maxManifest)}
	err = c.Save(t.Context(), core, "", func(file string, _ Opener) error { return os.WriteFile(file, nil, 0o600) })
	if err == nil || !strings.Contains(err.Error(), "more than 16") {
		t.Errorf("too large: %v", err)
	}
}
