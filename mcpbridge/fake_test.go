package mcpbridge

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"
	"testing"

	"swank-mcp/internal/await"
	"swank-mcp/mcpbridge/fake"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/tools"
)

// peer is a client of raw lines on a served bridge.
type peer struct {
	t     testing.TB
	in    io.WriteCloser
	out   *bufio.Reader
	image *fake.Image
	b     *Bridge
	stop  context.CancelFunc
	ended chan error

	writes atomic.Int64 // of the server that have begun
}

// everyTool is what tests serve, whatever the default is.
var everyTool = Selection{Toolsets: []string{allTools}}

// opens is Options.Open of an image without a Lisp.
func opens(image *fake.Image) func(string) tools.Session {
	return func(name string) tools.Session { return image.Session(name) }
}

// serve starts a bridge over pipes, with every tool if none are selected; it
// and everything of it is gone when the test ends.
func serve(t testing.TB, o Options) *peer {
	t.Helper()
	image := &fake.Image{}
	if o.Open == nil {
		o.Open = opens(image)
	}
	if o.Tools.Toolsets == nil && o.Tools.Tools == nil {
		o.Tools.Toolsets = everyTool.Toolsets
	}
	p := peerOf(t, New(o))
	p.image = image
	return p
}

// peerOf serves b over pipes.
func peerOf(t testing.TB, b *Bridge) *peer {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &peer{t: t, in: inW, out: bufio.NewReaderSize(outR, 1<<20), b: b, ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	p.stop = cancel
	go func() {
		err := p.b.Serve(ctx, inR, writes{outW, &p.writes})
		outW.Close()
		p.ended <- err
	}()
	t.Cleanup(func() {
		cancel()
		go io.Copy(io.Discard, p.out)
		inW.Close()
		await.From(t, "the end of Serve", p.ended)
		outR.Close()
	})
	return p
}

// writes counts the writes that have begun.
type writes struct {
	io.Writer
	begun *atomic.Int64
}

func (w writes) Write(b []byte) (int, error) {
	w.begun.Add(1)
	return w.Writer.Write(b)
}

// send writes lines; it does not wait for answers.
func (p *peer) send(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(p.in, l+"\n"); err != nil {
			p.t.Fatalf("writing %.80q: %v", l, err)
		}
	}
}

// answer is any message of the server.
type answer struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  struct {
		Content []struct{ Type, Text string }
		IsError bool
		raw     json.RawMessage
	} `json:"-"`
	RawResult json.RawMessage `json:"result"`
	Error     *struct {
		Code    int
		Message string
	} `json:"error"`
}

func (a *answer) text() string {
	if len(a.Result.Content) != 1 {
		return fmt.Sprintf("%d content blocks", len(a.Result.Content))
	}
	return a.Result.Content[0].Text
}

func (p *peer) line() string {
	p.t.Helper()
	type read struct {
		line string
		err  error
	}
	got := make(chan read, 1)
	go func() {
		l, err := p.out.ReadString('\n')
		got <- read{l, err}
	}()
	r := await.From(p.t, "an answer", got)
	if r.err != nil {
		p.t.Fatalf("reading an answer: %v", r.err)
	}
	return r.line
}

func decodeAnswer(t testing.TB, line string) *answer {
	t.Helper()
	var a answer
	if err := json.Unmarshal([]byte(line), &a); err != nil {
		t.Fatalf("the server sent %.200q: %v", line, err)
	}
	if a.JSONRPC != "2.0" {
		t.Fatalf("the server sent version %q in %.200q", a.JSONRPC, line)
	}
	if len(a.RawResult) > 0 && a.RawResult[0] == '{' {
		if err := json.Unmarshal(a.RawResult, &a.Result); err != nil {
			t.Fatalf("result %.200q: %v", a.RawResult, err)
		}
	}
	return &a
}

func (p *peer) receive() *answer {
	p.t.Helper()
	return decodeAnswer(p.t, p.line())
}

const initialize = `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`

// handshake initializes the session as clients before 2026-07-28 do.
func (p *peer) handshake() *peer {
	p.t.Helper()
	p.send(initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if a := p.receive(); string(a.ID) != `"init"` || a.Error != nil {
		p.t.Fatalf("initialize answered %+v", a)
	}
	return p
}

// toolCall is the line of a tools/call.
func toolCall(id, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

func evalCall(id, code string) string {
	return toolCall(id, "evaluate-lisp", `{"code":`+rawtext.Quote(code)+`}`)
}

// call sends a tools/call and returns its answer.
func (p *peer) call(tool, arguments string) *answer {
	p.t.Helper()
	p.send(toolCall("77", tool, arguments))
	a := p.receive()
	if string(a.ID) != "77" {
		p.t.Fatalf("answer to %s, want 77: %+v", a.ID, a)
	}
	return a
}

// alive checks that the session still works.
func (p *peer) alive() {
	p.t.Helper()
	p.send(evalCall("987654", "(+ 1 2)"))
	if a := p.receive(); string(a.ID) != "987654" || a.text() != "=> 3" {
		p.t.Fatalf("the session is broken: %+v", a)
	}
}
