package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"swank-mcp/internal/tier"
)

// smallDisk mounts a disk of a given size; only root can.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("mounting a small disk needs root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	return dir
}

func TestFullDiskWhileSavingTheCore(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	c := testConfig(t)
	c.NoCore, c.CacheDir = false, smallDisk(t, "16m")
	p := startTest(t, c)
	if len(p.notes) > 0 {
		t.Errorf("notes %q", p.notes)
	}
	err := buildTestCore(t, p)
	if err == nil || !strings.Contains(err.Error(), "no space left on device") || !strings.Contains(err.Error(), "MiB left") {
		t.Fatalf("error %v", err)
	}
	// And if the disk fills up while the core is written.
	plan := launchPlan{save: filepath.Join(c.CacheDir, "image.core")}
	if saver, err := p.image.launch(t.Context(), plan); err == nil {
		saver.Close(t.Context())
		check, err := p.image.launch(t.Context(), launchPlan{core: plan.save})
		if err == nil {
			check.Close(t.Context())
			t.Error("a core of 40 MB was saved on a disk of 16 MB, and starts")
		}
	}
	_ = os.Remove(plan.save)
	if left := leftovers(t, c); len(left) > 0 {
		t.Errorf("left in the cache: %q", left)
	}
	q := startTest(t, c)
	if got := eval(t, q, "(cl:+ 1 2)"); got != "(:return (:ok 3) 1)" {
		t.Errorf("got %s", got)
	}
}

func TestFullDiskWhileCompiling(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	c.NoCore, c.CacheDir = false, smallDisk(t, "200k")
	p := startTest(t, c)
	if got := eval(t, p, "(cl:+ 1 2)"); got != "(:return (:ok 3) 1)" {
		t.Errorf("got %s", got)
	}
	if notes := strings.Join(p.notes, "\n"); !strings.Contains(notes, "without the cache") {
		t.Errorf("notes %q", notes)
	}
}

// A cache that others have made may be one that only they write.
func TestReadOnlyCacheIsUsed(t *testing.T) {
	t.Parallel()
	c := coreConfig(t)
	if err := buildTestCore(t, startTest(t, c)); err != nil {
		t.Fatal(err)
	}
	disk := smallDisk(t, "100m")
	if out, err := exec.Command("cp", "-a", c.CacheDir+"/.", disk).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("making a disk read-only: %v", err)
	}
	c.CacheDir = disk
	p := startTest(t, c)
	if !p.fromCore || len(p.notes) > 0 {
		t.Errorf("from the core %v, notes %q", p.fromCore, p.notes)
	}
	if p.WantsCore() {
		t.Error("wants a core")
	}
}
