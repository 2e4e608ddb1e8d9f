package door

import (
	"net"
	"net/http"
	"sync"
)

// silent has the connections on which no request has come yet: where descriptors run out, theirs
// are wanted for clients that send one. The zero value is ready.
type silent struct {
	mu   sync.Mutex
	came map[net.Conn]int // the number of each, in the order in which they came
	last int              // number
	late int              // the number of the last one that has had its time to send a request
}

// follow is for http.Server.ConnState.
func (s *silent) follow(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state != http.StateNew || Poor(c) { // who has the spare descriptor has its own time
		delete(s.came, c)
		return
	}
	if s.came == nil {
		s.came = map[net.Conn]int{}
	}
	s.last++
	s.came[c] = s.last
}

// hurry says that those which are silent now have had their time when a descriptor is wanted
// again: net/http pauses before that.
func (s *silent) hurry() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = s.last
}

// closeOne closes the oldest one that has had its time, and reports whether there was one.
func (s *silent) closeOne() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var oldest net.Conn
	for c, n := range s.came {
		if n <= s.late && (oldest == nil || n < s.came[oldest]) {
			oldest = c
		}
	}
	if oldest == nil {
		return false
	}
	delete(s.came, oldest)
	_ = under(oldest).Close()
	return true
}
