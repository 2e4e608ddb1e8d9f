package mcpbridge

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"runtime"
	"strings"
	"sync"
	"testing"
	"weak"

	"swank-mcp/internal/await"
	"swank-mcp/mcpbridge/fake"
	"swank-mcp/mcpbridge/stdio"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp"
)

// TestTwoConnections: each has an order of its own, and an end of its own.
func TestTwoConnections(t *testing.T) {
	one := serve(t, Options{}).handshake()
	two := peerOf(t, one.b).handshake()
	for i := range 100 {
		var both sync.WaitGroup
		for _, p := range []*peer{one, two} {
			both.Go(func() { p.pingBehindACall(fmt.Sprint(i)) })
		}
		both.Wait()
		if t.Failed() {
			t.Fatalf("in round %d", i)
		}
	}
	two.send(evalCall("1", "wait 300ms"))
	one.stop()
	one.end(nil)
	if a := two.receive(); a.text() != "=> waited 300ms" {
		t.Errorf("the end of another connection ended a call: %+v", a)
	}
	two.alive()
}

// pingBehindACall sends a call that runs for ever, a ping, which must be answered, and
// the end of the call.
func (p *peer) pingBehindACall(id string) {
	lines := evalCall(id, "hang") + "\n" + `{"jsonrpc":"2.0","id":"ping","method":"ping"}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + "}}\n"
	answered := make(chan string, 1)
	go func() {
		line, _ := p.out.ReadString('\n')
		answered <- line
	}()
	go io.WriteString(p.in, lines)
	if line := await.From(p.t, "the answer to a ping behind a call", answered); !strings.Contains(line, `"id":"ping"`) {
		p.t.Errorf("the ping was answered %q", line)
	}
}

// TestWorkspacesAreApart: of two connections on one bridge the first has the session of
// the bridge, the second one of its own, and neither meets what the other has kept.
func TestWorkspacesAreApart(t *testing.T) {
	one := serve(t, Options{Session: "mine"}).handshake()
	if a := one.call("evaluate-lisp", `{"code":"session"}`); a.text() != "=> mine" {
		t.Errorf("the first works in %s", a.text())
	}
	two, three := peerOf(t, one.b).handshake(), peerOf(t, one.b).handshake()
	names := map[string]bool{"=> mine": true}
	for _, p := range []*peer{two, three} {
		name := p.call("evaluate-lisp", `{"code":"session"}`).text()
		if !strings.HasPrefix(name, "=> mine#") || names[name] {
			t.Errorf("another one works in %s", name)
		}
		names[name] = true
	}

	if a := one.call("evaluate-lisp", `{"code":"repeat 10000"}`); !strings.Contains(a.text(), `"out-1"`) {
		t.Fatalf("a long reply: %.300s", a.text())
	}
	if a := two.call("read-output", `{"handle":"out-1"}`); !a.Result.IsError || !strings.Contains(a.text(), "none was too long so far") {
		t.Errorf("the second reads the first one's reply: %.300s", a.text())
	}
	two.send(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"lisp://output/out-1"}}`)
	if a := two.receive(); a.Error == nil || !strings.Contains(a.Error.Message, "There is no text under the handle") {
		t.Errorf("the second reads the first one's resource: %s", a.RawResult)
	}
	two.send(`{"jsonrpc":"2.0","id":2,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"lisp://output/{handle}"},"argument":{"name":"handle","value":""}}}`)
	if a := two.receive(); !strings.Contains(string(a.RawResult), `"values":[]`) {
		t.Errorf("the second is offered the first one's handles: %s", a.RawResult)
	}
	if a := two.call("evaluate-lisp", `{"code":"repeat 9000"}`); !strings.Contains(a.text(), `"out-1"`) {
		t.Errorf("the second one's first long reply: %.300s", a.text())
	}
	if a := one.call("read-output", `{"handle":"out-1","limit":10}`); !strings.Contains(a.text(), "of 110,003\n") {
		t.Errorf("the first has lost its reply: %s", a.text())
	}
}

