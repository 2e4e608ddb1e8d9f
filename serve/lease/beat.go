package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"swank-mcp/internal/files"
)

// beats is how often in a term a server says that it lives.
const beats = 8

// Server is this server among those that share a volume. Its goroutine is the one that says
// that it lives; Close ends it.
type Server struct {
	id   string
	dir  string // of all servers
	term time.Duration
	log  *slog.Logger
	stop context.CancelFunc
	done chan struct{}

	life context.Context // ends with Close
	die  context.CancelFunc

	beat uint64
	own  *os.File // of the server, held as long as it lives
	here string   // its kernel

	mu     sync.Mutex
	alive  time.Time // when it began to write its last number
	others map[string]sight
	leases map[string]*Lease // by the directories of their sessions
	adrift map[string]int    // numbers of leases that are lost, and name this server still
}

// sight is what was last seen of another server.
type sight struct {
	text  string
	since time.Time // when it was first seen so
}

// Open makes this process one of the servers that have their leases below dir. term is after
// what time without a sign of life a server is dead.
func Open(dir string, term time.Duration, log *slog.Logger) (*Server, error) {
	return open(dir, term, log, kernel)
}

func open(dir string, term time.Duration, log *slog.Logger, kernel func(*os.File) string) (*Server, error) {
	s := &Server{id: rand.Text(), dir: dir, term: term, log: log, done: make(chan struct{}),
		others: map[string]sight{}, leases: map[string]*Lease{}, adrift: map[string]int{}}
	s.life, s.die = context.WithCancel(context.Background())
	if err := os.MkdirAll(s.inbox(s.id), 0o700); err != nil {
		return nil, err
	}
	var err error
	if s.own, err = os.OpenFile(s.file(s.id), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, fmt.Errorf("the directory that servers share: %w", err)
	}
	if s.here = kernel(s.own); hold(s.own) != nil {
		s.here = "" // no locks to be had: the others wait
	}
	if err := s.say(); err != nil {
		s.own.Close()
		return nil, fmt.Errorf("the directory that servers share: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go s.live(ctx)
	return s, nil
}

// Close ends the server. What it has not released is free for others after a term.
func (s *Server) Close() {
	s.die()
	s.stop()
	<-s.done
	s.mu.Lock()
	s.alive = time.Time{}
	s.mu.Unlock()
	os.RemoveAll(s.inbox(s.id))
	os.Remove(s.file(s.id))
	s.own.Close()
}

func (s *Server) file(id string) string  { return filepath.Join(s.dir, id) }
func (s *Server) inbox(id string) string { return filepath.Join(s.dir, id+".wanted") }

// live says that the server lives and looks at the others, until ctx ends.
func (s *Server) live(ctx context.Context) {
	defer close(s.done)
	tick := time.NewTicker(s.term / beats)
	defer tick.Stop()
	lost := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := s.say(); err != nil {
			s.log.Warn("cannot say to the other servers that this one lives", "err", err)
		} else {
			s.leave()
		}
		if now := s.Err() != nil; now != lost {
			lost = now
			s.log.Warn("whether this server may have sessions has changed", "may", !lost)
		}
		s.listen()
		s.look()
	}
}

// say writes the next number, into the same file: its name need not be looked up again.
func (s *Server) say() error {
	began := time.Now()
	s.beat++
	f, err := os.OpenFile(s.file(s.id), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "%020d %s\n", s.beat, s.here), 0)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.alive.IsZero() && time.Since(s.alive) > s.holds() { // until now the others may not have seen it
		for dir, l := range s.leases {
			l.lost = true
			delete(s.leases, dir)
			s.adrift[dir] = l.number
		}
	}
	s.alive = began
	return nil
}

// leave gives up the leases that this server has lost without another one having claimed them:
// while it lives and they name it, nobody could. It takes no more than half of the time to the
// next beat, which may not come late because there are many.
func (s *Server) leave() {
	began := time.Now()
	s.mu.Lock()
	adrift := maps.Clone(s.adrift)
	s.mu.Unlock()
	for dir, number := range adrift {
		if time.Since(began) > s.term/beats/2 {
			return
		}
		if _, err := s.put(dir, number+1, ""); err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // the next beat comes
		}
		s.mu.Lock()
		if s.adrift[dir] == number {
			delete(s.adrift, dir)
		}
		s.mu.Unlock()
	}
}

// holds is how long after a number the server has what it has.
func (s *Server) holds() time.Duration { return s.term * 2 / 3 }

// CutError says that the server could not say in time that it lives.
type CutError struct{}

func (CutError) Error() string {
	return "this server could not write to the volume that it shares, and another one may have taken its sessions; send the same again in a few seconds"
}

// Seconds is when it is worth trying again.
func (CutError) Seconds() int { return 2 }

// Err returns nil while the server may have sessions.
func (s *Server) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.errLocked()
}

func (s *Server) errLocked() error {
	if time.Since(s.alive) > s.holds() {
		return CutError{}
	}
	return nil
}

// listen marks what others want.
func (s *Server) listen() {
	entries, err := os.ReadDir(s.inbox(s.id))
	if err != nil {
		return // the next beat comes
	}
	for _, e := range entries {
		os.Remove(filepath.Join(s.inbox(s.id), e.Name()))
		s.mu.Lock()
		for dir, l := range s.leases {
			if s.key(dir) == e.Name() {
				if l.heard = time.Now(); l.wanted.IsZero() {
					l.wanted = l.heard
				}
			}
		}
		s.mu.Unlock()
	}
}

// buried is after how many terms what a dead server has left is removed.
const buried = 1000

// look reads the numbers of the other servers.
func (s *Server) look() {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if id := e.Name(); isID(id) && !e.IsDir() && id != s.id && s.silent(id) > buried*s.term {
			os.RemoveAll(s.inbox(id))
			os.Remove(s.file(id))
			s.mu.Lock()
			delete(s.others, id)
			s.mu.Unlock()
		}
	}
}

// dead reports whether another server is: for a term nothing was heard of it, or it has this
// server's kernel, which has closed its file.
func (s *Server) dead(id string) bool {
	if s.silent(id) > s.term {
		return true
	}
	f, err := files.Open(s.file(id), os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	text := make([]byte, 256)
	n, _ := f.Read(text)
	_, there, _ := strings.Cut(strings.TrimSpace(string(text[:n])), " ")
	return s.here != "" && there == s.here && there == kernel(f) && !held(f)
}

// silent reads the number of another server and returns for how long it has been the same.
func (s *Server) silent(id string) time.Duration {
	text, _, err := files.Read(s.file(id), mostText)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	before, known := s.others[id]
	switch {
	case !known, err == nil && string(text) != before.text:
		s.others[id] = sight{string(text), now}
		return 0
	}
	return now.Sub(before.since) // also when it cannot be read: it has no number then
}

// mostText is how long what servers write is at most.
const mostText = 4096

// idText are the names of servers, which become parts of paths: what rand.Text makes.
var idText = regexp.MustCompile(`^[A-Z2-7]{26}$`)

func isID(text string) bool { return idText.MatchString(text) }
