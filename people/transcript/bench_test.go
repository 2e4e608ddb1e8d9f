package transcript

import (
	"testing"
	"time"

	"swank-mcp/swank/lisp"
)

// BenchmarkNote is what one evaluation costs beside itself.
func BenchmarkNote(b *testing.B) {
	tr := New(Options{Dir: b.TempDir()})
	defer tr.Close(b.Context())
	n := noter{}
	begun := lisp.Event{Kind: lisp.EventBegun, Time: time.Now(), Session: "default", Client: "client 1.0", Tool: "evaluate-lisp", Job: 7, Text: "(+ 1 2)",
		Code: &lisp.Excerpt{}, Source: lisp.Text{Head: "(+ 1 2)"}, Package: "COMMON-LISP-USER"}
	ended := begun
	ended.Kind, ended.Code, ended.Source, ended.Package = lisp.EventEnded, nil, lisp.Text{}, ""
	ended.Result = &lisp.Result{Values: []lisp.Text{{Head: "3"}}}
	b.ReportAllocs()
	for b.Loop() {
		tr.ring.add(n.note(n.note(nil, begun), ended))
	}
}
