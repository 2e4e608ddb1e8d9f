package serve

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/internal/await"
	"swank-mcp/serve/hub"
)

// bearer sends a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// The SDK's own client works in both eras, at both addresses: what it defines stays from
// call to call, and progress comes.
func TestSDKClient(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(*Options) {})
	for _, era := range []string{"2025-06-18", "2025-11-25", newEra} {
		for _, path := range []string{"/mcp", "/s/shared/mcp"} {
			g := await.NewGate(t)
			var progress atomic.Int32
			c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
					progress.Add(1)
					if strings.Contains(r.Params.Message, "NOW") {
						g.Open()
					}
				}})
			session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{
				Endpoint: p.url + path, HTTPClient: &http.Client{Transport: bearer(p.tokens["anna"])},
			}, &mcp.ClientSessionOptions{ProtocolVersion: era})
			check(t, err)
			if got := session.InitializeResult().ProtocolVersion; got != era {
				t.Errorf("%s at %s: it is %s", era, path, got)
			}
			evaluate := func(code string) string {
				t.Helper()
				call := &mcp.CallToolParams{Name: "evaluate-lisp", Arguments: map[string]any{"code": code}}
				call.SetProgressToken("p")
				r, err := session.CallTool(t.Context(), call)
				check(t, err)
				return r.Content[0].(*mcp.TextContent).Text
			}
			list, err := session.ListTools(t.Context(), nil)
			check(t, err)
			if len(list.Tools) < 20 {
				t.Errorf("%s at %s: %d tools", era, path, len(list.Tools))
			}
			if got := evaluate("(defun f (x) (* 2 x))"); got != "=> F" {
				t.Errorf("%s at %s: %s", era, path, got)
			}
			if got := evaluate(fmt.Sprintf("(progn (print 'now) %s (f 21))", g.Wait())); !strings.HasSuffix(got, "=> 42") {
				t.Errorf("%s at %s: %s", era, path, got)
			}
			if progress.Load() == 0 {
				t.Errorf("%s at %s: no progress", era, path)
			}
			check(t, session.Close())
		}
	}
}

// Sessions with and without names, in both eras: what is whose.
func TestSessionsAreApart(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(*Options) {})
	one, _ := p.handshake(call{})
	two, _ := p.handshake(call{})
	p.wants(code("(defvar *x* 'one)").within(one), "=> *X*")
	p.wants(code("(defvar *x* 'two)").within(two), "=> *X*")
	p.wants(code("(defvar *x* 'default)"), "=> *X*")
	p.wants(code("(defvar *x* 'named)").at("/s/Named/mcp"), "=> *X*")
	p.wants(code("(defvar *x* 'berts)").at("/s/Named/mcp").by("bert"), "=> *X*")
	named, _ := p.handshake(call{path: "/s/Named/mcp"})
	p.wants(code("*x*").within(one), "=> ONE")
	p.wants(code("*x*").within(two), "=> TWO")
	p.wants(code("*x*"), "=> DEFAULT")
	p.wants(code("*x*").at("/s/Named/mcp"), "=> NAMED")
	p.wants(code("*x*").at("/s/Named/mcp").within(named), "=> NAMED")
	p.wants(code("*x*").at("/s/Named/mcp").by("bert"), "=> BERTS")
	p.wants(code("*x*").at("/s/default/mcp"), "=> DEFAULT")

	// Long replies are of the session, whoever asks for them next.
	p.says(code(`(dotimes (i 9000) (write-string "xxxxx "))`).at("/s/Named/mcp"), `"out-1"`)
	read := tool("read-output", map[string]any{"handle": "out-1", "limit": 100}).at("/s/Named/mcp")
	p.says(read, "xxxxx")
	p.says(read.by("bert"), "none was too long so far")

	// Another principal's connection, and one of another address, are as one that there
	// never was.
	status := tool("session-status", map[string]any{}).within
	never := p.send(status("NEVERMADENEVERMADENEVERMADE"))
	if never.status != 404 {
		t.Errorf("a connection that there never was: %+v", never)
	}
	for what, c := range map[string]call{
		"another principal's":           status(one).by("bert"),
		"another principal's, to end":   {who: "bert", method: "DELETE", header: map[string]string{sessionHeader: one}},
		"another principal's, by GET":   {who: "bert", method: "GET", header: map[string]string{sessionHeader: one}},
		"another principal's named one": status(named).by("bert").at("/s/Named/mcp"),
		"of another address":            status(one).at("/s/Named/mcp"),
		"a named one without the name":  status(named),
	} {
		got := p.send(c)
		delete(got.head, "Date")
		delete(never.head, "Date")
		if got.status != never.status || got.body != never.body || fmt.Sprint(got.head) != fmt.Sprint(never.head) {
			t.Errorf("%s: %+v, want %+v", what, got, never)
		}
	}
	p.wants(code("*x*").within(one), "=> ONE")

	// The lists are of each principal.
	lists := map[string]string{}
	for who := range p.tokens {
		lists[who] = p.send(call{who: who, path: "/sessions", method: "GET"}).body
	}
	if strings.Count(lists["anna"], `"name"`) != 4 || strings.Count(lists["bert"], `"name"`) != 1 {
		t.Errorf("lists: %s", lists)
	}
	gone := p.send(call{who: "bert", path: "/sessions/default", method: "DELETE"})
	if r := p.send(call{who: "bert", path: "/sessions/none", method: "DELETE"}); gone.status != 404 || r.status != 404 || r.body != gone.body {
		t.Errorf("to end another one's: %+v, and none's: %+v", gone, r)
	}

	// What is told of one, too.
	show := func(who, name string) reply {
		r := p.send(call{who: who, path: "/sessions/" + name, method: "GET"})
		delete(r.head, "Date")
		return r
	}
	if r := show("anna", "Named"); r.status != 200 || !strings.Contains(r.body, `"evaluations":`) {
		t.Errorf("one's own: %+v", r)
	}
	none := show("bert", "none")
	for _, name := range []string{"default", "~1", "..", "%00", "a/b", strings.Repeat("x", 300)} {
		if r := show("bert", name); name != "a/b" && (r.status != 404 || name != ".." && fmt.Sprint(r) != fmt.Sprint(none)) {
			t.Errorf("another one's %.20s: %+v, and none: %+v", name, r, none)
		}
	}

	// A client that has had enough ends its session, and the image with it; a named one stays.
	pid := p.pid(code("0").within(two))
	if r := p.send(call{method: "DELETE", header: map[string]string{sessionHeader: two}}); r.status != 204 {
		t.Errorf("DELETE: %+v", r)
	}
	await.True(t, "the image of the session has ended", func() bool { return !alive(pid) })
	if r := p.send(status(two)); r.status != 404 || r.body != never.body {
		t.Errorf("after DELETE: %+v", r)
	}
	p.send(call{path: "/s/Named/mcp", method: "DELETE", header: map[string]string{sessionHeader: named}})
	p.wants(code("*x*").at("/s/Named/mcp"), "=> NAMED")
}

