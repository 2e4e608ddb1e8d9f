//go:build unix

package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// Object is a JSON object, such as the arguments of a call.
type Object = map[string]any

// Elided stands, in an expected text, for any text.
const Elided = "…"

// Fits reports whether got is text, in which … stands for any text.
func Fits(text, got string) bool {
	return regexp.MustCompile(`(?s)^` + strings.ReplaceAll(regexp.QuoteMeta(text), Elided, ".*") + `$`).MatchString(got)
}

// Failure reports whether a text is that of something that failed.
func Failure(text string) bool {
	return strings.HasPrefix(text, "[ERROR]") || strings.HasPrefix(text, "[TIMEOUT]") || strings.HasPrefix(text, "[STOPPED]") || strings.HasPrefix(text, "swank-mcp: ")
}

// Call calls a tool, which must be answered.
func Call(t *testing.T, s *Server, tool string, args Object) wire.Result {
	t.Helper()
	ctx := await.Context(t)
	r, err := s.Tool(ctx, tool, args)
	if err != nil {
		t.Fatalf("%s %.200v: %v", tool, args, err)
	}
	return r
}

// Good calls a tool, which must succeed, and returns its text.
func Good(t *testing.T, s *Server, tool string, args Object) string {
	t.Helper()
	r := Call(t, s, tool, args)
	if r.IsError {
		t.Fatalf("%s %.300v failed:\n%s", tool, args, Clip(r.Text()))
	}
	return r.Text()
}

// Bad calls a tool, which must fail, and returns its text.
func Bad(t *testing.T, s *Server, tool string, args Object) string {
	t.Helper()
	r := Call(t, s, tool, args)
	if !r.IsError {
		t.Fatalf("%s %.300v is no error:\n%s", tool, args, Clip(r.Text()))
	}
	return r.Text()
}

// WantReply calls a tool, which must answer this text: [Fits]. It must be an error
// exactly if the text is that of a [Failure].
func WantReply(t *testing.T, s *Server, tool string, args Object, text string) string {
	t.Helper()
	r := Call(t, s, tool, args)
	if !Fits(text, WithoutBuilt(r.Text())) || r.IsError != Failure(text) {
		t.Errorf("%s %.300v\n got (isError %v):\n%s\nwant:\n%s", tool, args, r.IsError, Clip(r.Text()), text)
	}
	return r.Text()
}

// Eval evaluates code and returns the text and whether it is an error.
func Eval(t *testing.T, s *Server, code string) (string, bool) {
	t.Helper()
	r := Call(t, s, "evaluate-lisp", Object{"code": code})
	return r.Text(), r.IsError
}

// EvalWithin evaluates code with a time limit in seconds.
func EvalWithin(t *testing.T, s *Server, code string, seconds int) (string, bool) {
	t.Helper()
	r := Call(t, s, "evaluate-lisp", Object{"code": code, "timeout": seconds})
	return r.Text(), r.IsError
}

// Want evaluates code: [WantReply].
func Want(t *testing.T, s *Server, code, text string) string {
	t.Helper()
	return WantReply(t, s, "evaluate-lisp", Object{"code": code}, text)
}

// WantError evaluates code, which must fail with a text that begins so.
func WantError(t *testing.T, s *Server, code, prefix string) string {
	t.Helper()
	return Want(t, s, code, prefix+Elided)
}

// WantRuns evaluates each piece of code, which must succeed.
func WantRuns(t *testing.T, s *Server, code ...string) {
	t.Helper()
	for _, c := range code {
		Good(t, s, "evaluate-lisp", Object{"code": c})
	}
}

// SendTool calls a tool and does not wait.
func SendTool(t *testing.T, s *Server, tool string, args Object) *wire.Pending {
	t.Helper()
	p, err := s.GoTool(tool, args, wire.CallOptions{})
	Check(t, err)
	return p
}

// SendCall has code evaluated and does not wait.
func SendCall(t *testing.T, s *Server, code string) *wire.Pending {
	t.Helper()
	return SendTool(t, s, "evaluate-lisp", Object{"code": code})
}

