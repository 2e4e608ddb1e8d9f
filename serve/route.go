package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/internal/nofiles"
	"swank-mcp/mcpbridge/aside"
	"swank-mcp/mcpbridge/stdio"
	"swank-mcp/serve/door"
	"swank-mcp/serve/hub"
)

// replayBytes is how much is kept in all of what was sent to clients of the handshake era,
// for those that lose their connection and come back.
const replayBytes = 32 << 20

// router leads requests to their sessions, through the SDK's handlers of their eras.
type router struct {
	hub                  *hub.Hub
	door                 *door.Door
	log                  *slog.Logger
	handshake, stateless http.Handler

	aside *aside.Store // of the arguments that the SDK need not read
}

type sessionKey struct{}

func newRouter(h *hub.Hub, d *door.Door, kept *aside.Store, timeout time.Duration, log *slog.Logger) *router {
	server := func(r *http.Request) *mcp.Server {
		s, _ := r.Context().Value(sessionKey{}).(*hub.Session)
		return s.Work().Bridge.Server()
	}
	replays := mcp.NewMemoryEventStore(nil)
	replays.SetMaxBytes(replayBytes)
	return &router{hub: h, door: d, log: log, aside: kept,
		handshake: mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
			Logger: log, EventStore: replays, SessionTimeout: timeout, MaxRequestBodyBytes: maxBody,
			DisableLocalhostProtection: true, // package door has looked at the names
		}),
		stateless: mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
			Stateless: true, PropagateRequestCancellation: true,
			Logger: log, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true,
		}),
	}
}

// ServeHTTP answers a request to /mcp, or to /s/NAME/mcp with its name as a path value.
func (rt *router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if name != "" && !hub.IsName(name) {
		http.Error(w, "Bad Request: a session's name is 1 to 64 letters, digits and . _ -, and does not begin with . or -", http.StatusBadRequest)
		return
	}
	body, ok := read(w, r)
	if !ok {
		return
	}
	var m message
	if r.Method == http.MethodPost {
		var wrong *jsonrpc.Error
		if m, wrong = parse(body, r.Header.Get(versionHeader), min(stdio.MaxBatch, rt.door.Most())); wrong != nil {
			refuse(w, http.StatusBadRequest, m.ID, wrong)
			return
		}
		if !rt.door.Charge(w, r, len(m.batch)) {
			return
		}
		defer m.keep(rt.aside)()
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(m.raw)), int64(len(m.raw))
	}
	if m.modern(r) {
		rt.serveStateless(w, r, name, m)
	} else {
		rt.serveHandshake(w, r, name, m)
	}
}

// read returns the body of a request, which can then be read again, or answers that it cannot
// be read. From then on the client need not hurry.
func read(w http.ResponseWriter, r *http.Request) (body []byte, ok bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if tooLarge(err) {
		http.Error(w, fmt.Sprintf("Request Entity Too Large: a request has at most %d bytes. Put long code into a file, and load that.", maxBody), http.StatusRequestEntityTooLarge)
		return nil, false
	}
	if err != nil {
		http.Error(w, "Bad Request: the body cannot be read", http.StatusBadRequest)
		return nil, false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body, true
}

// serveStateless answers a request of the era without handshakes. Without a name it is to
// the principal's default session.
func (rt *router) serveStateless(w http.ResponseWriter, r *http.Request, name string, m message) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
		return
	}
	if name == "" {
		name = hub.DefaultName
	}
	for range handOvers {
		s, err := rt.hub.Named(r.Context(), door.Principal(r.Context()), name)
		if err != nil {
			rt.refuse(w, m, err)
			return
		}
		if rt.pass(w, r, s, m, rt.stateless) {
			return
		}
	}
	rt.refuse(w, m, hub.ErrClosed)
}

// handOvers is how often a request asks for its session again that has just gone to another
// server.
const handOvers = 5

// pass has the SDK's handler answer the request in the session. It reports false, and has
// done nothing, if the session has ended.
func (rt *router) pass(w http.ResponseWriter, r *http.Request, s *hub.Session, m message, next http.Handler) bool {
	if r.Method == http.MethodPost && !m.stays() {
		defer s.Enter()()
		if s.Ended() {
			return false
		}
		var err error
		if m.evaluates() {
			err = s.May()
		}
		if err == nil && m.needsImage() {
			err = s.Wake(r.Context())
		}
		if err != nil {
			rt.refuse(w, m, err)
			return true
		}
	}
	if r.Method == http.MethodGet || m.stays() {
		defer s.Attend()()
	}
	ctx := context.WithValue(r.Context(), sessionKey{}, s)
	if out, ok := w.(*stream); ok && m.Method == "tools/call" {
		defer out.mayBeLong()()
		if next == rt.stateless { // in the other era, handlers have the context of the handshake
			ctx = context.WithValue(ctx, streamKey{}, out)
		}
	}
	next.ServeHTTP(w, r.WithContext(s.Work().Bridge.Within(ctx)))
	return true
}

// refuse answers a request for which there is no room now.
func (rt *router) refuse(w http.ResponseWriter, m message, err error) {
	var limit *hub.LimitError
	var again interface { // another server has the session
		error
		Seconds() int
	}
	status, after := http.StatusInternalServerError, 0
	switch {
	case errors.As(err, &limit) && limit.Own:
		status, after = http.StatusTooManyRequests, limit.Seconds()
	case errors.As(err, &limit):
		status, after = http.StatusServiceUnavailable, limit.Seconds()
	case errors.As(err, &again):
		status, after = http.StatusServiceUnavailable, again.Seconds()
	case nofiles.Is(err):
		refuse(w, http.StatusServiceUnavailable, m.ID, noFiles())
		return
	case errors.Is(err, hub.ErrClosed):
		status, after = http.StatusServiceUnavailable, 2
	case errors.Is(err, context.Canceled): // the client has gone, and reads none of this
		status, after = http.StatusServiceUnavailable, 1
	default:
		rt.log.Error("making a session", "err", err)
		err = errors.New("the session could not be made, and nothing was done: whoever runs the server finds the reason in its log")
	}
	if after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(after))
	}
	refuse(w, status, m.ID, &jsonrpc.Error{Code: codeRefused, Message: err.Error()})
}
