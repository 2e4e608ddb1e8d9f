package serve

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"swank-mcp/serve/door"
	"swank-mcp/serve/hub"
)

// serveHandshake answers a request of the era with handshakes: the first of a connection, or
// one of a connection that there is.
func (rt *router) serveHandshake(w http.ResponseWriter, r *http.Request, name string, m message) {
	if r.Header.Get(sessionHeader) != "" {
		rt.serveConnected(w, r, name, m)
		return
	}
	if r.Method != http.MethodPost || m.Method != "initialize" {
		refuse(w, http.StatusBadRequest, m.ID, &jsonrpc.Error{Code: codeRefused,
			Message: "Bad Request: a connection begins with initialize, or each request has the header " + versionHeader + ": " + newEra})
		return
	}
	principal := door.Principal(r.Context())
	if name == "" {
		s, err := rt.hub.Nameless(principal)
		if err != nil {
			rt.refuse(w, m, err)
			return
		}
		rt.pass(w, r, s, m, rt.handshake)
		s.Abandon() // unless it has come to a connection
		return
	}
	said, _ := io.ReadAll(r.Body) // which was read before
	for range handOvers {
		s, err := rt.hub.Named(r.Context(), principal, name)
		if err != nil {
			rt.refuse(w, m, err)
			return
		}
		passed := false
		s.Connect(said, func() {
			r.Body = io.NopCloser(bytes.NewReader(said))
			passed = rt.pass(w, r, s, m, rt.handshake)
		})
		if passed {
			return
		}
	}
	rt.refuse(w, m, hub.ErrClosed)
}

// serveConnected answers a request of a connection.
func (rt *router) serveConnected(w http.ResponseWriter, r *http.Request, name string, m message) {
	id := r.Header.Get(sessionHeader)
	for range handOvers {
		s, err := rt.connected(r, name, id)
		if err != nil {
			rt.refuse(w, m, err)
			return
		}
		if s == nil {
			text := "session not found" // in the SDK's words
			if why := rt.hub.Gone(door.Principal(r.Context()), name, id); why != "" {
				text += ": " + why + ". Begin anew with initialize"
			}
			http.Error(w, text, http.StatusNotFound)
			return
		}
		if r.Method == http.MethodDelete {
			if s.Name == "" {
				s.Stop()
			}
			s.Forget(id)
			defer s.Settle(id)
		}
		if rt.pass(w, r, s, m, rt.handshake) {
			return
		}
	}
	rt.refuse(w, m, hub.ErrClosed)
}

// connected returns the session of a connection; nil is none. A connection that the server
// made which had the session before becomes one of this server, as if it had been made here.
func (rt *router) connected(r *http.Request, name, id string) (*hub.Session, error) {
	principal := door.Principal(r.Context())
	for range handOvers {
		if s := rt.hub.Connected(principal, name, id); s != nil {
			return s, nil
		}
		if !rt.hub.Left(principal, name, id) {
			return nil, nil
		}
		s, err := rt.hub.Named(r.Context(), principal, name)
		if err != nil {
			return nil, err
		}
		adopted := s.Adopt(id, func(said []byte) {
			rt.say(r, s, "", said)
			rt.say(r, s, id, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
		})
		if adopted {
			if r.Method == http.MethodGet {
				r.Header.Del("Last-Event-ID") // of events that this server has not sent
			}
			return s, nil
		}
	}
	return nil, hub.ErrClosed
}

// say has the SDK read what the client of a connection has said to another server, as if it
// came now, in the course of r.
func (rt *router) say(r *http.Request, s *hub.Session, id string, body []byte) {
	said, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), http.MethodPost, r.URL.String(), bytes.NewReader(body))
	if err != nil {
		return // there is no such address
	}
	said.Header.Set("Content-Type", "application/json")
	said.Header.Set("Accept", "application/json, text/event-stream")
	if id != "" {
		said.Header.Set(sessionHeader, id)
	}
	rt.pass(&nobody{header: http.Header{}}, said, s, message{}, rt.handshake)
}

// nobody is who gets an answer that the client has had before.
type nobody struct{ header http.Header }

// Header implements http.ResponseWriter.
func (n *nobody) Header() http.Header { return n.header }

// Write implements http.ResponseWriter.
func (n *nobody) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader implements http.ResponseWriter.
func (n *nobody) WriteHeader(int) {}
