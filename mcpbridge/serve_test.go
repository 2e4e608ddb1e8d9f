package mcpbridge

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"swank-mcp/internal/await"
	"swank-mcp/internal/testenv"
	"swank-mcp/mcpbridge/fake"
	"swank-mcp/mcpbridge/stdio"
	"swank-mcp/mcpbridge/stdio/stdiotest"
)

// TestMain checks that the tests leave no goroutine of the bridge or of the
// SDK behind.
func TestMain(m *testing.M) {
	code := testenv.Main(m)
	if left := leaks(); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines left behind:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

func leaks() string {
	var left []string
	_ = await.Until(func() bool {
		buf := make([]byte, 4<<20)
		left = nil
		for i, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			// The first is the caller.
			if i > 0 && (strings.Contains(g, "swank-mcp/mcpbridge") || strings.Contains(g, "modelcontextprotocol/go-sdk")) {
				left = append(left, g)
			}
		}
		return left == nil
	})
	return strings.Join(left, "\n\n")
}

// TestHostileLines: each is answered with its own error, and the session lives.
func TestHostileLines(t *testing.T) {
	p := serve(t, Options{}).handshake()
	for _, tt := range stdiotest.Hostile {
		t.Run(tt.Name, func(t *testing.T) {
			p.t = t
			p.send(tt.Line)
			if tt.Code != 0 {
				a := p.receive()
				if a.Error == nil || a.Error.Code != tt.Code || string(a.ID) != tt.ID {
					t.Errorf("answered id %s %+v, want id %s code %d", a.ID, a.Error, tt.ID, tt.Code)
				} else if len(a.Error.Message) > stdio.MaxErrorMessage+10 {
					t.Errorf("message of %d bytes", len(a.Error.Message))
				}
			}
			p.alive()
		})
	}
	p.t = t
}

func TestLongLines(t *testing.T) {
	p := serve(t, Options{}).handshake()
	// Longer than any buffer, and fine.
	p.send(evalCall("1", "echo "+strings.Repeat("é", 100_000)))
	if a := p.receive(); !strings.HasPrefix(a.text(), "=> éé") {
		t.Errorf("100 kB of code: %.100q", a.text())
	}
	for name, tt := range map[string]struct{ head, tail, id string }{
		"id first":  {`{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"x":"`, `"}}`, "41"},
		"id last":   {`{"method":"tools/call","params":{"x":"`, `"},"jsonrpc":"2.0","id":"a b"}`, `"a b"`},
		"id inside": {`{"method":"tools/call","jsonrpc":"2.0","params":{"x":"`, `","id":7}}`, "null"},
		"no JSON":   {"", "", "null"},
	} {
		p.send(tt.head + strings.Repeat("x", stdio.DefaultMaxLine+10) + tt.tail)
		a := p.receive()
		if a.Error == nil || a.Error.Code != -32600 || string(a.ID) != tt.id {
			t.Errorf("%s: id %s %+v, want id %s code -32600", name, a.ID, a.Error, tt.id)
		}
		p.alive()
	}
}

// TestByteOrderMark: one before the first message is none of it.
func TestByteOrderMark(t *testing.T) {
	p := serve(t, Options{})
	if _, err := io.WriteString(p.in, "\ufeff"); err != nil {
		t.Fatal(err)
	}
	p.handshake().alive()
}

func TestLineEnds(t *testing.T) {
	p := serve(t, Options{}).handshake()
	if _, err := io.WriteString(p.in, "\r\n\n\n"+evalCall("1", "x")+"\r\n"+" "+evalCall("2", "x")+" \n"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if a := p.receive(); a.text() != "=> 3" {
			t.Errorf("answered %+v", a)
		}
	}
	// The last line needs no end.
	if _, err := io.WriteString(p.in, evalCall("3", "x")); err != nil {
		t.Fatal(err)
	}
	p.in.Close()
	if a := p.receive(); string(a.ID) != "3" || a.text() != "=> 3" {
		t.Errorf("answered %+v", a)
	}
}