const getpid = `(sb-alien:alien-funcall (sb-alien:extern-alien "getpid" (function sb-alien:int)))`

// pid is the process of the image that answers c, whose code is replaced.
func (p *site) pid(c call) int {
	p.t.Helper()
	c.body.(map[string]any)["params"].(map[string]any)["arguments"] = map[string]any{"code": getpid}
	line, _, _ := strings.Cut(p.send(c).text(), "\n") // more is of the image before
	pid, err := strconv.Atoi(strings.TrimPrefix(line, "=> "))
	check(p.t, err)
	return pid
}

// alive reports whether the process is there and no zombie.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func init() { beatTime = 150 * time.Millisecond }

const stillAtWork = ": still at work\n\n"

// read sends the call and tells after each line what of the answer has come.
func (p *site) read(c call, tell func(body string)) reply {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second) // four of the usual signs take longer
	defer cancel()
	resp, err := p.open(ctx, c)
	check(p.t, err)
	defer resp.Body.Close()
	body := ""
	for lines := bufio.NewReader(resp.Body); ; tell(body) {
		line, err := lines.ReadString('\n')
		if body += line; err == io.EOF {
			return reply{resp.StatusCode, resp.Header, body}
		}
		check(p.t, err)
	}
}

// Who waits for a long evaluation gets signs of life, in both eras, and then the answer.
func TestSignsOfLife(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(*Options) {})
	id, _ := p.handshake(call{})
	for _, within := range []func(call) call{func(c call) call { return c }, func(c call) call { return c.within(id) }} {
		g := await.NewGate(t)
		r := p.read(within(code(fmt.Sprintf("(progn %s 'late)", g.Wait()))), func(body string) {
			if strings.Count(body, stillAtWork) == 4 {
				g.Open()
			}
		})
		if n := strings.Count(r.body, stillAtWork); n < 4 || r.text() != "=> LATE" || r.status != 200 || !strings.HasPrefix(r.head.Get("Content-Type"), "text/event-stream") {
			t.Errorf("%d signs: %+v", n, r)
		}
	}
}

