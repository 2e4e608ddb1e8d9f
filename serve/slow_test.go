package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"swank-mcp/internal/await"
)

func init() { bodyTime, writeTime = 3*time.Second, 3*time.Second }

// dial connects to the server, for a client that speaks worse than those of Go.
func (p *site) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		t.Error(err)
		runtime.Goexit()
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Who says that a body comes and sends none is answered and let go, with a token and without.
func TestBodiesThatDoNotCome(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(*Options) {})
	id, _ := p.handshake(call{})
	token := "Authorization: Bearer " + p.tokens["anna"] + "\r\n"
	var clients sync.WaitGroup
	for _, line := range []struct{ name, head, status string }{
		{"no token", "POST /mcp HTTP/1.1\r\n", "401"},
		{"no token, to a session", "POST /s/x/mcp HTTP/1.1\r\n", "401"},
		{"no token, GET", "GET /mcp HTTP/1.1\r\n", "401"},
		{"health", "GET /healthz HTTP/1.1\r\n", "200"},
		{"readiness", "GET /readyz HTTP/1.1\r\n", "200"},
		{"nowhere", "POST /nowhere HTTP/1.1\r\n", "404"},
		{"a token", "POST /mcp HTTP/1.1\r\n" + token, "400"},
		{"a token, GET", "GET /mcp HTTP/1.1\r\n" + token + "Accept: text/event-stream\r\n" + sessionHeader + ": " + id + "\r\n", "400"},
		{"a token, DELETE", "DELETE /mcp HTTP/1.1\r\n" + token + sessionHeader + ": " + id + "\r\n", "400"},
		{"a token, the list", "GET /sessions HTTP/1.1\r\n" + token, "200"},
	} {
		for _, length := range []string{"Content-Length: 1000\r\n\r\n", "Content-Length: 1000\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n5\r\nab"} {
			clients.Go(func() {
				answer := p.answer(t, line.head+"Host: 127.0.0.1\r\n"+length)
				if !strings.HasPrefix(answer, "HTTP/1.1 "+line.status) {
					t.Errorf("%s, %q: %.300s", line.name, length, answer)
				}
			})
		}
	}
	clients.Wait()
}

// answer sends a request that is not all there, and returns what comes until the server closes
// the connection.
func (p *site) answer(t *testing.T, request string) string {
	c := p.dial(t)
	_ = c.SetDeadline(time.Now().Add(await.Ceiling))
	_, _ = io.WriteString(c, request)
	answer, err := io.ReadAll(c)
	if err != nil {
		t.Errorf("%q: %v", request, err)
	}
	return string(answer)
}

// Who asks and asks and reads no answer is let go.
func TestAnswersThatNobodyReads(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(*Options) {})
	same := httptest.NewUnstartedServer(p.s.http.Handler)
	closed := make(chan bool, 10)
	same.Config.ConnState = func(c net.Conn, is http.ConnState) {
		switch is {
		case http.StateNew:
			_ = c.(*net.TCPConn).SetWriteBuffer(4096) // soon full
		case http.StateClosed:
			closed <- true
		}
	}
	same.Start()
	t.Cleanup(same.Close)
	p.url = same.URL
	for _, path := range []string{"/healthz", "/mcp"} {
		c := p.dial(t)
		go func() {
			request := "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
			for err := error(nil); err == nil; { // until one of the sides closes it
				_, err = io.WriteString(c, strings.Repeat(request, 1000))
			}
		}()
	}
	for range 2 {
		await.From(t, "the server closes a connection", closed)
	}
}

// What a client waits for may take longer than a body may, in both eras and by both protocols
// of HTTP: answers, and streams on which nothing comes.
func TestLongAnswersStay(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(*Options) {})
	second := httptest.NewUnstartedServer(p.s.http.Handler)
	second.EnableHTTP2 = true
	second.StartTLS()
	t.Cleanup(second.Close)
	var clients sync.WaitGroup
	for _, over := range []struct {
		proto, url string
		client     *http.Client
	}{{"HTTP/1.1", p.url, http.DefaultClient}, {"HTTP/2.0", second.URL, second.Client()}} {
		for _, c := range []struct {
			name string
			call
			says string // "" is of a stream that has no end
		}{
			{"a call", code("(progn (sleep 4) 'slept)"), "SLEPT"},
			{"a call of the older era", code("(progn (sleep 4) 'slept)").within(p.olderHeader()[sessionHeader]), "SLEPT"},
			{"GET", call{method: "GET", header: p.olderHeader()}, ""},
			{"GET with a body", call{method: "GET", header: p.olderHeader(), body: "{}"}, ""},
		} {
			clients.Go(func() {
				ctx, cancel := await.Limited(t.Context())
				defer cancel()
				resp, err := over.client.Do(p.request(ctx, over.url, c.call))
				if err != nil || resp.StatusCode != 200 || resp.Proto != over.proto {
					t.Errorf("%s, %s: %+v, %v", over.proto, c.name, resp, err)
					return
				}
				defer resp.Body.Close()
				if c.says == "" {
					time.AfterFunc(bodyTime+writeTime+time.Second, cancel)
				}
				text, err := io.ReadAll(resp.Body)
				if !strings.Contains(string(text), c.says) || (c.says == "") != errors.Is(err, context.Canceled) {
					t.Errorf("%s, %s: %s, %v", over.proto, c.name, text, err)
				}
			})
		}
	}
	clients.Wait()
}

// olderHeader is the head of requests of a new connection of the older era.
func (p *site) olderHeader() map[string]string {
	p.t.Helper()
	id, _ := p.handshake(call{})
	return map[string]string{sessionHeader: id, versionHeader: "2025-11-25"}
}

// request is c for the server at url, which has the same sessions.
func (p *site) request(ctx context.Context, url string, c call) *http.Request {
	body, ok := c.body.(string)
	if c.body != nil && !ok {
		text, err := json.Marshal(c.body)
		check(p.t, err)
		body = string(text)
	}
	r, err := http.NewRequestWithContext(ctx, cmp.Or(c.method, "POST"), url+"/mcp", strings.NewReader(body))
	check(p.t, err)
	for k, v := range c.header {
		r.Header.Set(k, v)
	}
	r.Header.Set("Authorization", "Bearer "+p.tokens["anna"])
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	return r
}
