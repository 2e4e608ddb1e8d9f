package serve

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
	"swank-mcp/serve/hub"
	"swank-mcp/serve/lease"
	"swank-mcp/swank/lisp/kept"
)

// term is that of the servers' leases. None of these tests waits for its end, and a server
// that stands still for two thirds of it loses its sessions.
const term = 10 * time.Second

// replica is a server that shares a directory with others.
func replica(t *testing.T, volume string) *site {
	t.Helper()
	server, err := lease.Open(filepath.Join(volume, "servers"), term, slog.New(slog.DiscardHandler))
	check(t, err)
	t.Cleanup(server.Close)
	var taken atomic.Pointer[lease.Lease] // of one session, that of the test
	return start(t, volume, func(o *Options) {
		o.Hub.Own = func(id hub.ID) (hub.Lease, error) {
			dir := filepath.Join(volume, id.Principal, id.Name)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return nil, err
			}
			l, err := server.Take(dir)
			if err != nil {
				return nil, err
			}
			taken.Store(l)
			return l, nil
		}
		o.Hub.Handshakes = func(id hub.ID) string { return filepath.Join(volume, id.Principal, "handshakes", id.Name) }
		o.Hub.Make = func(id hub.ID, newID func() string) (*hub.Work, error) {
			l := taken.Load()
			left, err := kept.OpenShared(filepath.Join(volume, id.Principal, id.Name), l.Number(), l.Lost)
			if err != nil {
				return nil, err
			}
			return workKept(volume, id, newID, left)
		}
	})
}

// A connection goes on at the server that gets its session, back and forth, with what its
// client said at the handshake; it is nobody else's, and where it was ended it is nowhere.
func TestConnectionGoesOn(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	a, b := replica(t, volume), replica(t, volume)
	id, _ := a.handshake(call{path: "/s/x/mcp"})
	other, _ := a.handshake(call{path: "/s/x/mcp"})
	at := func(id, text string) call { return code(text).within(id).at("/s/x/mcp") }
	a.wants(at(id, "(defun f () 1)"), "=> F")
	for what, c := range map[string]call{
		"another principal's":  at(id, "1").by("bert"),
		"of another session":   code("1").within(id).at("/s/y/mcp"),
		"of no session":        code("1").within(id),
		"that there never was": at("NEVERMADENEVERMADENEVERMADE", "1"),
	} {
		if r := b.send(c); r.status != 404 || strings.TrimSpace(r.body) != "session not found" {
			t.Errorf("%s: %+v", what, r)
		}
	}
	if list := b.s.hub.List(); len(list) > 0 {
		t.Errorf("they have made %v", list)
	}
	b.says(at(id, "(defun f () (list 'b))"), "=> F")
	a.says(at(id, "(f)"), "=> (B)")
	a.says(at(other, "(f)"), "=> (B)")
	b.says(at(other, "(f)"), "=> (B)")
	end := call{path: "/s/x/mcp", method: "DELETE", header: map[string]string{sessionHeader: id, versionHeader: "2025-11-25"}}
	if r := a.send(end); r.status != 204 {
		t.Errorf("ended: %+v", r)
	}
	for _, p := range []*site{a, b, a} {
		if r := p.send(at(id, "1")); r.status != 404 {
			t.Errorf("after its end: %+v", r)
		}
		p.says(at(other, "(f)"), "=> (B)")
	}
}

// An answer begins when there is something to say, or after a while: until then a proxy can
// say that the server has died. Then who has lost it can come back for it.
func TestAnswersBeginLate(t *testing.T) {
	t.Parallel()
	p := replica(t, t.TempDir())
	id, _ := p.handshake(call{path: "/s/x/mcp"})
	g := await.NewGate(t)
	for _, c := range []struct {
		code  string
		from  time.Duration
		begun func()
	}{
		{"(progn (sleep 1) 'soon)", time.Second, func() {}},
		{fmt.Sprintf("(progn %s 'late)", g.Wait()), holdTime, g.Open}, // not before the answer has begun
	} {
		p.says(code("1").within(id).at("/s/x/mcp"), "=> 1") // its image runs
		began := time.Now()
		resp, err := p.open(await.Context(t), code(c.code).within(id).at("/s/x/mcp"))
		check(t, err)
		if took := time.Since(began); took < c.from {
			t.Errorf("the answer to %s begins after %v", c.code, took)
		}
		c.begun()
		text, err := io.ReadAll(resp.Body)
		check(t, err)
		resp.Body.Close()
		if before, _, found := strings.Cut(string(text), "event: message"); !found || !strings.HasPrefix(before, "event: prime\nid: ") {
			t.Errorf("the answer to %s is %q", c.code, text)
		}
	}
}

// The SDK's client with its stream by GET has no call fail while its session goes from one
// server to the other and back, in the middle of its calls.
func TestClientsAreHandedOver(t *testing.T) {
	tier.More(t)
	t.Parallel()
	volume := t.TempDir()
	servers := []*site{replica(t, volume), replica(t, volume)}
	const most = 5 // a stream by GET on which no message comes is opened again no more often, by the SDK
	var now, answered atomic.Int32
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		to, _ := url.Parse(servers[now.Load()].url)
		r.SetURL(to)
	}}
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	for _, era := range []string{"2025-06-18", "2025-11-25", newEra} {
		c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{
			Endpoint: front.URL + "/s/x/mcp", HTTPClient: &http.Client{Transport: bearer(servers[0].tokens["anna"])},
		}, &mcp.ClientSessionOptions{ProtocolVersion: era})
		check(t, err)
		moves, stop := context.WithCancel(t.Context())
		moved := make(chan int)
		go func() {
			n, last := 0, int32(0)
			for tick := time.NewTicker(700 * time.Millisecond); ; {
				select {
				case <-tick.C:
					if seen := answered.Load(); seen > last && n < most { // else a busy machine does nothing but move
						now.Store(1 - now.Load())
						last = seen
						n++
					}
				case <-moves.Done():
					moved <- n
					return
				}
			}
		}()
		for i := range 12 {
			r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "evaluate-lisp", Arguments: map[string]any{"code": "(progn (sleep 0.3) (+ 40 2))"}})
			if err != nil {
				t.Fatalf("%s, call %d: %v", era, i, err)
			}
			answered.Add(1)
			if text := r.Content[0].(*mcp.TextContent).Text; r.IsError || !strings.HasSuffix(text, "=> 42") {
				t.Errorf("%s, call %d: %s", era, i, text)
			}
		}
		stop()
		if n := <-moved; n < 3 {
			t.Errorf("%s: it has moved %d times", era, n)
		}
		check(t, session.Close())
	}
}
