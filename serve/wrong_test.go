package serve

import (
	"strings"
	"testing"
)

// What the specification says of requests that are wrong, or of another era. No image is
// started by any of them.
func TestWrongRequests(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(*Options) {})
	with := func(c call, key, value string) call {
		h := map[string]string{}
		for k, v := range c.header {
			h[k] = v
		}
		h[key] = value
		c.header = h
		return c
	}
	id, _ := p.handshake(call{})
	old := map[string]string{sessionHeader: id, versionHeader: "2025-11-25"}
	modern := tool("session-status", map[string]any{})
	unknown := tool("session-status", map[string]any{})
	unknown.body.(map[string]any)["method"] = "no/such"
	unknown.header["Mcp-Method"] = "no/such"
	for _, c := range []struct {
		name   string
		c      call
		status int
		words  string
	}{
		{"no JSON", call{body: "hello", header: old}, 400, ""},
		{"no JSON, before a handshake", call{body: "hello"}, 400, `"error"`},
		{"nothing", call{body: "", header: old}, 400, ""},
		{"nested deeply", call{body: strings.Repeat("[", 100000), header: old}, 400, ""},
		{"another type", with(modern, "Content-Type", "text/plain"), 415, ""},
		{"a form of a page", with(modern, "Content-Type", "application/x-www-form-urlencoded"), 415, ""},
		{"no Accept for the answer", with(modern, "Accept", "text/html"), 400, ""},
		{"too long", call{body: `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", maxBody) + `"}`, header: old}, 413, "at most 4194304 bytes"},
		{"a head that is too long", with(modern, "X-Long", strings.Repeat("x", 2*headBytes)), 431, ""},
		{"no handshake", call{body: `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`}, 400, `"id":7`},
		{"GET without a connection", call{method: "GET"}, 400, ""},
		{"DELETE without a connection", call{method: "DELETE"}, 400, ""},
		{"another method", call{method: "PUT", header: old}, 405, ""},
		{"GET of the new era", call{method: "GET", header: map[string]string{versionHeader: newEra}}, 405, ""},
		{"DELETE of the new era", call{method: "DELETE", header: map[string]string{versionHeader: newEra}}, 405, ""},
		{"a version that there is not", call{body: modern.body, header: map[string]string{versionHeader: "2024-01-01", sessionHeader: id}}, 400, ""},
		{"a version to come", with(modern, versionHeader, "2099-01-01"), 400, "-32020"},
		{"another version in the body", call{body: modern.body, header: map[string]string{versionHeader: "2025-11-25", sessionHeader: id}}, 400, ""},
		{"no version in the head", call{body: modern.body}, 400, "-32020"},
		{"another tool in the head", with(modern, "Mcp-Name", "evaluate-lisp"), 400, "-32020"},
		{"no tool in the head", with(modern, "Mcp-Name", ""), 400, "-32020"},
		{"a method that there is not", unknown, 404, "-32601"},
		{"a name with a path in it", modern.at("/s/..%2fx/mcp"), 400, "1 to 64 letters"},
		{"a name that begins with a dot", modern.at("/s/.x/mcp"), 400, "1 to 64 letters"},
		{"a name that is too long", modern.at("/s/" + strings.Repeat("x", 65) + "/mcp"), 400, "1 to 64 letters"},
		{"another address", modern.at("/"), 404, ""},
		{"another address below", modern.at("/mcp/x"), 404, ""},
	} {
		r := p.send(c.c)
		if r.status != c.status || !strings.Contains(r.body, c.words) {
			t.Errorf("%s: %d %.300s, want %d %s", c.name, r.status, r.body, c.status, c.words)
		}
	}
	if r := p.send(call{method: "GET", path: "/healthz"}); r.status != 200 || r.body != "ok\n" {
		t.Errorf("healthz: %+v", r)
	}
	for _, s := range p.s.hub.List() {
		if s.Name != "~1" && s.Name != "default" {
			t.Errorf("there is a session %q", s.Name)
		}
	}
}
