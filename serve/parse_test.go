package serve

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"swank-mcp/mcpbridge/aside"
	"swank-mcp/mcpbridge/rawtext"
)

// data returns what the events of an answer have as their data, in order.
func (r reply) data() (all []string) {
	for line := range strings.SplitSeq(r.body, "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok && data != "" {
			all = append(all, data)
		}
	}
	return all
}

// withID is c with that id, as raw JSON.
func withID(c call, id string) call {
	c.body.(map[string]any)["id"] = json.RawMessage(`"THE-ID"`)
	return raw(c, func(body string) string { return strings.Replace(body, `"THE-ID"`, id, 1) })
}

// An id, and what names one, comes back as it was sent, or is refused with what is valid.
func TestIDs(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(*Options) {})
	conn, _ := p.handshake(call{})
	status := func() call { return tool("session-status", map[string]any{}) }
	for _, id := range []string{"0", "7", "-7", "9007199254740991", "-9007199254740991", `""`, `"x"`, `"1.5"`, `"λ"`, `"😀"`} {
		for _, c := range []call{withID(status(), id), withID(status().within(conn), id)} {
			r := p.send(c)
			var m struct{ ID json.RawMessage }
			if data := r.data(); r.status != 200 || len(data) == 0 || json.Unmarshal([]byte(data[len(data)-1]), &m) != nil || string(m.ID) != id {
				t.Errorf("id %s: %+v", id, r)
			}
		}
	}
	const valid = "valid is a string, without halves of surrogate pairs, or a whole number from -9007199254740991 to 9007199254740991"
	wrong := []string{"1.5", "1.0", "1e3", "-0", "9007199254740993", "123456789012345678901234567890", `"\ud800"`, "true", "{}", "[1]"}
	refused := func(what string, c call, part string) {
		t.Helper()
		r := p.send(c)
		var m struct {
			ID    json.RawMessage
			Error struct{ Code int }
		}
		if r.status != 400 || json.Unmarshal([]byte(r.body), &m) != nil || m.Error.Code >= 0 || len(m.ID) == 0 || !strings.Contains(r.body, part) || !strings.Contains(r.body, valid) {
			t.Errorf("%s: %+v", what, r)
		}
	}
	for _, id := range append(wrong, "null") {
		for _, c := range []call{withID(status(), id), withID(status().within(conn), id)} {
			refused("id "+id, c, "id is ")
		}
	}
	// An answer of the client's, and what it names in other messages.
	for _, id := range wrong {
		said := func(body string) call { return call{body: body}.saidWithin(conn) }
		refused("an answer to "+id, said(`{"jsonrpc":"2.0","id":`+id+`,"result":{}}`), "id is ")
		refused("cancelled "+id, said(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`), "params.requestId is ")
		for _, c := range []call{code("(+ 1 2)"), code("(+ 1 2)").within(conn)} {
			c.body.(map[string]any)["params"].(map[string]any)["_meta"] = addTo(c, "progressToken", "THE-TOKEN")
			refused("token "+id, raw(c, func(b string) string { return strings.Replace(b, `"THE-TOKEN"`, id, 1) }), "_meta.progressToken is ")
		}
	}
}

// addTo returns the _meta of c with one more member.
func addTo(c call, name string, value any) map[string]any {
	meta, _ := c.body.(map[string]any)["params"].(map[string]any)["_meta"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
	}
	meta[name] = value
	return meta
}

// saidWithin is c, which has a body of text, as one of the connection.
func (c call) saidWithin(id string) call {
	c.header = map[string]string{sessionHeader: id, versionHeader: "2025-11-25"}
	return c
}

// batchOf is a batch of the connection, in the protocol with batches.
func batchOf(conn string, messages ...string) call {
	return call{body: "[" + strings.Join(messages, ",") + "]", header: map[string]string{sessionHeader: conn, versionHeader: batchVersion}}
}

func ping(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }

// Batches are taken in the protocol that has them, and only there; a message that would be
// refused alone has its batch refused, and nothing of that is done.
func TestBatches(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(*Options) {})
	conn, _ := p.handshake(call{})
	evaluation := func(id, code string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"evaluate-lisp","arguments":{"code":%q}}}`, id, code)
	}
	for _, version := range []string{batchVersion, ""} {
		c := batchOf(conn, evaluation("1", "(+ 1 2)"), `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, ping(`"b"`))
		c.header[versionHeader] = version
		r := p.send(c)
		var ids []string
		for _, data := range r.data() {
			var answer struct{ ID json.RawMessage }
			check(t, json.Unmarshal([]byte(data), &answer))
			ids = append(ids, string(answer.ID))
		}
		if slices.Sort(ids); r.status != 200 || !slices.Equal(ids, []string{`"b"`, "1"}) || !strings.Contains(r.body, `"=\u003e 3"`) {
			t.Errorf("in %q: %+v", version, r)
		}
	}
	refused := func(what string, c call, parts ...string) {
		t.Helper()
		r := p.send(c)
		for _, part := range parts {
			if r.status != 400 || !json.Valid([]byte(r.body)) || !strings.Contains(r.body, part) {
				t.Errorf("%s: %+v does not say %q", what, r, part)
			}
		}
	}
	for _, version := range []string{"2024-11-05", "2025-06-18", "2025-11-25", newEra} {
		c := batchOf(conn, ping("1"))
		c.header[versionHeader] = version
		refused("in "+version, c, "which only protocol 2025-03-26 has, in a request of protocol "+version, "Send each message in a request of its own.")
	}
	bad := evaluation("9", "(defvar *bad* 1)")
	refused("none", batchOf(conn), "the batch is empty")
	refused("too many", batchOf(conn, slices.Repeat([]string{ping("1")}, 101)...), "a batch of 101 messages; at most 100 are taken.")
	refused("an id", batchOf(conn, bad, ping("1.5")), "Message 2 of the batch: ", "id is 1.5; valid is ", "Nothing of the batch was done.")
	refused("an id twice", batchOf(conn, bad, ping(`"a"`), ping(`"\u0061"`)), "Message 3 of the batch: ", "is that of another message of the batch")
	refused("a name twice", batchOf(conn, bad, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":{"a":1,"A":2}}}`), "Message 2 of the batch: ", `params.x has \"a\" and \"A\"`)
	refused("a number", batchOf(conn, bad, "17"), "Message 2 of the batch: ")
	refused("initialize", batchOf(conn, bad, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`), "initialize is not for batches")
	refused("a version", batchOf(conn, bad, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"`+metaVersion+`":"`+newEra+`"}}}`), "that version has no batches")
	p.wants(code("(boundp '*bad*)").within(conn), "=> NIL")
}

