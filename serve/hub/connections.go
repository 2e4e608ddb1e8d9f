package hub

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// handshakeBytes is the longest handshake that is kept for the next server.
const handshakeBytes = 64 << 10

// handshakesKept is of how many connections of a session handshakes are kept when another
// server gets it. Clients may end without a word, and what they have left is not for ever.
const handshakesKept = 256

// Connect has a connection of s begin: ask is to have the SDK make it, with what the client
// has said. Where the session can come to another server, that one finds there what was said.
func (s *Session) Connect(said []byte, ask func()) {
	if s.handshake("") == "" || len(said) > handshakeBytes {
		ask()
		return
	}
	s.connecting.Lock()
	defer s.connecting.Unlock()
	id := rand.Text()
	if err := s.remember(id, said); err != nil {
		s.log.Warn("keeping what a client has said at its handshake; where another server gets the session, it must begin again", "err", err)
	}
	s.connect(id, ask)
}

// connect has ask make the connection of that id. s.connecting is held.
func (s *Session) connect(id string, ask func()) {
	s.hub.mu.Lock()
	s.next = id
	s.hub.mu.Unlock()
	ask()
	s.hub.mu.Lock()
	s.next = ""
	s.hub.mu.Unlock()
	s.Settle(id) // if it has come to nothing
}

// Left reports whether a connection of the principal's was made at the session of that name
// by a server that had the session before.
func (h *Hub) Left(principal, name, id string) bool {
	file := h.handshake(ID{principal, name}, id)
	if file == "" {
		return false
	}
	_, err := os.Stat(file)
	return err == nil
}

// Adopt makes a connection that another server has made one of s: ask is to have the SDK make
// it, with what the client had said to that one. It reports whether there is that connection.
func (s *Session) Adopt(id string, ask func(said []byte)) bool {
	s.connecting.Lock()
	defer s.connecting.Unlock()
	there := func() bool { return s.hub.Connected(s.Principal, s.Name, id) == s }
	if there() {
		return true // another request was first
	}
	said, err := os.ReadFile(s.handshake(id))
	if errors.Is(err, fs.ErrNotExist) {
		return false // the client has ended it meanwhile
	}
	if err != nil {
		s.log.Warn("reading what a client has said to another server", "err", err)
		return false
	}
	s.connect(id, func() { ask(said) })
	return there()
}

// Forget has no server adopt the connection of that id, which has ended.
func (s *Session) Forget(id string) {
	if file := s.handshake(id); file != "" {
		os.Remove(file)
	}
}

// remember writes what a client has said at the beginning of a connection.
func (s *Session) remember(id string, said []byte) error {
	file := s.handshake(id)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	temp := file + ".tmp"
	defer os.Remove(temp)
	return cmp.Or(os.WriteFile(temp, said, 0o600), os.Rename(temp, file))
}

// handshake is where the handshake of a connection is kept; "" is nowhere.
func (s *Session) handshake(id string) string { return s.hub.handshake(s.ID, id) }

func (h *Hub) handshake(of ID, id string) string {
	if h.o.Handshakes == nil || of.Name == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id)) // who can read the volume shall not have the ids
	return filepath.Join(h.o.Handshakes(of), hex.EncodeToString(sum[:16]))
}

// tidyHandshakes removes the oldest handshakes of a session where there are too many.
func (h *Hub) tidyHandshakes(of ID) {
	file := h.handshake(of, "")
	if file == "" {
		return
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(entries) <= handshakesKept {
		return
	}
	age := func(e os.DirEntry) int64 {
		info, err := e.Info()
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return cmp.Compare(age(a), age(b)) })
	for _, e := range entries[:len(entries)-handshakesKept] {
		os.Remove(filepath.Join(filepath.Dir(file), e.Name()))
	}
}
