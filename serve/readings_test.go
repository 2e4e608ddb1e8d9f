package serve

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/serve/hub"
)

// raw is c with a body as change makes it of the JSON that would be sent.
func raw(c call, change func(body string) string) call {
	text, _ := json.Marshal(c.body)
	c.body = change(string(text))
	return c
}

// also adds members before the last brace of the message, or of its params.
func also(members string) func(string) string {
	return func(body string) string { return strings.TrimSuffix(body, "}") + "," + members + "}" }
}

func alsoInParams(members string) func(string) string {
	return func(body string) string { return strings.Replace(body, `"params":{`, `"params":{`+members+",", 1) }
}

// What is not one JSON value, or has a name twice, at any depth, is refused before anything is done, in both eras, whatever the SDK would make of it.
func TestBodiesOfTwoReadings(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(*Options) {})
	id, _ := p.handshake(call{})
	for _, c := range []struct {
		name   string
		change func(string) string
		code   int
	}{
		{"a word behind it", func(b string) string { return b + " x" }, -32700},
		{"a message behind it", func(b string) string { return b + b }, -32700},
		{"a bracket behind it", func(b string) string { return b + "]" }, -32700},
		{"a bracket behind a batch", func(b string) string { return "[" + b + "]]" }, -32700},
		{"cut off", func(b string) string { return b[:len(b)-1] }, -32700},
		{"nothing", func(string) string { return "" }, -32700},
		{"spaces", func(string) string { return " \n" }, -32700},
		{"a mark before it", func(b string) string { return "\ufeff" + b }, -32700},
		{"method twice", also(`"method":"subscriptions/listen"`), -32600},
		{"method twice, once by escapes", also(`"m\u0065thod":"subscriptions/listen"`), -32600},
		{"params twice", also(`"params":{"name":"session-status"}`), -32600},
		{"id twice", also(`"id":77`), -32600},
		{"tool twice", alsoInParams(`"name":"session-status"`), -32600},
		{"_meta twice", alsoInParams(`"_meta":{},"_meta":{}`), -32600},
		{"version twice in _meta", alsoInParams(fmt.Sprintf(`"_meta":{%q:%q,%[1]q:"2025-11-25"}`, metaVersion, newEra)), -32600},
		{"code twice", func(b string) string { return strings.Replace(b, `"code":`, `"code":"(quit)","code":`, 1) }, -32600},
		{"code twice, once by escapes", func(b string) string { return strings.Replace(b, `"code":`, `"c\u006fde":"(quit)","code":`, 1) }, -32600},
		{"code twice, by case", func(b string) string { return strings.Replace(b, `"code":`, `"CODE":"(quit)","code":`, 1) }, -32600},
		{"method twice, by case", also(`"Method":"subscriptions/listen"`), -32600},
		{"tool twice, by case", alsoInParams(`"Name":"session-status"`), -32600},
		{"twice in a list", alsoInParams(`"more":[{"a":[{"b":1},{"b":1,"b":2}]}]`), -32600},
		{"no version of JSON-RPC", func(string) string { return `{"id":3,"method":"ping"}` }, -32600},
		{"null", func(string) string { return `null` }, -32600},
		{"an object as the id", func(string) string { return `{"jsonrpc":"2.0","id":{},"method":"ping"}` }, -32600},
		{"nested too deeply for the SDK", func(string) string {
			return `{"jsonrpc":"2.0","id":3,"method":"ping","params":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`
		}, -32600},
	} {
		for _, sent := range []call{raw(code("(+ 1 2)"), c.change), raw(code("(+ 1 2)").within(id), c.change)} {
			r := p.send(sent)
			var answer struct {
				JSONRPC string
				ID      json.RawMessage
				Error   struct {
					Code    int
					Message string
				}
			}
			err := json.Unmarshal([]byte(r.body), &answer)
			if r.status != 400 || err != nil || answer.JSONRPC != "2.0" || len(answer.ID) == 0 || answer.Error.Code != c.code || len(answer.Error.Message) > 500 {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
	}
	if _, awake := p.s.hub.Counts(); awake != 0 {
		t.Errorf("%d images are awake", awake)
	}
	p.wants(raw(code("(+ 1 2)"), func(b string) string { return " \n" + b + "\r\n\t " }), "=> 3") // what is lawful stays so
	p.wants(raw(code("(+ 1 2)"), alsoInParams(`"more":[{"a":1},{"a":2}],"other":{"a":"\"a\":1"}`)), "=> 3")
}

// Names that differ from those of the protocol by their case hide no call: beside those they
// are refused, with both names, and alone they count for nothing, as to the SDK.
func TestOtherCaseHidesNoCall(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(*Options) {})
	for _, c := range []struct {
		change func(string) string
		names  string
	}{
		{also(`"Method":"subscriptions/listen"`), `the message has \"method\" and \"Method\"`},
		{also(`"Params":{"name":"session-status"}`), `the message has \"params\" and \"Params\"`},
		{alsoInParams(`"Name":"session-status"`), `params has \"Name\" and \"name\"`},
		{alsoInParams(`"_META":{}`), `params has \"_META\" and \"_meta\"`},
		{func(b string) string { return strings.Replace(b, `"code":`, `"Code":"1","code":`, 1) }, `params.arguments has \"Code\" and \"code\"`},
	} {
		if r := p.send(raw(code("(+ 1 2)"), c.change)); r.status != 400 || !strings.Contains(r.body, c.names+", which differ by case alone: send one of them.") {
			t.Errorf("%s: %+v", c.names, r)
		}
	}
	done := make(chan reply, 1)
	go func() {
		done <- p.send(raw(code("(progn (sleep 2) 'slept)"), also(`"Result":"subscriptions/listen"`)))
	}()
	await.True(t, "the call is in progress", func() bool {
		list := p.s.hub.List()
		return len(list) == 1 && list[0].Users == 1 && list[0].Awake
	})
	if r := <-done; r.text() != "=> SLEPT" {
		t.Errorf("%+v", r)
	}
}

// Who has used up a limit is answered so, and not by an evaluation, whatever a message is made
// to look like.
func TestNoWayAroundLimits(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(o *Options) { o.Hub.Limits = hub.Limits{CPU: 500 * time.Millisecond} })
	p.send(code("(loop)"))
	id, _ := p.handshake(call{})
	await.True(t, "the limit is reached", func() bool { return p.send(code("1")).status == 429 })
	for name, change := range map[string]func(string) string{
		"as it is":             func(b string) string { return b },
		"a word behind it":     func(b string) string { return b + " x" },
		"another Method":       also(`"Method":"subscriptions/listen"`),
		"another method twice": also(`"method":"ping"`),
		"another Name":         also(`"Params":{"name":"session-status"}`),
		"another Name within":  func(b string) string { return strings.Replace(b, `}}`, `},"Name":"session-status"}`, 1) },
		"a Name before it":     alsoInParams(`"Name":"session-status"`),
		"a name before it":     alsoInParams(`"name":"session-status"`),
		"a name after it":      func(b string) string { return strings.TrimSuffix(b, "}}") + `,"name":"session-status"}}` },
		"in a batch":           func(b string) string { return "[" + b + "]" },
	} {
		for _, c := range []call{code("(+ 1 2)"), code("(+ 1 2)").within(id)} {
			if r := p.send(raw(c, change)); r.status != 429 && r.status != 400 {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
	if r := p.send(tool("session-status", map[string]any{})); r.status != 200 {
		t.Errorf("session-status: %+v", r)
	}
}
