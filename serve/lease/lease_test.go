package lease

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// term is that of the servers. Each test runs in a bubble of time, on a real directory.
const term = 3 * time.Second

// soon is when a server has heard what another one has written before.
const soon = term/beats + pollTime

// pass lets time pass, and all that it brings about happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// another is one more server on the volume, on a machine of its own as far as all know.
func another(t *testing.T, volume string) *Server {
	t.Helper()
	return opened(t, volume, func(*os.File) string { return "" })
}

func opened(t *testing.T, volume string, kernel func(*os.File) string) *Server {
	t.Helper()
	s, err := open(filepath.Join(volume, "servers"), term, slog.New(slog.DiscardHandler), kernel)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// kill ends a server as SIGKILL does: it says and removes nothing any more.
func (s *Server) kill() {
	s.stop()
	<-s.done
}

func session(t *testing.T, volume, name string) string {
	t.Helper()
	dir := filepath.Join(volume, "sessions", "anna", "named", name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func take(t *testing.T, s *Server, dir string) *Lease {
	t.Helper()
	l, err := s.Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Many servers want the same sessions at once, again and again. Each session has one at a
// time, and its numbers grow.
func TestOneOwner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		volume := t.TempDir()
		var dirs []string
		for _, name := range []string{"a", "b", "c"} {
			dirs = append(dirs, session(t, volume, name))
		}
		var owners, numbers [3]atomic.Int64
		var all sync.WaitGroup
		for i := range 6 {
			s := another(t, volume)
			all.Go(func() {
				for round := range 15 {
					n := (i + round) % 3
					l, err := s.take(dirs[n], time.Minute)
					if err != nil {
						t.Error(err)
						return
					}
					if owners[n].Add(1) != 1 {
						t.Error("two have the same session")
					}
					if before := numbers[n].Swap(int64(l.Number())); before >= int64(l.Number()) {
						t.Errorf("number %d after %d", l.Number(), before)
					}
					time.Sleep(time.Millisecond)
					if err := l.Lost(); err != nil {
						t.Error(err)
					}
					owners[n].Add(-1)
					l.Release()
				}
			})
		}
		all.Wait()
		for _, dir := range dirs {
			if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 4 {
				t.Errorf("left: %v", left)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		}
	})
}

// The sessions of a server that was killed go to another one within its time, and not before
// it must have noticed itself.
func TestKilled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		volume := t.TempDir()
		a, b, dir := another(t, volume), another(t, volume), session(t, volume, "x")
		lost := take(t, a, dir)
		pass(10 * term)
		if _, err := b.take(dir, 10*term); !errors.As(err, new(*HeldError)) {
			t.Fatalf("from one that lives: %v", err)
		}
		a.kill()
		began := time.Now()
		l := take(t, b, dir)
		if took := time.Since(began); took < a.holds() || took > term+soon {
			t.Errorf("taken over after %v, with a term of %v", took, term)
		}
		if lost.Lost() == nil || l.Lost() != nil || l.Number() <= lost.Number() {
			t.Errorf("lost: %v, taken: %v, %d after %d", lost.Lost(), l.Lost(), l.Number(), lost.Number())
		}
		lost.Release() // changes nothing
		if newest, owner, err := b.owner(dir); newest != l.Number() || owner != b.id || err != nil {
			t.Errorf("%d %s %v", newest, owner, err)
		}
		// One that comes when the server is long dead has to see for itself that it is.
		b.kill()
		pass(10 * term)
		c := another(t, volume)
		began = time.Now()
		take(t, c, dir)
		if took := time.Since(began); took < term || took > term+soon {
			t.Errorf("the third has it after %v", took)
		}
	})
}

