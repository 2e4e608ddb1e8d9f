package control

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"swank-mcp/people/transcript"
	"swank-mcp/swank/lisp"
)

// Options of a [Server].
type Options struct {
	Image      *lisp.Image            // required
	Transcript *transcript.Transcript // required
	Dirs       []string               // for the socket: those of [Dirs]
	Version    string
	Project    func() []string // directories of the project; may be nil
	Clients    func() []string // name and version of each that is connected; may be nil
	Log        *slog.Logger    // nil discards
}

// A Server serves one server of Lisp to its user on a Unix socket. Its goroutines are those
// of net/http; [Server.Close] ends them.
type Server struct {
	o         Options
	pid       int
	directory string
	started   time.Time
	socket    *socket
	http      http.Server
	handlers  handlers
}

// Serve serves until Close. It fails if no directory takes the socket.
func Serve(o Options) (*Server, error) {
	l, err := listen(o.Dirs)
	if err != nil {
		return nil, err
	}
	s := &Server{o: o, pid: os.Getpid(), started: time.Now(), socket: l}
	s.directory, _ = os.Getwd()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) { answer(w, s.status(r.Context())) })
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("GET /contents", s.contents)
	mux.HandleFunc("GET /frame", s.frame)
	mux.HandleFunc("POST /stop", s.stop)
	mux.HandleFunc("POST /pause", s.pause)
	mux.HandleFunc("POST /resume", s.resume)
	mux.HandleFunc("POST /undo", s.undo)
	mux.HandleFunc("POST /put-back", s.putBack)
	mux.HandleFunc("POST /allow", s.allow)
	mux.HandleFunc("POST /answer", s.answer)
	mux.HandleFunc("POST /evaluate", s.evaluate)
	mux.HandleFunc("POST /restart", s.restart)
	s.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.handlers.enter() {
			http.Error(w, "the server is ending: swank-mcp ps shows those that run", http.StatusServiceUnavailable)
			return
		}
		defer s.handlers.leave()
		mux.ServeHTTP(w, r)
	})
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s.http.ErrorLog = slog.NewLogLogger(o.Log.Handler(), slog.LevelInfo)
	s.http.ReadHeaderTimeout = readTimeout
	go s.http.Serve(l) // until Close
	return s, nil
}

const (
	readTimeout  = 10 * time.Second
	writeTimeout = 30 * time.Second // for which a reader may not read
)

// ID is the name of the server for its user: the number of its process, with a number more
// if that is taken.
func (s *Server) ID() string { return idOf(s.socket.path) }

// Hide takes away the name of the socket, so that nobody finds the server any more. Who is
// connected stays so.
func (s *Server) Hide() { s.socket.hide() }

// Close ends the service and all connections. It waits for what is being answered as long
// as ctx says; what is asked meanwhile is refused.
func (s *Server) Close(ctx context.Context) {
	s.Hide()
	select {
	case <-s.handlers.end(): // those who follow the transcript have read its end
	case <-ctx.Done():
	}
	s.http.Close()
}

// handlers counts what is being answered. It is no sync.WaitGroup, because requests come while
// Close waits, on the connections that there are.
type handlers struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // nil until the end begins; closed when nothing is being answered then
}

// enter reports whether something more may be answered, until leave.
func (h *handlers) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.none != nil {
		return false
	}
	h.n++
	return true
}

func (h *handlers) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n--; h.n == 0 && h.none != nil {
		close(h.none)
	}
}

// end has nothing more enter. What it returns is closed when all have left.
func (h *handlers) end() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.none == nil {
		h.none = make(chan struct{})
		if h.n == 0 {
			close(h.none)
		}
	}
	return h.none
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // whoever has asked has gone
}