// Running starts an evaluation, and returns when its code runs: when it comes to SIGN, or to its
// beginning where it has none. The client sends a longer code than this; see [Begun].
func Running(t *testing.T, s *Server, code string) *wire.Pending {
	t.Helper()
	if !strings.Contains(code, "SIGN") {
		code = "(let () SIGN " + code + ")" // which is compiled before any of it runs
	}
	gate := await.NewGate(t)
	p := SendCall(t, s, strings.Replace(code, "SIGN", gate.Sign(), 1))
	gate.Reached(s)
	return p
}

// Begun starts an evaluation of just this code, and returns when its session is at it or keeps
// it waiting. The image may not have come to it.
func Begun(t *testing.T, s *Server, code string) *wire.Pending {
	t.Helper()
	p := SendCall(t, s, code)
	await.True(t, code+" begins", func() bool { return s.busy(t) || s.Answers()[p.ID.String()] > 0 }, s)
	return p
}

// busy reports whether a session has an evaluation that runs or waits. The server's socket for
// its user says so; asking session-status would be noted in transcripts, and take what the
// next reply is to tell.
func (s *Server) busy(t *testing.T) bool {
	t.Helper()
	var sockets []string
	for _, dir := range []string{Run.Dir, filepath.Join(Run.Dir, "*")} { // and those of desks
		found, err := filepath.Glob(fmt.Sprintf("%s/%d.sock", dir, s.PID()))
		Check(t, err)
		sockets = append(sockets, found...)
	}
	if len(sockets) != 1 {
		t.Fatalf("server %d has the sockets %q", s.PID(), sockets)
	}
	client := http.Client{Timeout: await.Ceiling, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", sockets[0])
	}}}
	var status struct {
		Sessions []struct {
			Running *struct{ Code string }
			Waiting int
		}
	}
	r, err := client.Get("http://server/status")
	if err != nil {
		return false // it is asked again
	}
	defer r.Body.Close()
	if json.NewDecoder(r.Body).Decode(&status) != nil {
		return false
	}
	for _, session := range status.Sessions {
		if session.Running != nil || session.Waiting > 0 {
			return true
		}
	}
	return false
}

// Burst evaluates n forms whose values count from 10000 on, atOnce of them at a time, and returns
// the last value.
func Burst(t *testing.T, s *Server, n, atOnce int) (last int) {
	t.Helper()
	for i := 0; i < n; i += atOnce {
		var calls []*wire.Pending
		for j := range atOnce {
			last = 10000 + i + j
			calls = append(calls, SendCall(t, s, fmt.Sprintf("(values %d)", last)))
		}
		for _, c := range calls {
			Answer(t, c)
		}
	}
	return last
}

// Answer waits for the reply to a call that was sent.
func Answer(t *testing.T, p *wire.Pending) (r wire.Result) {
	t.Helper()
	ctx := await.Context(t)
	Check(t, p.Wait(ctx, &r))
	return r
}

// WantAnswer wants the reply to a call that was sent to be this text, as [WantReply] does.
func WantAnswer(t *testing.T, p *wire.Pending, text string) {
	t.Helper()
	if r := Answer(t, p); !Fits(text, WithoutBuilt(r.Text())) || r.IsError != Failure(text) {
		t.Errorf("call %s\n got (isError %v):\n%s\nwant:\n%s", p.ID, r.IsError, Clip(r.Text()), text)
	}
}

// Check ends the test where something failed that it needs.
func Check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Says wants the text to have each of the parts.
func Says(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("the reply does not say %q:\n%s", part, Clip(text))
		}
	}
}

// WillSay is says of text and the replies after it together: what ends in a thread of its own
// is told in the first reply that is not too early for it.
func WillSay(t *testing.T, s *Server, text string, parts ...string) {
	t.Helper()
	_ = await.Until(func() bool {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) }) {
			return true
		}
		text += "\n" + Good(t, s, "evaluate-lisp", Object{"code": "(+ 1 2)"})
		return false
	})
	Says(t, text, parts...)
}

// Has wants the text to have a part that fits the regular expression.
func Has(t *testing.T, text, expression string) {
	t.Helper()
	if !regexp.MustCompile(expression).MatchString(text) {
		t.Errorf("the reply has no %q:\n%s", expression, Clip(text))
	}
}

// SaysNot wants the text to have none of the parts.
func SaysNot(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("the reply says %q:\n%s", part, Clip(text))
		}
	}
}

// Write makes a file, and the directories that it is to be in.
func Write(t *testing.T, file, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	Check(t, err)
}