// TestTwoConnectionsAtOnce: 1,000 calls and cancellations, 500 of each connection, up
// to 20 in flight. Every call is answered with what is its own, and the cancelled ones
// are not.
func TestTwoConnectionsAtOnce(t *testing.T) {
	one := serve(t, Options{MaxOutput: minOutput}).handshake()
	two := peerOf(t, one.b).handshake()
	two.image = one.image
	t.Run("both", func(t *testing.T) {
		for i, p := range []*peer{one, two} {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				p.t = t
				p.callAtOnce(fmt.Sprintf("client%d", i), 500, rand.New(rand.NewSource(int64(i))))
			})
		}
	})
	one.t, two.t = t, t
	one.waitRunning(0)
	one.alive()
	two.alive()
}

// callAtOnce sends n calls, each with a text of its own that names the client, and
// holds the answers to it.
func (p *peer) callAtOnce(client string, n int, random *rand.Rand) {
	want := map[string]string{} // the text of each answer that is to come, by id
	long := 0
	for i := range n {
		id, own := fmt.Sprint(i), fmt.Sprintf("%s call %d;", client, i)
		switch random.Intn(4) {
		case 0: // cancelled while it runs, or before
			p.send(evalCall(id, "hang"), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`)
		case 1: // too long: kept under the client's next handle, where it reads on
			for len(want) > 0 {
				p.answerAtOnce(want)
			}
			p.send(evalCall(id, "echo "+strings.Repeat(own, 200)))
			long++
			if a := p.receive(); string(a.ID) != id || !strings.Contains(a.text(), fmt.Sprintf(`"out-%d"`, long)) {
				p.t.Errorf("%s %s: %s answered %.300s", client, id, a.ID, a.text())
			}
			p.send(toolCall(id, "read-output", fmt.Sprintf(`{"handle":"out-%d","limit":600,"offset":3}`, long)))
			if a := p.receive(); strings.Count(a.text(), own) < 600/len(own) {
				p.t.Errorf("%s reads %.300s", client, a.text())
			}
		default:
			p.send(evalCall(id, "echo "+own))
			want[id] = "=> " + own
		}
		for len(want) > random.Intn(20) {
			p.answerAtOnce(want)
		}
		if p.t.Failed() {
			return
		}
	}
	for len(want) > 0 {
		p.answerAtOnce(want)
	}
}

func (p *peer) answerAtOnce(want map[string]string) {
	a := p.receive()
	if text, ok := want[string(a.ID)]; !ok || a.text() != text {
		p.t.Errorf("%s was answered %.300s, want %q", a.ID, a.text(), text)
	}
	delete(want, string(a.ID))
}

// seeing tells of the workspace in which it evaluates.
type seeing struct {
	*fake.Session
	seen chan weak.Pointer[workspace]
}

func (s seeing) Evaluate(ctx context.Context, r lisp.Request) (*lisp.Result, error) {
	if w, ok := ctx.Value(workspaceKey{}).(*workspace); ok {
		s.seen <- weak.Make(w)
	}
	return s.Session.Evaluate(ctx, r)
}

// TestWorkspaceIsFreed: nothing of a connection stays when it is closed, whoever made it.
func TestWorkspaceIsFreed(t *testing.T) {
	image, seen := &fake.Image{}, make(chan weak.Pointer[workspace], 10)
	b := New(Options{Open: func(name string) tools.Session { return seeing{image.Session(name), seen} }})
	func() {
		p := peerOf(t, b).handshake()
		p.call("evaluate-lisp", `{"code":"repeat 10000"}`)
		p.in.Close()
		p.end(nil)
	}()
	gone := <-seen
	await.True(t, "the workspace goes", func() bool {
		runtime.GC()
		return gone.Value() == nil
	})

	peerOf(t, b).handshake() // has the session that is named, since the first has ended
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	defer outR.Close()
	go io.Copy(io.Discard, outR)
	session, err := b.Server().Connect(t.Context(), &stdio.Transport{In: inR, Out: outW}, nil)
	if err != nil {
		t.Fatal(err)
	}
	others := func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return len(b.others)
	}
	io.WriteString(inW, initialize+"\n"+evalCall("1", "x")+"\n")
	await.True(t, "the session of the connection", func() bool { return others() == 1 })
	inW.Close()
	if err := session.Wait(); err != nil {
		t.Error(err)
	}
	await.True(t, "the end of that session", func() bool { return others() == 0 })
	// Those that are named stay; that of the last connection is nobody's any more.
	if closed := image.Closed(); len(closed) != 1 || !strings.HasPrefix(closed[0], DefaultSession+"#") {
		t.Errorf("closed sessions: %q", closed)
	}
}
