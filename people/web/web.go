package web

import (
	"context"
	"crypto/rand"
	"embed"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"swank-mcp/people/control"
)

//go:embed static
var static embed.FS

// Options of a [Server].
type Options struct {
	Client *control.Client // the server that is shown
	Status *control.Status // what it has said of itself
	// Find returns the server that has taken the place of the one that was shown, or nil.
	// It may be called every half second.
	Find func(context.Context) (*control.Client, *control.Status)
}

// A Server is the page of one server of Lisp. Its goroutines are those of net/http and two
// more, one that follows the transcript and one that asks for the status; [Server.Close]
// ends all.
type Server struct {
	o      Options
	host   string // 127.0.0.1:PORT
	secret string // part of the path of the page: no other service of this machine gets the cookie
	cookie string // its value
	http   http.Server
	book   *book
	side   *side
	said   *said
	end    context.CancelFunc
	work   sync.WaitGroup

	mu     sync.Mutex
	token  string // "": it was used
	client *control.Client
}

// Serve listens on a port of loopback that is free, until Close.
func Serve(o Options) (*Server, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	s := &Server{o: o, host: l.Addr().String(), secret: rand.Text(), cookie: rand.Text(), token: rand.Text(), client: o.Client}
	s.book, s.side, s.said = newBook(), newSide(o.Status), new(said)
	ctx, end := context.WithCancel(context.Background())
	s.end = end
	s.http.Handler = s.guarded(s.routes())
	s.http.ReadHeaderTimeout, s.http.IdleTimeout, s.http.MaxHeaderBytes = 10*time.Second, 2*time.Minute, 16<<10
	s.http.BaseContext = func(net.Listener) context.Context { return ctx }
	s.work.Go(func() { s.follow(ctx) })
	s.work.Go(func() { s.ask(ctx) })
	s.work.Go(func() { _ = s.http.Serve(l) })
	return s, nil
}

// URL is the address to open, with the token.
func (s *Server) URL() string { return "http://" + s.host + "/#" + s.token }

// Close ends the service, all connections and what it has begun.
func (s *Server) Close() {
	s.end()
	s.http.Close()
	s.work.Wait()
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.enterPage)
	mux.HandleFunc("POST /enter", s.enter)
	for _, name := range []string{"style.css", "enter.js", "page.js", "icon.svg"} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, static, "static/"+name) })
	}
	mux.HandleFunc("GET /p/{secret}/{$}", s.page)
	mux.HandleFunc("GET /p/{secret}/cells", s.cells)
	mux.HandleFunc("GET /p/{secret}/cell", s.cell)
	mux.HandleFunc("GET /p/{secret}/frame", s.frame)
	mux.HandleFunc("GET /p/{secret}/flame", s.flame)
	mux.HandleFunc("GET /p/{secret}/events", s.events)
	mux.HandleFunc("POST /p/{secret}/stop", s.act(s.stop))
	mux.HandleFunc("POST /p/{secret}/pause", s.act(s.pause))
	mux.HandleFunc("POST /p/{secret}/resume", s.act(s.resume))
	mux.HandleFunc("POST /p/{secret}/restore", s.act(s.restore))
	mux.HandleFunc("POST /p/{secret}/put-back", s.act(s.putBack))
	mux.HandleFunc("POST /p/{secret}/allow", s.act(s.allow))
	mux.HandleFunc("POST /p/{secret}/answer", s.act(s.answer))
	mux.HandleFunc("POST /p/{secret}/evaluate", s.act(s.evaluate))
	mux.HandleFunc("POST /p/{secret}/restart", s.act(s.restart))
	return mux
}

// server is the client of the server that is shown now.
func (s *Server) server() *control.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}
