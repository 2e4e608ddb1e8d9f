package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// read returns the lines of a file, each of which must be JSON.
func read(t *testing.T, path string) (all []Entry) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var e Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil || !strings.HasSuffix(line, "\n") {
			t.Fatalf("%s has the line %q: %v", path, line, err)
		}
		all = append(all, e)
	}
	return all
}

func newTest(t *testing.T, dir string) *Transcript {
	t.Helper()
	tr := New(Options{Dir: dir, Head: Entry{PID: 7, Version: "test"}})
	t.Cleanup(func() { tr.Close(context.Background()) })
	return tr
}

func onlyFile(t *testing.T, tr *Transcript) string {
	t.Helper()
	paths, problem := tr.Kept()
	if len(paths) != 1 || problem != "" {
		t.Fatalf("it is in %v, %s", paths, problem)
	}
	return paths[0]
}

// Each reader reads each entry once and in order, however slow it is, or is told how many
// it has missed.
func TestReaders(t *testing.T) {
	tr := newTest(t, "")
	slow, fast := tr.After(0), tr.Last(0)
	pad := strings.Repeat("x", 1000)
	got := make(chan int64)
	go func() {
		last := int64(0)
		for {
			lines, missed, err := fast.Next(context.Background())
			last += missed
			for _, l := range lines {
				if last++; l.N != last {
					t.Errorf("read entry %d after %d", l.N, last-1)
				}
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Error(err)
				}
				got <- last
				return
			}
		}
	}()
	const entries = 5000
	for range entries {
		tr.Add(Entry{Kind: KindPerson, Text: pad})
	}
	lines, missed, err := slow.Next(t.Context())
	if err != nil || missed == 0 || lines[0].N != missed+1 || int(missed) < entries-maxMemory/1000 {
		t.Errorf("the slow reader has missed %d and begins with %d: %v", missed, lines[0].N, err)
	}
	if lines, missed, err := tr.Last(3).Next(t.Context()); err != nil || missed != 0 || len(lines) != 3 || lines[2].N != entries {
		t.Errorf("the last three are %d lines: %v", len(lines), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, _, err := tr.Last(0).Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("there is nothing: %v", err)
	}
	if err := tr.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if last := <-got; last != entries {
		t.Errorf("the other reader has come to %d", last)
	}
}

// A session has a file of its own, which is the user's alone. What is of no session is in
// all, also what came before.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "transcripts")
	tr := newTest(t, dir)
	tr.Add(Entry{Kind: "image started"})
	tr.Add(Entry{Kind: "begun", Session: "a", Code: "<&>\u2028\x1b"})
	tr.Add(Entry{Kind: "output", Session: "a"})
	tr.Add(Entry{Kind: "begun", Session: "b"})
	tr.Add(Entry{Kind: "image ended"})
	if err := tr.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	paths, _ := tr.Kept()
	if len(paths) != 2 {
		t.Fatalf("it is in %v", paths)
	}
	for i, session := range []string{"a", "b"} {
		var kinds []string
		for _, e := range read(t, paths[i]) {
			kinds = append(kinds, e.Kind)
			if e.Kind == "begun" && e.Session != session || e.Session == "a" && e.Kind == "begun" && e.Code != "<&>\u2028\x1b" {
				t.Errorf("%s has %+v", paths[i], e)
			}
		}
		if got := strings.Join(kinds, ", "); got != "server, image started, begun, image ended" {
			t.Errorf("%s has %s", paths[i], got)
		}
	}
	for path, want := range map[string]os.FileMode{paths[0]: 0o600, dir: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// A session takes two files at most, and the newer one says how many entries are gone.
func TestFilesAreBounded(t *testing.T) {
	tr := newTest(t, t.TempDir())
	pad := strings.Repeat("x", 20_000)
	const entries = 800 // 16 MB
	for range entries {
		tr.Add(Entry{Kind: "begun", Session: "a", Code: pad})
		time.Sleep(100 * time.Microsecond) // so that the disk can follow
	}
	if err := tr.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	path := onlyFile(t, tr)
	newer, older := read(t, path), read(t, strings.TrimSuffix(path, ".jsonl")+".before.jsonl")
	kept, gone := 0, int64(0)
	for _, e := range append(older[2:], newer...) {
		switch e.Kind {
		case "begun":
			kept++
		case KindLeftOut:
			gone += e.Count
		}
	}
	if kept == 0 || kept+int(gone) != entries || older[1].Kind != KindLeftOut {
		t.Errorf("%d are kept, %d gone, of %d", kept, gone, entries)
	}
	files, _ := os.ReadDir(filepath.Dir(path))
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Size() > maxFile+atOnce*21_000 {
			t.Errorf("%s: %v", f.Name(), err)
		}
	}
	if len(files) != 2 {
		t.Errorf("there are %v", files)
	}
}

// The oldest files go, but not one that a server still writes.
func TestOldFilesGo(t *testing.T) {
	dir := t.TempDir()
	for i := range maxFiles + 20 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("20250101-%06d-1-a.jsonl", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	live, err := os.OpenFile(filepath.Join(dir, "20250101-000003-1-a.jsonl"), os.O_RDWR, 0)
	if err != nil || lock(live) != nil {
		t.Fatal(err)
	}
	defer live.Close()
	if err := os.WriteFile(filepath.Join(dir, "20240101-other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tr := newTest(t, dir)
	tr.Add(Entry{Kind: "begun", Session: "a"})
	if err := tr.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if files, _ := os.ReadDir(dir); len(files) != maxFiles+2 || files[0].Name() != "20240101-other" || files[1].Name() != filepath.Base(live.Name()) {
		t.Errorf("there are %d, the first %s and %s", len(files), files[0].Name(), files[1].Name())
	}
}
