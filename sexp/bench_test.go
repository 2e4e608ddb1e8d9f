package sexp

import (
	"bytes"
	"testing"
)

// largeString is a :return of a string of 1 MiB with some escapes and some
// characters beyond ASCII.
func largeString() []byte {
	line := []byte(`a line of text with \"quotes\", a \\ and λ` + "\n")
	var b bytes.Buffer
	b.WriteString(`(:return (:ok ("" "`)
	for b.Len() < 1<<20 {
		b.Write(line)
	}
	b.WriteString(`")) 12)`)
	return b.Bytes()
}

type returned struct {
	_     struct{} `sexp:",list"`
	Head  Symbol
	Value Raw
	ID    int64
}

type grabbed struct {
	_     struct{} `sexp:",list"`
	Head  Symbol
	Value struct {
		_      struct{} `sexp:",list"`
		OK     Symbol
		Values struct {
			_              struct{} `sexp:",list"`
			Output, Values string
		}
	}
	ID int64
}

type backtrace struct {
	_     struct{} `sexp:",list"`
	Head  Symbol
	Value struct {
		_      struct{} `sexp:",list"`
		OK     Symbol
		Frames []frameLine
	}
	ID int64
}

type corpus struct {
	name   string
	frame  []byte
	target func() any
}

func corpora(tb testing.TB) []corpus {
	f := frames(tb)
	return []corpus{
		{"return", f["eval-and-grab-output"], func() any { return new(grabbed) }},
		{"debug", f["debug"], func() any { return new(debugEvent) }},
		{"backtrace-100", f["backtrace-100"], func() any { return new(backtrace) }},
		{"string-1MiB", largeString(), func() any { return new(grabbed) }},
	}
}

// TestCorpora keeps the benchmarks honest: what they decode is there.
func TestCorpora(t *testing.T) {
	for _, c := range corpora(t) {
		v := c.target()
		if err := Unmarshal(c.frame, v); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		var n int
		switch v := v.(type) {
		case *grabbed:
			n = len(v.Value.Values.Values)
		case *debugEvent:
			n = len(v.Frames)
		case *backtrace:
			n = len(v.Value.Frames)
		}
		if n == 0 {
			t.Errorf("%s: empty: %+v", c.name, v)
		}
	}
}

func run(b *testing.B, f func(b *testing.B, c corpus) error) {
	for _, c := range corpora(b) {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.frame)))
			b.ReportAllocs()
			for b.Loop() {
				if err := f(b, c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkScan(b *testing.B) {
	run(b, func(_ *testing.B, c corpus) error { _, err := skip(c.frame); return err })
}

// BenchmarkHead is what a connection's reader does with a :return.
func BenchmarkHead(b *testing.B) {
	frame := frames(b)["eval-and-grab-output"]
	b.ReportAllocs()
	for b.Loop() {
		var r returned
		if err := Unmarshal(frame, &r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStruct(b *testing.B) {
	run(b, func(_ *testing.B, c corpus) error { return Unmarshal(c.frame, c.target()) })
}

func BenchmarkAppend(b *testing.B) {
	v := List{Symbol(":emacs-rex"), List{Symbol("swank:eval-and-grab-output"), "(+ 1 2)"}, "COMMON-LISP-USER", true, 12}
	var buf []byte
	var err error
	b.ReportAllocs()
	for b.Loop() {
		if buf, err = Append(buf[:0], v); err != nil {
			b.Fatal(err)
		}
	}
}