// A server that stood still has lost what it had, also when it goes on.
func TestStoodStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		volume := t.TempDir()
		a, dir := another(t, volume), session(t, volume, "x")
		l := take(t, a, dir)
		a.kill()
		pass(a.holds())
		if a.Err() != nil || l.Lost() != nil {
			t.Error("lost early")
		}
		pass(1)
		if a.Err() == nil || l.Lost() == nil {
			t.Error("not lost in time")
		}
		began := time.Now()
		if _, err := a.Take(dir); !errors.As(err, new(CutError)) {
			t.Errorf("taken nonetheless: %v", err)
		}
		if took := time.Since(began); took < term || took > term+2*pollTime {
			t.Errorf("it is waited for %v", took)
		}
		said := make(chan error, 1)
		go func() {
			time.Sleep(term / 4)
			said <- a.say()
		}()
		again := take(t, a, dir) // a short while is waited for
		if err := <-said; err != nil {
			t.Fatal(err)
		}
		if again.Number() <= l.Number() {
			t.Errorf("number %d after %d", again.Number(), l.Number())
		}
		if a.Err() != nil || l.Lost() == nil {
			t.Errorf("it goes on: %v, %v", a.Err(), l.Lost())
		}
	})
}

// Who has a session hears that another one wants it, and gives it.
func TestWanted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		volume := t.TempDir()
		a, b := another(t, volume), another(t, volume)
		dir, other := session(t, volume, "x"), session(t, volume, "y")
		l, stays := take(t, a, dir), take(t, a, other)
		pass(term)
		if l.Wanted() != 0 {
			t.Error("nobody wants it")
		}
		got := make(chan time.Time, 1)
		go func() {
			if _, err := b.Take(dir); err != nil {
				t.Error(err)
			}
			got <- time.Now()
		}()
		pass(soon)
		if l.Wanted() == 0 || l.Wanted() > soon {
			t.Fatalf("the owner hears of it so: %v", l.Wanted())
		}
		pass(2 * term)
		if l.Wanted() < 2*term {
			t.Errorf("it has been wanted for %v", l.Wanted())
		}
		if stays.Wanted() != 0 {
			t.Error("another session is wanted, too")
		}
		released := time.Now()
		l.Release()
		if took := (<-got).Sub(released); took > pollTime {
			t.Errorf("it has it after %v", took)
		}
		if l.Lost() == nil {
			t.Error("it is still the first one's")
		}
	})
}

// What another server does not want any more is not wanted.
func TestWantedNoMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		volume := t.TempDir()
		a, b := another(t, volume), another(t, volume)
		dir := session(t, volume, "x")
		l := take(t, a, dir)
		if _, err := b.take(dir, term/2); !errors.As(err, new(*HeldError)) {
			t.Fatalf("while another one has it: %v", err)
		}
		pass(soon)
		if l.Wanted() == 0 {
			t.Error("it was not wanted")
		}
		pass(term)
		if l.Wanted() != 0 {
			t.Errorf("it has been wanted for %v", l.Wanted())
		}
	})
}

// What a server has lost by standing still, and nobody has taken, is free when it goes on.
func TestAdrift(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		volume := t.TempDir()
		a, b := another(t, volume), another(t, volume)
		dir := session(t, volume, "x")
		l := take(t, a, dir)
		a.mu.Lock()
		a.alive = time.Now().Add(-term * 3 / 4)
		a.mu.Unlock()
		pass(term / beats)
		if a.Err() != nil {
			t.Errorf("the server does not go on: %v", a.Err())
		}
		if l.Lost() == nil {
			t.Error("it still has what it had")
		}
		began := time.Now()
		next := take(t, b, dir)
		if took := time.Since(began); took > 0 {
			t.Errorf("it is free after %v", took)
		}
		if next.Number() <= l.Number() {
			t.Errorf("number %d after %d", next.Number(), l.Number())
		}
	})
}

// What a dead server has left is removed when it has been dead for very long, and not before.
func TestBuried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		volume := t.TempDir()
		a, b := another(t, volume), another(t, volume)
		a.kill()
		left := func() bool {
			_, file := os.Stat(b.file(a.id))
			_, inbox := os.Stat(b.inbox(a.id))
			return file == nil && inbox == nil
		}
		pass((buried - 1) * term)
		if !left() {
			t.Error("it is removed early")
		}
		pass(2 * term)
		if left() {
			t.Error("it stays for ever")
		}
	})
}

// A volume on which nothing can be written is an error that says so.
func TestNoVolume(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(file, "servers"), term, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("no error")
	}
	s := another(t, filepath.Dir(file))
	if _, err := s.Take(filepath.Join(file, "x")); err == nil {
		t.Error("no error of a session's directory")
	}
}
