package sexp

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValid(t *testing.T) {
	for _, c := range valid {
		var raw Raw
		err := Unmarshal([]byte(c.text), &raw)
		got := tree(raw)
		if diff := cmp.Diff(c.value, got); diff != "" {
			t.Errorf("%s: Unmarshal(%q) (-want +got):\n%s", c.where, c.text, diff)
		}
		out, refusal := Marshal(got)
		switch {
		case c.canon == "" && refusal == nil:
			t.Errorf("%s: Marshal(%#v) = %q, want a refusal", c.where, got, out)
		case c.canon != "" && (refusal != nil || string(out) != c.canon):
			t.Errorf("%s: Marshal(%#v) = %q, %v, want %q", c.where, got, out, refusal, c.canon)
		}
		if want := strings.Trim(c.text, " \t\r\n\f"); err != nil || string(raw) != want && c.text != "#\\\n" && c.text != `#\ ` {
			t.Errorf("%s: Raw of %q = %q, %v", c.where, c.text, raw, err)
		}
	}
}

func TestInvalid(t *testing.T) {
	for _, c := range invalid {
		target := Raw("untouched")
		err := Unmarshal([]byte(c.text), &target)
		if err == nil {
			t.Errorf("%s: Unmarshal(%.60q) = %v, want an error", c.where, c.text, target)
			continue
		}
		s := syntaxError(t, err)
		if s.Offset != c.offset || s.Path != c.path || !errors.Is(err, c.err) {
			t.Errorf("%s: Unmarshal(%.60q):\n got %d %.40q %v\nwant %d %.40q %v", c.where, c.text,
				s.Offset, s.Path, s.Err, c.offset, c.path, c.err)
		}
		if string(target) != "untouched" {
			t.Errorf("%s: target changed to %q", c.where, target)
		}
		if c.err == errTrailing {
			continue
		}
		if _, err := Marshal(Raw(c.text)); err == nil {
			t.Errorf("%s: Marshal(Raw(%.60q)) was accepted", c.where, c.text)
		}
	}
}

func TestFrames(t *testing.T) {
	for name, frame := range frames(t) {
		var m head
		if err := Unmarshal(frame, &m); err != nil || !strings.HasPrefix(string(m.Head), ":") {
			t.Errorf("%s: not a message: %v, %v", name, m.Head, err)
			continue
		}
		for n := range len(frame) - 1 {
			_, err := skip(frame[:n])
			if err == nil {
				t.Fatalf("%s: cut at %d is accepted", name, n)
			}
			if s := syntaxError(t, err); s.Offset > int64(n) {
				t.Fatalf("%s: cut at %d: offset %d", name, n, s.Offset)
			}
			if n > 600 {
				break
			}
		}
	}
}

type restart struct {
	_    struct{} `sexp:",list"`
	Name string
	Text string
}

type frameLine struct {
	_     struct{} `sexp:",list"`
	N     int
	Text  string
	Props frameProps
}

type frameProps struct {
	Restartable bool `sexp:"restartable"`
}

type debugEvent struct {
	_         struct{} `sexp:",list"`
	Head      Symbol
	Thread    int64
	Level     int
	Condition struct {
		_       struct{} `sexp:",list"`
		Message string
	}
	Restarts []restart
	Frames   []frameLine
	Pending  []int64
}

func TestDebugFrame(t *testing.T) {
	var e debugEvent
	if err := Unmarshal(frames(t)["debug"], &e); err != nil {
		t.Fatal(err)
	}
	if e.Head != ":debug" || e.Level != 1 || len(e.Restarts) != 3 || len(e.Frames) == 0 || len(e.Pending) != 1 {
		t.Fatalf("debug = %+v", e)
	}
	if e.Restarts[0].Name != "RETRY" || !e.Frames[4].Props.Restartable || e.Frames[0].Props.Restartable {
		t.Fatalf("debug = %+v", e)
	}
	if e.Condition.Message != "arithmetic error DIVISION-BY-ZERO signalled\nOperation was (/ 1 0)." {
		t.Fatalf("condition = %q", e.Condition)
	}
}

