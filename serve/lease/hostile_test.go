//go:build unix

package lease

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"swank-mcp/internal/files"
)

// What no server has written into the directory of a session is an error that says what to do,
// at once: it is not waited for, not read for ever, and leads to no other place.
func TestHostileLeases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		volume := t.TempDir()
		s := another(t, volume)
		write := func(name, text string) func(dir string) error {
			return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
		}
		for what, c := range map[string]struct {
			put  func(dir string) error
			want string
		}{
			"the highest number": {write("lease.9223372036854775807", ""), "no server gives"},
			"one beyond it":      {write("lease.9223372036854775808", ""), "no server gives"},
			"a pipe":             {func(dir string) error { return syscall.Mkfifo(leaseFile(dir, 3), 0o600) }, files.ErrNotPlain.Error()},
			"a device":           {func(dir string) error { return os.Symlink("/dev/zero", leaseFile(dir, 3)) }, files.ErrNotPlain.Error()},
			"a link":             {func(dir string) error { return os.Symlink(s.file(s.id), leaseFile(dir, 3)) }, files.ErrNotPlain.Error()},
			"a long text":        {write("lease.3", strings.Repeat("A", mostText+1)), files.ErrTooLarge.Error()},
			"a path":             {write("lease.3", "../../dev/zero"), "does not name a server"},
			"a name that is none": {
				write("lease.3", strings.ToLower(s.id)), "does not name a server"},
		} {
			dir := session(t, volume, strings.ReplaceAll(what, " ", "-"))
			if err := c.put(dir); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if l, err := s.Take(dir); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "move it away") {
				t.Errorf("%s: %+v, %v", what, l, err)
			}
			if took := time.Since(began); took > 0 {
				t.Errorf("%s is waited for, %v", what, took)
			}
		}
		if wanted, _ := filepath.Glob(filepath.Join(volume, "*", "*.wanted", "*")); len(wanted) > 0 {
			t.Errorf("asked for: %v", wanted)
		}

		dir := session(t, volume, "good")
		for _, name := range []string{"lease.x", "lease.-3", "lease.007", "lease.+9", "lease."} {
			if err := write(name, "")(dir); err != nil {
				t.Fatal(err)
			}
		}
		if l := take(t, s, dir); l.Number() != 1 {
			t.Errorf("beside what is no lease: number %d", l.Number())
		}
	})
}

// A server that is closed waits for nobody's sessions.
func TestClosedWhileWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		volume := t.TempDir()
		a, b, dir := another(t, volume), another(t, volume), session(t, volume, "x")
		take(t, a, dir)
		waits := make(chan error, 1)
		go func() {
			_, err := b.take(dir, time.Minute)
			waits <- err
		}()
		pass(3 * pollTime)
		began := time.Now()
		b.Close()
		if err := <-waits; !errors.As(err, new(*HeldError)) && !errors.As(err, new(CutError)) {
			t.Errorf("%v", err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("it waits for %v", took)
		}
	})
}
