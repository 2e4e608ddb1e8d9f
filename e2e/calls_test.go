package e2e

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
	"time"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// object is a JSON object, such as the arguments of a call.
type object = map[string]any

// elided stands, in an expected text, for any text.
const elided = "…"

// fits reports whether got is text, in which … stands for any text.
func fits(text, got string) bool {
	return regexp.MustCompile(`(?s)^` + strings.ReplaceAll(regexp.QuoteMeta(text), elided, ".*") + `$`).MatchString(got)
}

// failure reports whether a text is that of something that failed.
func failure(text string) bool {
	return strings.HasPrefix(text, "[ERROR]") || strings.HasPrefix(text, "[TIMEOUT]") || strings.HasPrefix(text, "[STOPPED]") || strings.HasPrefix(text, "swank-mcp: ")
}

// call calls a tool, which must be answered.
func call(t *testing.T, s *server, tool string, args object) wire.Result {
	t.Helper()
	ctx := await.Context(t)
	r, err := s.Tool(ctx, tool, args)
	if err != nil {
		t.Fatalf("%s %.200v: %v", tool, args, err)
	}
	return r
}

// good calls a tool, which must succeed, and returns its text.
func good(t *testing.T, s *server, tool string, args object) string {
	t.Helper()
	r := call(t, s, tool, args)
	if r.IsError {
		t.Fatalf("%s %.300v failed:\n%s", tool, args, clip(r.Text()))
	}
	return r.Text()
}

// bad calls a tool, which must fail, and returns its text.
func bad(t *testing.T, s *server, tool string, args object) string {
	t.Helper()
	r := call(t, s, tool, args)
	if !r.IsError {
		t.Fatalf("%s %.300v is no error:\n%s", tool, args, clip(r.Text()))
	}
	return r.Text()
}

// wantReply calls a tool, which must answer this text: [fits]. It must be an error
// exactly if the text is that of a [failure].
func wantReply(t *testing.T, s *server, tool string, args object, text string) string {
	t.Helper()
	r := call(t, s, tool, args)
	if !fits(text, withoutBuilt(r.Text())) || r.IsError != failure(text) {
		t.Errorf("%s %.300v\n got (isError %v):\n%s\nwant:\n%s", tool, args, r.IsError, clip(r.Text()), text)
	}
	return r.Text()
}

// eval evaluates code and returns the text and whether it is an error.
func eval(t *testing.T, s *server, code string) (string, bool) {
	t.Helper()
	r := call(t, s, "evaluate-lisp", object{"code": code})
	return r.Text(), r.IsError
}

// evalWithin evaluates code with a time limit in seconds.
func evalWithin(t *testing.T, s *server, code string, seconds int) (string, bool) {
	t.Helper()
	r := call(t, s, "evaluate-lisp", object{"code": code, "timeout": seconds})
	return r.Text(), r.IsError
}

// want evaluates code: [wantReply].
func want(t *testing.T, s *server, code, text string) string {
	t.Helper()
	return wantReply(t, s, "evaluate-lisp", object{"code": code}, text)
}

// wantError evaluates code, which must fail with a text that begins so.
func wantError(t *testing.T, s *server, code, prefix string) string {
	t.Helper()
	return want(t, s, code, prefix+elided)
}

// wantRuns evaluates each piece of code, which must succeed.
func wantRuns(t *testing.T, s *server, code ...string) {
	t.Helper()
	for _, c := range code {
		good(t, s, "evaluate-lisp", object{"code": c})
	}
}

// sendTool calls a tool and does not wait.
func sendTool(t *testing.T, s *server, tool string, args object) *wire.Pending {
	t.Helper()
	p, err := s.GoTool(tool, args, wire.CallOptions{})
	check(t, err)
	return p
}

// sendCall has code evaluated and does not wait.
func sendCall(t *testing.T, s *server, code string) *wire.Pending {
	t.Helper()
	return sendTool(t, s, "evaluate-lisp", object{"code": code})
}

// running starts an evaluation, and returns when its session is at it or keeps it waiting.
func running(t *testing.T, s *server, code string) *wire.Pending {
	t.Helper()
	p := sendCall(t, s, code)
	if await.Until(func() bool { return s.busy(t) || s.Answers()[p.ID.String()] > 0 }) != nil {
		t.Fatalf("%s does not begin", code)
	}
	time.Sleep(300 * time.Millisecond) // it is compiled first
	return p
}

// busy reports whether a session has an evaluation that runs or waits. The server's socket for
// its user says so; asking session-status would be noted in transcripts, and take what the
// next reply is to tell.
func (s *server) busy(t *testing.T) bool {
	t.Helper()
	var sockets []string
	for _, dir := range []string{run.dir, filepath.Join(run.dir, "*")} { // and those of desks
		found, err := filepath.Glob(fmt.Sprintf("%s/%d.sock", dir, s.PID()))
		check(t, err)
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

// answer waits for the reply to a call that was sent.
func answer(t *testing.T, p *wire.Pending) (r wire.Result) {
	t.Helper()
	ctx := await.Context(t)
	check(t, p.Wait(ctx, &r))
	return r
}

// wantAnswer wants the reply to a call that was sent to be this text, as [wantReply] does.
func wantAnswer(t *testing.T, p *wire.Pending, text string) {
	t.Helper()
	if r := answer(t, p); !fits(text, withoutBuilt(r.Text())) || r.IsError != failure(text) {
		t.Errorf("call %s\n got (isError %v):\n%s\nwant:\n%s", p.ID, r.IsError, clip(r.Text()), text)
	}
}

// check ends the test where something failed that it needs.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// says wants the text to have each of the parts.
func says(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("the reply does not say %q:\n%s", part, clip(text))
		}
	}
}

// willSay is says of text and the replies after it together: what ends in a thread of its own
// is told in the first reply that is not too early for it.
func willSay(t *testing.T, s *server, text string, parts ...string) {
	t.Helper()
	_ = await.Until(func() bool {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) }) {
			return true
		}
		text += "\n" + good(t, s, "evaluate-lisp", object{"code": "(+ 1 2)"})
		return false
	})
	says(t, text, parts...)
}

// has wants the text to have a part that fits the regular expression.
func has(t *testing.T, text, expression string) {
	t.Helper()
	if !regexp.MustCompile(expression).MatchString(text) {
		t.Errorf("the reply has no %q:\n%s", expression, clip(text))
	}
}

// saysNot wants the text to have none of the parts.
func saysNot(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("the reply says %q:\n%s", part, clip(text))
		}
	}
}

// write makes a file, and the directories that it is to be in.
func write(t *testing.T, file, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	check(t, err)
}
