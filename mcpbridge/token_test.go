package mcpbridge

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestProgressTokens: a token comes back as it was sent, or its call is refused with what is
// valid and nothing is evaluated.
func TestProgressTokens(t *testing.T) {
	p := serve(t, Options{}).handshake()
	call := func(token string) string {
		return strings.Replace(evalCall("1", "progress"), `"params":{`, `"params":{"_meta":{"progressToken":`+token+`},`, 1)
	}
	for _, token := range []string{"0", "-7", "9007199254740991", `""`, `"t"`, `"λ"`} {
		p.send(call(token))
		for n := 0; ; n++ {
			line := p.line()
			var m struct {
				Method string
				Params struct{ ProgressToken json.RawMessage }
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			if m.Method == "" {
				if a := decodeAnswer(t, line); n == 0 || a.text() != "=> done" {
					t.Errorf("token %s: %d reports, then %s", token, n, line)
				}
				break
			}
			if string(m.Params.ProgressToken) != token {
				t.Errorf("token %s came back in %s", token, line)
			}
		}
	}
	for _, token := range []string{"1.5", "1e3", "-0", "9007199254740993", "123456789012345678901234567890", `"\ud800"`, "true", "{}", "[]"} {
		p.send(call(token))
		a := p.receive()
		if a.Error == nil || a.Error.Code != -32602 || !strings.Contains(fmt.Sprint(a.Error), "_meta.progressToken is "+token+"; valid is a string") {
			t.Errorf("token %s: %+v", token, a)
		}
	}
	p.send(call("null"))
	if a := p.receive(); a.text() != "=> no progress" {
		t.Errorf("token null: %+v", a)
	}
}
