package serve

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"swank-mcp/mcpbridge/aside"
	"swank-mcp/serve/door"
	"swank-mcp/serve/hub"
)

// Options of a [Server].
type Options struct {
	Door           door.Options
	Hub            hub.Options
	SessionTimeout time.Duration // after which a connection that sends nothing is ended; 0 is never
	DrainDelay     time.Duration // for which it takes new calls after it has said that it is not ready any more
	Drain          time.Duration // for which calls may run on after that
	Ready          func() error  // says why it cannot have sessions now, by an error; nil: it always can
	Log            *slog.Logger  // nil discards

	sleep func(time.Duration) // for DrainDelay; nil is [time.Sleep]
}

// Server serves MCP over HTTP. Its goroutines are those of net/http and of the hub; the end
// of [Server.Serve] ends them.
type Server struct {
	o        Options
	hub      *hub.Hub
	metrics  *metrics
	http     http.Server
	draining atomic.Bool
	streams  context.Context // of GET: ends when the server begins to end
	hush     context.CancelFunc
}

// Times that a client has.
const (
	headerTime = 10 * time.Second // to send the head of a request
	idleTime   = 2 * time.Minute  // to send the next one
	headBytes  = 64 << 10         // of the head of a request
)

// bodyTime is how long the body of a request may take to come.
var bodyTime = 30 * time.Second

// New returns a server that serves nobody yet.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.sleep == nil {
		o.sleep = time.Sleep
	}
	s := &Server{o: o, metrics: newMetrics()}
	var kept aside.Store
	o.Hub.Made = func(w *hub.Work) {
		s.metrics.follow(w.Image)
		w.Bridge.Server().AddReceivingMiddleware(beginStreams, puttingBack(&kept))
	}
	s.hub = hub.New(o.Hub)
	s.metrics.of(s.hub)
	o.Door.Refused = func(why string) { s.metrics.refused.WithLabelValues(why).Inc() }
	s.streams, s.hush = context.WithCancel(context.Background())
	d := door.New(o.Door)
	guard := func(next http.Handler) http.Handler { return d.Guard(unhurried(next)) }
	to := newRouter(s.hub, d, &kept, o.SessionTimeout, o.Log)
	mux := http.NewServeMux()
	mux.Handle("/mcp", guard(s.answering(to)))
	mux.Handle("/s/{name}/mcp", guard(s.answering(to)))
	mux.Handle("GET /sessions", guard(http.HandlerFunc(s.list)))
	mux.Handle("GET /sessions/{name}", guard(http.HandlerFunc(s.show)))
	mux.Handle("DELETE /sessions/{name}", guard(http.HandlerFunc(s.endSession)))
	mux.Handle("GET /metrics", guard(s.metrics.handler()))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", s.ready)
	s.http = http.Server{
		Handler: rich(hurried(mux)), ConnContext: notePoor, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headBytes,
		ErrorLog: slog.NewLogLogger(o.Log.Handler(), slog.LevelInfo),
	}
	return s
}

// ready tells whether the server takes new work. It says no more: who asks may be anybody.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	if s.draining.Load() {
		http.Error(w, "ending", http.StatusServiceUnavailable)
		return
	}
	if s.o.Ready != nil && s.o.Ready() != nil {
		http.Error(w, "not ready", http.StatusServiceUnavailable)
		return
	}
	w.Write([]byte("ready\n"))
}

// hurried has a request end whose client does not send its body, or does not read the answer:
// net/http reads what is left of a body before it answers, also to somebody whom the door
// refuses. A request without a body gets no time for one: at its end net/http would take the
// client for gone.
func hurried(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if r.ContentLength != 0 {
			_ = control.SetReadDeadline(time.Now().Add(bodyTime))
		}
		_ = control.SetWriteDeadline(time.Now().Add(bodyTime + writeTime))
		next.ServeHTTP(w, r)
	})
}

// unhurried is for who may come in: the answer may take as long as what it waits for.
func unhurried(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
		next.ServeHTTP(w, r)
	})
}

// answering has writing end where the client does not read. Streams by GET, which carry nothing that a request has asked for,
// end when the server begins to end.
func (s *Server) answering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(s.streams, cancel)()
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(newStream(w, s.o.Hub.Own != nil), r)
	})
}

// Serve serves on l until ctx ends, and for o.DrainDelay after that. Then it takes no new
// connections, answers what was asked, for at most o.Drain, and ends the sessions, with what
// is kept of them.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if own, ok := l.(*door.Listener); ok {
		s.http.ConnState = own.Follow
	}
	ended := make(chan error, 1)
	go func() { ended <- s.http.Serve(l) }()
	var err error
	select {
	case err = <-ended: // the listener is broken
	case <-ctx.Done():
	}
	s.draining.Store(true)
	if err == nil {
		s.o.sleep(s.o.DrainDelay) // who sends calls here learns to send them elsewhere
	}
	s.hush()
	drain, cancel := context.WithTimeout(context.Background(), s.o.Drain)
	defer cancel()
	_ = s.http.Shutdown(drain)                // or its time is up
	s.hub.Close()                             // ends the calls that are left, which are answered so
	_ = s.http.Shutdown(context.Background()) // a client that stands still has the limits above
	s.metrics.followers.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}
