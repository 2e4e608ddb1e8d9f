package http

import (
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
)

// From a shell a form is evaluated in a session of a server over HTTP, and doctor tells
// whether that can be used. The token is in the environment alone.
func TestHTTPURL(t *testing.T) {
	t.Parallel()
	h := harness.StartHTTP(t, t.TempDir())
	types := func(token string, args ...string) (string, int) {
		t.Helper()
		cmd := await.Command(t, harness.Run.Binary, args...)
		cmd.Env, cmd.Dir = harness.Environ(harness.ShortDir(t), "SWANK_MCP_TOKEN="+token), t.TempDir()
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	shop := h.Url + "/s/shop/mcp"
	for _, c := range []struct {
		token, url, form, want string
		status                 int
	}{
		{h.Token, shop, "(defvar *v* 42)", "=> *V*\n", 0},
		{h.Token, shop, "*v*", "=> 42\n", 0},
		{h.Token, h.Url, "(boundp '*v*)", "=> NIL\n", 0},
		{h.Token, shop, "(error \"no\")", "[ERROR] SIMPLE-ERROR\nno\n", 1},
		{"", shop, "1", "swank-mcp: " + shop + " wants a token: put yours, of its file of tokens, into the variable SWANK_MCP_TOKEN\n", 1},
		{"x" + h.Token, shop, "1", "swank-mcp: " + shop + " does not know the token in SWANK_MCP_TOKEN\n", 1},
		{h.Token, h.Url + "/elsewhere", "1", "swank-mcp: there is no server at " + h.Url + "/elsewhere: the path is /mcp, or /s/NAME/mcp\n", 1},
		{h.Token, "http://192.0.2.1/mcp", "1", "swank-mcp: wrong usage: --url http://192.0.2.1/mcp would send your token", 2},
		{h.Token, "shop", "1", "swank-mcp: wrong usage: --url is the address of a server over HTTP and of a session", 2},
	} {
		if out, status := types(c.token, "eval", "--url", c.url, c.form); status != c.status || !strings.HasPrefix(out, c.want) {
			t.Errorf("%s at %s: status %d\n%s", c.form, c.url, status, out)
		}
	}
	out, status := types(h.Token, "doctor", "--url", shop)
	if status != 0 || !strings.HasPrefix(out, "ok       server   swank-mcp ") || !strings.Contains(out, " at "+shop+"\nok       tools    ") {
		t.Errorf("doctor: status %d\n%s", status, out)
	}
	if out, status := types(h.Token, "eval", "--url", h.Url, "--session", "shop", "1"); status != 2 || !strings.Contains(out, "as in --url "+h.Url+"/s/shop/mcp") {
		t.Errorf("a session beside --url: status %d\n%s", status, out)
	}
	if out, status := types(h.Token, "--url", shop); status != 2 || !strings.Contains(out, "--url is for eval and doctor") {
		t.Errorf("serve: status %d\n%s", status, out)
	}
}
