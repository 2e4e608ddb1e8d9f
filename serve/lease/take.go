package lease

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"swank-mcp/internal/files"
)

// Lease says that this server has the session of a directory.
type Lease struct {
	s      *Server
	dir    string
	number int
	wanted time.Time // when another server was first heard to want it; s.mu guards the rest
	heard  time.Time // and last
	lost   bool
}

// HeldError says that another server has the session.
type HeldError struct{ Waited time.Duration }

func (e *HeldError) Error() string {
	return fmt.Sprintf("Another server still works for this session, and has not given it up in %.1f seconds. Nothing was done. Send the same again in %d seconds.",
		e.Waited.Seconds(), e.Seconds())
}

// Seconds is when it is worth trying again.
func (e *HeldError) Seconds() int { return 1 }

// pollTime is how often is looked whether a session was given up.
const pollTime = 50 * time.Millisecond

// patience is how long one that is in use is waited for: nobody who has called for it is
// answered meanwhile, and clients wait for a minute at least.
const patience = 25 * time.Second

// Take makes this server the owner of the session of that directory. If another server has
// the session, it is asked for it, and Take waits until it gives it up or is dead, but no
// longer than some seconds. The error is a *HeldError, a CutError, or one of the directory.
func (s *Server) Take(dir string) (*Lease, error) {
	return s.take(dir, patience)
}

func (s *Server) take(dir string, patience time.Duration) (*Lease, error) {
	for began := time.Now(); ; {
		l, err := s.try(dir)
		if l != nil {
			return l, nil
		}
		waited, most := time.Since(began), patience
		switch err := err.(type) {
		case *HeldError:
			err.Waited = waited
		case CutError:
			most = s.term // a machine that was busy lets it write soon
		default:
			return nil, err
		}
		if waited > most || !s.pause() {
			return nil, err
		}
	}
}

// pause waits until it is worth trying again, and reports whether the server is still open.
func (s *Server) pause() bool {
	select {
	case <-s.life.Done():
		return false
	case <-time.After(pollTime):
		return true
	}
}

// try makes this server the owner of the session of that directory, or asks the one for it that
// is. The error is as that of Take.
func (s *Server) try(dir string) (*Lease, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	newest, owner, err := s.owner(dir)
	switch {
	case err != nil:
		return nil, err
	case owner == "" || owner == s.id || s.dead(owner):
		if l, err := s.claim(dir, newest+1); l != nil || err != nil {
			return l, err
		}
	default:
		// Not to be written is no reason to give up: the owner may end now.
		_ = os.WriteFile(filepath.Join(s.inbox(owner), s.key(dir)), nil, 0o600)
	}
	return nil, &HeldError{} // or another one was first
}

// owner returns the highest number in dir and whose it is; "" is nobody's.
func (s *Server) owner(dir string) (newest int, owner string, err error) {
	for range ownerTries {
		if newest, err = newestIn(dir); newest == 0 || err != nil {
			return 0, "", err
		}
		text, _, err := files.Read(leaseFile(dir, newest), mostText)
		if errors.Is(err, fs.ErrNotExist) {
			time.Sleep(pollTime / 10) // others have gone on meanwhile, and tidied up
			continue
		}
		owner = strings.TrimSpace(string(text))
		if err == nil && owner != "" && !isID(owner) {
			err = fmt.Errorf("%s does not name a server: move it away", leaseFile(dir, newest))
		}
		return newest, owner, err
	}
	return 0, "", fmt.Errorf("%s cannot be read, though it is there", leaseFile(dir, newest))
}

// newestIn is the highest number of a lease in dir, or 0.
func newestIn(dir string) (newest int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		n, err := number(e.Name())
		if err != nil {
			return 0, fmt.Errorf("%s %w", filepath.Join(dir, e.Name()), err)
		}
		newest = max(newest, n)
	}
	return newest, nil
}

// mostNumber is no number that leases reach by one after the other.
const mostNumber = math.MaxInt / 2

