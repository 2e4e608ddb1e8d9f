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

func BenchmarkUnmarshal(b *testing.B) {
	f := frames(b)
	for name, c := range map[string]struct {
		frame  []byte
		target any
	}{
		"return": {f["eval-and-grab-output"], new(grabbed)}, "debug": {f["debug"], new(debugEvent)},
		"backtrace-100": {f["backtrace-100"], new(backtrace)}, "string-1MiB": {largeString(), new(grabbed)},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(c.frame)))
			b.ReportAllocs()
			for b.Loop() {
				if err := Unmarshal(c.frame, c.target); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
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
