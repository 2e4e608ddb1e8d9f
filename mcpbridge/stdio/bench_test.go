package stdio

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// BenchmarkLine is the transport's share of a call: the line in, the line out.
func BenchmarkLine(b *testing.B) {
	calls := calls{byID: make(map[jsonrpc.ID]*call)}
	line := []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"evaluate-lisp","arguments":{"code":"(+ 1 2)"}}}`)
	result := []byte(`{"content":[{"type":"text","text":"=> 3"}]}`)
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		f := frame{data: append([]byte(nil), line...)}
		if err := checkLine(&f, DefaultMaxLine); err != nil {
			b.Fatal(err)
		}
		m, refusal := parseMessage(f.data)
		if refusal != nil {
			b.Fatal(refusal)
		}
		id := calls.add(&call{id: m.id})
		k := calls.take(id)
		out = responseLine(out[:0], k.id, &jsonrpc.Response{Result: result})
		calls.finish(k)
	}
}
