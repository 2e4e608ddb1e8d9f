//go:build unix

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Of the directories with what images have compiled, those in use stay, and of the others those
// that were used last; what is nobody's of us stays in any case.
func TestCachesArePruned(t *testing.T) {
	t.Parallel()
	all, outside := filepath.Join(t.TempDir(), "sandbox"), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "kept"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	name := func(i int) string { return filepath.Join(all, fmt.Sprintf("%016x", i)) }
	there := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	use := func(i int) (end func()) {
		t.Helper()
		end, err := useCache(name(i))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(name(i), "a.fasl"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, filepath.Join(name(i), "link")); err != nil {
			t.Fatal(err)
		}
		return end
	}
	// Three that stay in use, the oldest of all, and sixty that were used one after the other.
	old := time.Now().Add(-time.Hour)
	var ends []func()
	for i := range 63 {
		end := use(i)
		stamp := old.Add(time.Duration(i) * time.Second)
		if err := os.Chtimes(name(i), stamp, stamp); err != nil {
			t.Fatal(err)
		}
		if ends = append(ends, end); i >= 3 {
			end()
		}
	}
	for _, dir := range []string{"my-cat", "tmp-0123456789abcdef"} {
		if err := os.Mkdir(filepath.Join(all, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	use(3)() // which was removed
	end := use(63)
	entries, err := os.ReadDir(all)
	if err != nil {
		t.Fatal(err)
	}
	var idle []string
	for _, e := range entries {
		if cacheName.MatchString(e.Name()) && !slices.Contains([]string{name(0), name(1), name(2), name(63)}, filepath.Join(all, e.Name())) {
			idle = append(idle, e.Name())
		}
	}
	if len(idle) != keepCaches {
		t.Errorf("%d stay that nobody uses: %s", len(idle), idle)
	}
	for i := range 3 {
		if !there(filepath.Join(name(i), "a.fasl")) {
			t.Errorf("%s, which is used, was removed", name(i))
		}
	}
	if !there(name(3)) || !there(name(62)) || there(name(4)) || there(name(20)) || !there(filepath.Join(all, "my-cat")) || there(filepath.Join(all, "tmp-0123456789abcdef")) {
		t.Errorf("there are %s", entries)
	}
	if !there(filepath.Join(outside, "kept")) {
		t.Error("what a link leads to was removed")
	}
	end()
	// When the last user has gone they go, too.
	for _, end := range ends[:3] {
		end()
	}
	stamp := old.Add(-time.Hour)
	if err := os.Chtimes(name(0), stamp, stamp); err != nil {
		t.Fatal(err)
	}
	use(64)()
	if there(name(0)) {
		t.Error("the oldest stays when nobody uses it any more")
	}
}
