package stdio

import (
	"encoding/json"
	"testing"
)

func TestAppendPlain(t *testing.T) {
	for _, s := range []string{"", "=> 3", "#<a & b>", `\u003e`, `\\u003e`, `a\`, "<\x00>", `"<"`, `\<`, `\\<`, "\u2028", `\u003`} {
		marshalled, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		got := appendPlain([]byte("x"), marshalled)[1:]
		var back string
		if err := json.Unmarshal(got, &back); err != nil || back != s {
			t.Errorf("%q: %s becomes %s, which reads as %q, %v", s, marshalled, got, back, err)
		}
	}
	if got := string(appendPlain(nil, []byte(`"=\u003e #\u003cA \u0026\u003e"`))); got != `"=> #<A &>"` {
		t.Errorf("got %s", got)
	}
}
