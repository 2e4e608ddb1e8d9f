package watch

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/files"
)

// TestSources: sources that are written are told of once, also in folders that are new;
// other files and folders left out are not; and it ends with its context.
func TestSources(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.asd", "src/a.lisp", ".git/b.lisp", "notes.txt"} {
		write(name)
	}
	ctx, stop := context.WithCancel(t.Context())
	told := make(chan struct{}, 100)
	ended := make(chan error, 1)
	go func() { ended <- Sources(ctx, &files.Trees{}, []string{dir}, func() { told <- struct{}{} }) }()
	hear := func(what string) {
		t.Helper()
		await.From(t, "news of "+what, told)
	}
	// It says nothing when it begins; so the first write is repeated until it is heard, and
	// what is told of the last ones is heard, too.
	await.True(t, "the first news", func() bool {
		write("src/a.lisp")
		select {
		case <-told:
			return true
		case <-time.After(time.Second):
			return false
		case err := <-ended:
			t.Fatal(err)
			return false
		}
	})
	await.True(t, "nothing more is told", func() bool {
		select {
		case <-told:
			return false
		case <-time.After(3 * stillFor):
			return true
		}
	})
	quiet := func(what string) {
		t.Helper()
		select {
		case <-told:
			t.Errorf("told of %s", what)
		case <-time.After(3 * stillFor):
		}
	}
	write("src/a.lisp")
	write("a.asd")
	hear("two files")
	quiet("the second of two files")
	write("src/deep/new/b.lisp")
	hear("a new folder")
	quiet("the new folder again")
	write("src/deep/new/c.lisp")
	hear("a file in a new folder")
	if err := os.Remove(filepath.Join(dir, "src/a.lisp")); err != nil {
		t.Fatal(err)
	}
	hear("a file that is gone")
	write(".git/b.lisp")
	write("notes.txt")
	write("src/.#a.lisp")
	quiet("files that are no sources")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestSourcesInTime: sources that are written all the time are told of all the same.
func TestSourcesInTime(t *testing.T) {
	dir := t.TempDir()
	ctx, stop := context.WithCancel(await.Context(t))
	defer stop()
	go func() {
		for n := 0; ctx.Err() == nil; n++ {
			_ = os.WriteFile(filepath.Join(dir, "a.lisp"), []byte{byte(n)}, 0o600)
			time.Sleep(stillFor / 5)
		}
	}()
	if err := Sources(ctx, &files.Trees{}, []string{dir}, stop); err != nil || context.Cause(ctx) != context.Canceled {
		t.Errorf("%v, %v", err, context.Cause(ctx))
	}
}