// number is that of a file of a lease, or 0.
func number(name string) (int, error) {
	text, ok := strings.CutPrefix(name, "lease.")
	n, err := strconv.Atoi(text)
	switch {
	case !ok:
		return 0, nil
	case errors.Is(err, strconv.ErrRange) || n > mostNumber:
		return 0, errors.New("has a number that no server gives: move it away")
	case err != nil || n < 0 || strconv.Itoa(n) != text:
		return 0, nil
	}
	return n, nil
}

// ownerTries is how often a file is looked for that was there just now.
const ownerTries = 100

func leaseFile(dir string, number int) string {
	return filepath.Join(dir, fmt.Sprintf("lease.%d", number))
}

// claim makes the file of that number ours. Without an error it may return no lease: then
// another server was first.
func (s *Server) claim(dir string, n int) (*Lease, error) {
	if ok, err := s.put(dir, n, s.id+"\n"); !ok {
		return nil, err
	}
	// A number that others have used and removed meanwhile is below theirs.
	if newest, _, err := s.owner(dir); err != nil || newest != n {
		os.Remove(leaseFile(dir, n))
		return nil, err
	}
	for _, old := range []int{n - 2, n - 3} {
		if old > 0 {
			os.Remove(leaseFile(dir, old))
		}
	}
	l := &Lease{s: s, dir: dir, number: n}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.errLocked(); err != nil {
		s.adrift[dir] = n
		return nil, err
	}
	if before := s.leases[dir]; before != nil {
		before.lost = true
	}
	s.leases[dir] = l
	return l, nil
}

// put makes a file of that number with that text, at once, and reports whether there was
// none.
func (s *Server) put(dir string, n int, text string) (bool, error) {
	temp, err := os.CreateTemp(dir, ".lease-*.tmp")
	if err != nil {
		return false, err
	}
	defer os.Remove(temp.Name())
	_, err = temp.WriteString(text)
	if err = errors.Join(err, temp.Close()); err != nil {
		return false, err
	}
	err = os.Link(temp.Name(), leaseFile(dir, n))
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// key is a name for dir in a directory, the same for all servers, wherever they have the
// volume.
func (s *Server) key(dir string) string {
	if below, err := filepath.Rel(s.dir, dir); err == nil {
		dir = filepath.ToSlash(below)
	}
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:8])
}

// Number is higher than that of each lease before of the same session.
func (l *Lease) Number() int { return l.number }

// Owner tells people who has the session: the server's name for the others, the name of its
// machine, and which lease of the session this is.
func (l *Lease) Owner() string {
	host, _ := os.Hostname()
	return strings.TrimSpace(fmt.Sprintf("server %s on %s, lease %d", l.s.id, host, l.number))
}

// errLost is of a lease that is this server's no more.
var errLost = errors.New("this server has lost the session to another one; send the same again in a few seconds")

// Lost returns nil while the session is this server's.
func (l *Lease) Lost() error {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if l.lost {
		return errLost
	}
	return l.s.errLocked()
}

// Wanted returns for how long another server has wanted the session; 0 is not, or not any more.
func (l *Lease) Wanted() time.Duration {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	if time.Since(l.heard) > 3*l.s.term/beats+10*pollTime { // who wants it says so all the time
		l.wanted = time.Time{}
	}
	if l.wanted.IsZero() {
		return 0
	}
	return time.Since(l.wanted)
}

// Release gives the session up. Nothing of it may be written after that.
func (l *Lease) Release() {
	l.s.mu.Lock()
	lost := l.lost || l.s.errLocked() != nil
	l.lost = true
	if l.s.leases[l.dir] == l {
		delete(l.s.leases, l.dir)
	}
	l.s.mu.Unlock()
	if lost {
		return
	}
	if _, err := l.s.put(l.dir, l.number+1, ""); err != nil {
		l.s.log.Warn("giving a session up; others get it when this server has ended", "err", err)
		return
	}
	os.Remove(leaseFile(l.dir, l.number))
}
