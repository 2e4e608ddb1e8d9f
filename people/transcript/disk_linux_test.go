package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/internal/await"
)

// smallDisk is a directory on a disk of its own of so many bytes.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatalf("mounting a small disk: %v; the tests run as root", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// A full disk costs the entries of its time. The file stays whole lines and says how many
// are missing; the transcript says so meanwhile.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, "128k")
	filler := filepath.Join(dir, "filler")
	tr := newTest(t, dir)
	sent := 0
	send := func(n int) {
		for range n {
			tr.Add(Entry{Kind: "begun", Session: "a", Code: strings.Repeat("x", 5000)})
			sent++
			time.Sleep(time.Millisecond)
		}
	}
	send(5)
	await.True(t, "the first file", func() bool { paths, _ := tr.Kept(); return len(paths) == 1 })
	if err := os.WriteFile(filler, make([]byte, 64<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	send(30)
	await.True(t, "the full disk to be told", func() bool { _, problem := tr.Kept(); return strings.Contains(problem, "no space left") })
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	time.Sleep(retry)
	send(1)
	await.True(t, "the problem to be over", func() bool { _, problem := tr.Kept(); return problem == "" })
	if err := tr.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	kept, gone := 0, 0
	for _, e := range read(t, onlyFile(t, tr)) {
		switch e.Kind {
		case "begun":
			kept++
		case KindLeftOut:
			gone += int(e.Count)
			if !strings.Contains(e.Text, "no space left") {
				t.Errorf("it says %s", e.Text)
			}
		}
	}
	if kept+gone != sent || gone == 0 || kept < 6 {
		t.Errorf("of %d entries %d are there, %d said to be missing", sent, kept, gone)
	}
}

// Where the disk takes nothing at all, entries are in memory.
func TestReadOnlyDisk(t *testing.T) {
	dir := smallDisk(t, "128k")
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	tr := newTest(t, filepath.Join(dir, "transcripts"))
	tr.Add(Entry{Kind: "begun", Session: "a"})
	await.True(t, "the read-only disk to be told", func() bool { _, problem := tr.Kept(); return strings.Contains(problem, "read-only") })
	if lines, missed, err := tr.After(0).Next(t.Context()); len(lines) != 1 || missed != 0 || err != nil {
		t.Errorf("read %d lines: %v", len(lines), err)
	}
	if err := tr.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