// Whoever closes the stream of a request of the new era ends the evaluation. In the older
// one it goes on, and whoever comes back gets the answer.
func TestClosedStreams(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(*Options) {})
	p.wants(code("(defvar *n* 0)"), "=> *N*")
	busy := func(c call) (running bool) {
		return !strings.Contains(p.send(c).text(), "Evaluation running: none") && strings.Contains(p.send(c).text(), "sleep")
	}
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		resp, err := p.open(ctx, code("(loop (sleep 0.01) (incf *n*))"))
		if err == nil {
			_, err = io.ReadAll(resp.Body)
		}
		gone <- err
	}()
	status := tool("session-status", map[string]any{})
	await.True(t, "the evaluation runs", func() bool { return busy(status) })
	cancel()
	if err := <-gone; err == nil {
		t.Error("the closed request was answered")
	}
	await.True(t, "the evaluation has ended", func() bool { return !busy(status) })
	p.wants(code("(+ 1 2)"), "=> 3")

	id, _ := p.handshake(call{})
	ctx, cancel = context.WithCancel(t.Context())
	resp, err := p.open(ctx, code("(progn (sleep 1) 'late)").within(id))
	check(t, err)
	head := make([]byte, 200)
	n, err := resp.Body.Read(head) // the event that says where to go on
	check(t, err)
	_, event, _ := strings.Cut(string(head[:n]), "id: ")
	event, _, _ = strings.Cut(event, "\n")
	cancel()
	resp.Body.Close()
	var got reply
	await.True(t, "the server has seen that the stream is closed", func() bool {
		got = p.send(call{method: "GET", header: map[string]string{sessionHeader: id, versionHeader: "2025-11-25", "Last-Event-ID": event}})
		return got.status != 409
	})
	if text := got.text(); text != "=> LATE" {
		t.Errorf("who has come back gets %s", text)
	}
}

// At the limits the answer says which it is and when to come back, in the head and in words; where
// that is not known, it says so.
func TestLimits(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(o *Options) { o.Hub.Limits = hub.Limits{Sessions: 4, PerPrincipal: 3, Images: 1} })
	refused := func(c call, known bool, status int, words ...string) {
		t.Helper()
		r := p.send(c)
		again := "When there will be room is not known. Send the same again later"
		if head := r.head.Get("Retry-After"); head != "" {
			after, err := strconv.Atoi(head)
			if err != nil || after < 1 || after > 60 {
				t.Errorf("Retry-After: %s", head)
			}
			again = fmt.Sprintf("Send the same again in %d seconds", after)
		}
		if r.status != status || !strings.Contains(r.body, `"id":`) || (again[0] == 'S') != known {
			t.Errorf("%+v, want %d; when there is room is known: %v", r, status, known)
		}
		for _, w := range append(words, again) {
			if !strings.Contains(r.body, w) {
				t.Errorf("%s does not say %q", r.body, w)
			}
		}
	}
	p.wants(code("(defun f () 1)").at("/s/a/mcp"), "=> F")
	g := await.NewGate(t)
	var waiting sync.WaitGroup
	waiting.Go(func() { p.wants(code(fmt.Sprintf("(progn %s (f))", g.Wait())).at("/s/a/mcp"), "=> 1") })
	g.Reached()
	refused(code("1").at("/s/b/mcp"), false, 503, "1 Lisp images running, which is its limit")
	g.Open()
	waiting.Wait()
	// What nobody uses makes room, and is there again when it is used.
	await.True(t, "there is room", func() bool { return p.send(code("(+ 1 2)").at("/s/b/mcp")).text() == "=> 3" })
	await.True(t, "there is room again", func() bool { return p.send(code("(f)").at("/s/a/mcp")).status == 200 })
	p.wants(code("(f)").at("/s/a/mcp"), "=> 1")

	p.handshake(call{}) // the third
	refused(code("1").at("/s/d/mcp"), true, 429, "You have 3 sessions")
	_, r := p.handshake(call{})
	if r.status != 429 {
		t.Errorf("a handshake more: %+v", r)
	}
	p.handshake(call{who: "bert"})
	refused(code("1").at("/s/e/mcp").by("bert"), true, 503, "The server has 4 sessions")
}

// What Prometheus reads: sums, with a token, without anybody's name.
func TestMetrics(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(*Options) {})
	p.wants(code("(+ 1 2)").at("/s/Secret-name/mcp"), "=> 3")
	p.send(code("(error \"x\")").at("/s/Secret-name/mcp"))
	p.send(call{who: "nobody", body: "{}"})
	read := func() string { return p.send(call{path: "/metrics", method: "GET"}).body }
	for _, line := range []string{
		`swank_mcp_evaluations_total{outcome="ok"} 1`, `swank_mcp_evaluations_total{outcome="error"} 1`, "swank_mcp_evaluation_seconds_count 2",
		"swank_mcp_sessions 1", "swank_mcp_images 1", "swank_mcp_sessions_made_total 1", "swank_mcp_jobs_waiting 0", "swank_mcp_requests 0",
		`swank_mcp_image_changes_total{change="started"} 1`, `swank_mcp_refused_requests_total{why="token"} 1`, "process_resident_memory_bytes",
	} {
		await.True(t, "there is "+line, func() bool { return strings.Contains(read(), "\n"+line) })
	}
	if text := strings.ToLower(read()); strings.Contains(text, "secret-name") || strings.Contains(text, "anna") {
		t.Errorf("it tells whose: %s", text)
	}
	if r := p.send(call{path: "/metrics", method: "GET", who: "nobody"}); r.status != 401 {
		t.Errorf("without a token: %d", r.status)
	}
}