// Each message of a batch counts for the rate, and what can never come in is told so.
func TestRateOfMany(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(o *Options) { o.Door.Rate = 10 })
	conn, _ := p.handshake(call{}) // two requests of the twenty that may come at once
	messages := func(n int) (all []string) {
		for i := range n {
			all = append(all, ping(fmt.Sprint(i)))
		}
		return all
	}
	if r := p.send(batchOf(conn, messages(21)...)); r.status != 400 || !strings.Contains(r.body, "a batch of 21 messages; at most 20 are taken.") {
		t.Errorf("more than ever: %+v", r)
	}
	lim := p.send(batchOf(conn, messages(20)...))
	for range 50 { // the first one can come in on a slow machine, as time has passed
		if lim.status != 200 {
			break
		}
		lim = p.send(batchOf(conn, messages(20)...))
	}
	if lim.status != 429 || lim.head.Get("Retry-After") != "2" || !strings.Contains(lim.body, "each message of a batch counts as one. This batch has 20. Send it again in 2 seconds.") {
		t.Errorf("more than now: %+v", lim)
	}
}

// Long arguments are not in what the SDK reads, alone or in a batch, and each comes back to its call.
func TestParsePutsAside(t *testing.T) {
	long := func(code string) string { return `{"code": "` + strings.Repeat(code, 50_000) + `"}` }
	call := func(id int, arguments string) string {
		return fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "evaluate-lisp", "arguments": %s}}`, id, arguments)
	}
	for _, c := range []struct {
		body string
		want []string
	}{
		{call(1, long("(a)")), []string{long("(a)")}},
		{"[" + call(1, long("(a)")) + ", " + call(2, long("(b)")) + ", " + call(3, `{"code": "c"}`) + "]", []string{long("(a)"), long("(b)"), `{"code": "c"}`}},
	} {
		m, wrong := parse([]byte(c.body), batchVersion, 10)
		if wrong != nil {
			t.Fatal(wrong)
		}
		var kept aside.Store
		discard := m.keep(&kept)
		if len(m.raw) > 1000 {
			t.Errorf("the SDK reads %d bytes", len(m.raw))
		}
		messages := [][]byte{m.raw}
		if m.batch != nil {
			messages = rawtext.Elements(m.raw)
		}
		for i, raw := range messages {
			var call struct {
				Params struct{ Arguments json.RawMessage }
			}
			if err := json.Unmarshal(raw, &call); err != nil {
				t.Fatal(err)
			}
			if got := kept.Take(call.Params.Arguments); string(got) != c.want[i] {
				t.Errorf("call %d has the arguments %.60s, want %.60s", i+1, got, c.want[i])
			}
		}
		discard()
	}
}
