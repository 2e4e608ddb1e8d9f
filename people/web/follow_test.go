package web

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"swank-mcp/people/control"
)

// A server that is late with its status is not taken for one that has ended.
func TestFollowGoesOnAtABusyServer(t *testing.T) {
	dir, err := os.MkdirTemp("", "swf")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "1.sock"))
	if err != nil {
		t.Fatal(err)
	}
	events := make(chan struct{}, 1)
	events <- struct{}{}
	again := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-events: // the first one ends at once
		default:
			close(again)
			<-r.Context().Done()
		}
	})
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	web := &http.Server{Handler: mux}
	go web.Serve(l)
	t.Cleanup(func() { web.Close() })
	found := control.Find([]string{dir})
	if len(found) != 1 {
		t.Fatalf("there are %d servers", len(found))
	}
	gone := make(chan struct{}, 1)
	status := new(control.Status)
	s := &Server{o: Options{Client: found[0], Status: status, Find: func(context.Context) (*control.Client, *control.Status) {
		select {
		case gone <- struct{}{}:
		default:
		}
		return nil, nil
	}}, book: newBook(), side: newSide(status)}
	ctx, cancel := context.WithCancel(t.Context())
	s.work.Go(func() { s.follow(ctx) })
	defer s.work.Wait()
	defer cancel()
	select {
	case <-again:
	case <-gone:
		t.Error("it looks for another server")
	}
}