func TestConnectionInfo(t *testing.T) {
	var m struct {
		_     struct{} `sexp:",list"`
		Head  Symbol
		Reply struct {
			_    struct{} `sexp:",list"`
			OK   Symbol
			Info struct {
				Pid   int    `sexp:"pid"`
				Style Symbol `sexp:"style"`
				Impl  struct {
					Type    string  `sexp:"type"`
					Version string  `sexp:"version"`
					Program *string `sexp:"program"`
				} `sexp:"lisp-implementation"`
				Features []Symbol `sexp:"features"`
				Version  string   `sexp:"version"`
				Absent   int      `sexp:"absent"`
			}
		}
		ID int64
	}
	if err := Unmarshal(frames(t)["connection-info"], &m); err != nil {
		t.Fatal(err)
	}
	i := m.Reply.Info
	if m.ID != 1 || i.Pid == 0 || i.Style != ":spawn" || i.Impl.Type != "SBCL" || i.Impl.Program != nil ||
		i.Version != "2.27" || i.Features[0] != ":swank" || i.Absent != 0 {
		t.Fatalf("info = %+v", m)
	}
}

func TestReturns(t *testing.T) {
	for name, want := range map[string]string{"return-abort": ":abort", "eval-and-grab-output": ":ok", "interactive-eval": ":ok"} {
		var r returned
		var value head
		if err := errors.Join(Unmarshal(frames(t)[name], &r), Unmarshal(r.Value, &value)); err != nil || r.Head != ":return" || string(value.Head) != want || r.ID == 0 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	var got grabbed
	err := Unmarshal(frames(t)["eval-and-grab-output"], &got)
	if v := got.Value.Values; err != nil || v.Output != "a\\b \"q\" λ😀\n" || v.Values != "1\nFOO\n\"s\"" {
		t.Errorf("got %+v, %v", got, err)
	}
	var trace backtrace
	if err := Unmarshal(frames(t)["backtrace-100"], &trace); err != nil || len(trace.Value.Frames) != 100 || trace.Value.Frames[99].N != 99 {
		t.Errorf("got %+v, %v", trace, err)
	}
	if err := Unmarshal(largeString(), &got); err != nil || len(got.Value.Values.Values) < 1<<19 {
		t.Errorf("a large string: %d bytes, %v", len(got.Value.Values.Values), err)
	}
}

func TestKind(t *testing.T) {
	for text, want := range map[string]kind{"(": kindList, "#(": kindList, "'": kindQuote, `"`: kindString, "a": kindSymbol, ":a": kindSymbol,
		"#:a": kindSymbol, "1": kindNumber, "1.5": kindNumber, "1/2": kindNumber, "1+": kindSymbol, `#\a`: kindOpaque, "#<": kindOpaque,
		"#S(": kindOpaque, "#2A": kindOpaque, "#.": kindOpaque} {
		if got := (&scanner{buf: []byte(text)}).kind(0); got != want {
			t.Errorf("kind(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestSizeLimit(t *testing.T) {
	big := bytes.Repeat([]byte("x"), MaxSize+1)
	if err := Unmarshal(big, new(Raw)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("above the limit: %v", err)
	}
	if err := Unmarshal(big[:MaxSize], new(Raw)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := Marshal(string(big[:MaxSize-1])); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Marshal: %v", err)
	}
	if _, err := Marshal(string(big[:MaxSize-2])); err != nil {
		t.Errorf("Marshal at the limit: %v", err)
	}
}

// TestHostileTime feeds inputs that invite quadratic time.
func TestHostileTime(t *testing.T) {
	for _, unit := range []string{"#<(>", `#<"`, `#<">`, `\\`, `"\\\\`, "(", "#<#<", "'", "#(", "|", "#.", "a:", "#2A"} {
		b := bytes.Repeat([]byte(unit+" "), 1<<18/len(unit))
		_, _ = skip(append([]byte("("), b...))
		_, _ = skip(append([]byte(`"`), b...))
	}
}

func TestSkipAllocatesNothing(t *testing.T) {
	all := frames(t)
	all["large"] = largeString()
	for name, frame := range all {
		s := new(scanner)
		if n := testing.AllocsPerRun(10, func() {
			*s = scanner{buf: frame}
			if _, err := s.datum(0, 0); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: scanning allocates %v times", name, n)
		}
	}
}