func TestIDs(t *testing.T) {
	p := serve(t, Options{}).handshake()
	for _, id := range []string{"0", "-1", "1.5", "9007199254740993", "1e3", "123456789012345678901234567890", `""`, `"x"`, `"\ud800"`, `"swank-mcp#1"`, `"λ"`} {
		p.send(evalCall(id, "x"))
		if a := p.receive(); string(a.ID) != id || a.text() != "=> 3" {
			t.Errorf("id %s answered as %s: %+v", id, a.ID, a)
		}
	}
	// Two calls of one id at a time: two answers.
	p.send(evalCall("5", "wait 50ms"), evalCall("5", "wait 51ms"), evalCall("6", "x"))
	var got []string
	for range 3 {
		a := p.receive()
		got = append(got, string(a.ID)+" "+a.text())
	}
	slices.Sort(got)
	if want := []string{"5 => waited 50ms", "5 => waited 51ms", "6 => 3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBatch(t *testing.T) {
	p := serve(t, Options{}).handshake()
	p.send(`[` + evalCall("1", "wait 30ms") + `, 17 ,{"jsonrpc":"2.0","method":"notifications/initialized"},` + evalCall(`"b"`, "echo 2") + `]`)
	var answers []json.RawMessage
	if err := json.Unmarshal([]byte(p.line()), &answers); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, raw := range answers {
		a := decodeAnswer(t, string(raw))
		got = append(got, fmt.Sprintf("%s %s %v", a.ID, a.text(), a.Error != nil))
	}
	slices.Sort(got)
	if want := []string{`"b" => 2 false`, "1 => waited 30ms false", "null 0 content blocks true"}; !slices.Equal(got, want) {
		t.Errorf("batch answered %q, want %q", got, want)
	}
	p.send(`[{"jsonrpc":"2.0","method":"notifications/initialized"}]`) // no answer
	p.alive()
	p.send(`[` + evalCall("1", "hang") + `,{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]`)
	p.alive()
}

// TestCancel: the evaluation ends, its answer is not sent, the session goes on.
func TestCancel(t *testing.T) {
	p := serve(t, Options{}).handshake()
	for _, id := range []string{"1", `"s"`, "2.5", "9007199254740993"} {
		p.image.Deaf.Lock()
		p.send(evalCall(id, "deaf"))
		p.waitRunning(1)
		p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"test"}}`)
		p.alive() // and its answer is the next line
		p.image.Deaf.Unlock()
		p.waitRunning(0)
	}
	p.alive()
	rest := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(p.out)
		rest <- string(text)
	}()
	p.in.Close()
	p.end(nil)
	if text := await.From(t, "the end of the answers", rest); text != "" {
		t.Errorf("a call that was cancelled was answered: %s", text)
	}
}

func (p *peer) waitRunning(n int) {
	p.t.Helper()
	await.True(p.t, fmt.Sprintf("%d evaluations run", n), func() bool { return p.image.Running() == n })
}

// TestEndOfInput: calls in flight are answered before the server ends.
func TestEndOfInput(t *testing.T) {
	p := serve(t, Options{}).handshake()
	for i := range 20 {
		p.send(evalCall(fmt.Sprint(i), fmt.Sprintf("wait %dms", 100+i)))
	}
	p.in.Close()
	seen := make(map[string]bool)
	for range 20 {
		a := p.receive()
		seen[string(a.ID)] = strings.HasPrefix(a.text(), "=> waited")
	}
	if len(seen) != 20 {
		t.Errorf("%d of 20 answered", len(seen))
	}
	p.end(nil)
}

// TestEndOfInputGrace: a call that goes on for ever does not hold the server.
func TestEndOfInputGrace(t *testing.T) {
	image := &fake.Image{}
	b := New(Options{Open: opens(image)})
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	defer outR.Close()
	go io.Copy(io.Discard, outR)
	session, err := b.Server().Connect(t.Context(), &stdio.Transport{In: inR, Out: outW, Grace: 50 * time.Millisecond}, nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		io.WriteString(inW, initialize+"\n"+evalCall("1", "hang")+"\n")
		inW.Close()
	}()
	start := time.Now()
	await.Do(t, "the end of the session", func() { err = session.Wait() })
	if err != nil {
		t.Errorf("session ended with %v", err)
	}
	if d := time.Since(start); d < 50*time.Millisecond {
		t.Errorf("ended after %v", d)
	}
}

// end waits for Serve to return.
func (p *peer) end(want error) {
	p.t.Helper()
	err := await.From(p.t, "the end of Serve", p.ended)
	if err != want {
		p.t.Errorf("Serve returned %v, want %v", err, want)
	}
	p.ended <- err
}

// TestShutdown: the end of the context ends Serve at once, whatever runs.
func TestShutdown(t *testing.T) {
	p := serve(t, Options{}).handshake()
	p.send(evalCall("1", "hang"), evalCall("2", "hang"))
	p.waitRunning(2)
	p.stop()
	p.end(nil)
	p.waitRunning(0)
}

// TestShutdownUnread: also when the client does not read what we write.
func TestShutdownUnread(t *testing.T) {
	p := serve(t, Options{}).handshake()
	before := p.writes.Load()
	p.send(evalCall("1", "repeat 3000"))
	await.True(t, "the answer is written", func() bool { return p.writes.Load() > before })
	p.stop()
	p.end(nil)
}

func TestManyInFlight(t *testing.T) {
	p := serve(t, Options{}).handshake()
	const n = 200
	go func() {
		for i := range n {
			io.WriteString(p.in, evalCall(fmt.Sprint(i), "wait 20ms")+"\n")
		}
	}()
	seen := make(map[string]bool)
	for range n {
		a := p.receive()
		if a.text() != "=> waited 20ms" {
			t.Fatalf("answered %+v", a)
		}
		seen[string(a.ID)] = true
	}
	if len(seen) != n {
		t.Errorf("%d of %d answered", len(seen), n)
	}
}

func TestCharactersBothWays(t *testing.T) {
	p := serve(t, Options{}).handshake()
	for in, want := range map[string]string{
		`λ 😀`:                 "λ 😀",
		`\u03bb \ud83d\ude00`: "λ 😀",
		`a\u0000b`:            `a\u{0}b`,
		"\xff\xfe":            "\ufffd\ufffd",
		`\u202e<b>&`:          `\u{202E}<b>&`,
	} {
		p.send(toolCall("1", "evaluate-lisp", `{"code":"echo `+in+`"}`))
		line := p.line()
		if !utf8.ValidString(line) {
			t.Errorf("%q: answer is not UTF-8: %q", in, line)
		}
		if a := decodeAnswer(t, line); a.text() != "=> "+want {
			t.Errorf("%q came back as %q, want %q", in, a.text(), want)
		}
	}
}

func TestPing(t *testing.T) {
	p := serve(t, Options{})
	for range 2 {
		p.send(`{"jsonrpc":"2.0","id":9,"method":"ping"}`)
		if a := p.receive(); a.Error != nil || string(a.RawResult) != "{}" {
			t.Errorf("ping answered %s %+v", a.RawResult, a.Error)
		}
		p.send(initialize)
		p.receive()
	}
}

func TestCallBeforeInitialize(t *testing.T) {
	p := serve(t, Options{})
	p.send(evalCall("1", "x"))
	if a := p.receive(); a.Error == nil || a.Error.Code != -32600 {
		t.Errorf("answered %+v", a)
	}
	p.handshake().alive()
}
