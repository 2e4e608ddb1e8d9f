package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"swank-mcp/serve/hub"
	"swank-mcp/serve/lease"
	"swank-mcp/swank/lisp/kept"
)

// share is how this server has sessions whose directory other servers have, too. nil: there
// are no others.
type share struct {
	rooms  *rooms
	server *lease.Server

	mu     sync.Mutex
	leases map[hub.ID]*lease.Lease // of the sessions that are being made
}

// share begins it, if --lease says so.
func (c *command) share(rooms *rooms, log *slog.Logger) (*share, error) {
	if c.http.lease == 0 {
		return nil, nil
	}
	server, err := lease.Open(filepath.Join(rooms.state, "servers"), c.http.lease, log)
	if err != nil {
		return nil, err
	}
	return &share{rooms: rooms, server: server, leases: map[hub.ID]*lease.Lease{}}, nil
}

func (s *share) close() {
	if s != nil {
		s.server.Close()
	}
}

// ready is for serve.Options.Ready.
func (s *share) ready() func() error {
	if s == nil {
		return nil
	}
	return s.server.Err
}

// own is for hub.Options.Own.
func (s *share) own() func(hub.ID) (hub.Lease, error) {
	if s == nil {
		return nil
	}
	return func(id hub.ID) (hub.Lease, error) {
		dir := keptDirOf(s.rooms.state, id)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		l, err := s.server.Take(dir)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.leases[id] = l
		return l, nil
	}
}

// handshakes is for hub.Options.Handshakes. The images of the sessions cannot reach it.
func (s *share) handshakes() func(hub.ID) string {
	if s == nil {
		return nil
	}
	return func(id hub.ID) string {
		return filepath.Join(s.rooms.state, "sessions", fileName(id.Principal), "handshakes", fileName(id.Name))
	}
}

// open opens the file in dir in which a session is kept: the hub has had it owned before.
func (s *share) open(id hub.ID, dir string) (*kept.File, error) {
	if s == nil {
		if err := kept.Unshare(dir); err != nil {
			return nil, err
		}
		return kept.Open(filepath.Join(dir, "session.lisp")), nil
	}
	s.mu.Lock()
	l := s.leases[id]
	delete(s.leases, id)
	s.mu.Unlock()
	return kept.OpenShared(dir, l.Number(), l.Lost)
}
