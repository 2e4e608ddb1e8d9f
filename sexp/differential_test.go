package sexp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// echo is the loop that runs in SBCL. It reads one frame, a line with the
// number of characters and then that many, as Swank reads it, and prints the
// list of its data back as Swank prints it, one frame for each batch. A datum
// that does not read is answered by (:error TEXT).
const echo = `
(defpackage "WIRE" (:use) (:import-from "COMMON-LISP" "NIL" "T" "QUOTE"))
(defpackage "P" (:use))
(in-package "CL-USER")
(let ((in (sb-sys:make-fd-stream 0 :external-format :utf-8 :buffering :full))
      (out (sb-sys:make-fd-stream 1 :output t :input nil :external-format :utf-8 :buffering :full)))
  (loop
    (let ((n (read-line in nil)))
      (unless n (sb-ext:exit :abort t))
      (dotimes (i (parse-integer n))
        (let* ((size (parse-integer (read-line in)))
               (text (make-string size)))
          (read-sequence text in)
          (let ((reply
                  (with-standard-io-syntax
                    (let ((*package* (find-package "WIRE")) (*print-case* :downcase)
                          (*print-pretty* nil) (*print-readably* nil) (*print-circle* nil))
                      (handler-case
                          (multiple-value-bind (datum end) (read-from-string text)
                            (let ((*read-default-float-format* 'double-float))
                              (prin1-to-string
                                (if (and datum (symbolp datum))
                                    (list :symbol (symbol-name datum)
                                          (let ((p (symbol-package datum))) (and p (package-name p))) datum end)
                                    (list :datum datum end)))))
                        (error (e) (prin1-to-string (list :error (remove-if-not #'graphic-char-p (princ-to-string e))))))))))
            (format out "~d~%" (length reply))
            (write-string reply out)))))
    (finish-output out)))
`

// lisp is a long-lived SBCL that reads and prints back.
type lisp struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func startLisp(t *testing.T) *lisp {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: the differential test starts a real SBCL")
	}
	path, err := exec.LookPath("sbcl")
	if err != nil {
		t.Fatalf("the differential test needs SBCL: apt-get install sbcl (%v)", err)
	}
	script := t.TempDir() + "/echo.lisp"
	if err := os.WriteFile(script, []byte(echo), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "--noinform", "--disable-ldb", "--script", script)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = 5 * time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); t.Failed() {
			t.Logf("sbcl: %v\n%s", err, stderr.Bytes())
		}
	})
	return &lisp{in, bufio.NewReader(out)}
}

// reply is what SBCL made of one text.
type reply struct {
	_     struct{} `sexp:",list"`
	Head  Symbol
	Parts []Raw `sexp:",rest"`
}

// batch sends all texts at once and reads all answers.
func (l *lisp) batch(texts []string) ([]reply, error) {
	sent := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(l.in)
		fmt.Fprintf(w, "%d\n", len(texts))
		for _, s := range texts {
			fmt.Fprintf(w, "%d\n%s", len([]rune(s)), s)
		}
		sent <- w.Flush()
	}()
	replies := make([]reply, len(texts))
	for i := range replies {
		var size int
		if _, err := fmt.Fscanf(l.out, "%d\n", &size); err != nil {
			return nil, fmt.Errorf("answer %d to %q: %w", i, texts[i], err)
		}
		var b strings.Builder
		for range size {
			r, _, err := l.out.ReadRune()
			if err != nil {
				return nil, err
			}
			b.WriteRune(r)
		}
		if err := Unmarshal([]byte(b.String()), &replies[i]); err != nil {
			return nil, fmt.Errorf("answer %q to %q: %w", b.String(), texts[i], err)
		}
	}
	return replies, <-sent
}

var symbols = []Symbol{"t", "nil", ":ok", "common-lisp:car", "p::foo", "p::*foo*", "quote", "foo-1", "%a/b", ":e1"}

// genValue draws values in the form in which tree returns them.
func genValue(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		top := 6
		if depth == 0 {
			top = 4
		}
		switch rapid.IntRange(0, top).Draw(t, "kind") {
		case 0, 1:
			return string([]rune(rapid.String().Draw(t, "string")))
		case 2:
			return rapid.StringOfN(rapid.SampledFrom([]rune("\"\\\n\r\t\x00\x1b|;#.()'`,λ😀\uFFFE\u0301\uFEFF")), 0, 12, -1).Draw(t, "odd")
		case 3:
			return rapid.Int64().Draw(t, "int")
		case 4:
			s := rapid.SampledFrom(symbols).Draw(t, "symbol")
			if s == "nil" {
				return nil
			}
			return s
		}
		list := List(rapid.SliceOfN(genValue(depth-1), 0, 5).Draw(t, "list"))
		if len(list) == 0 {
			return nil
		}
		return list
	})
}

// TestDifferential sends random values through a real reader and printer.
func TestDifferential(t *testing.T) {
	l := startLisp(t)
	const perBatch, batches = 500, 8
	gen := rapid.SliceOfN(genValue(3), perBatch, perBatch)
	for seed := range batches {
		values := gen.Example(seed)
		texts := make([]string, len(values))
		for i, v := range values {
			b, err := Marshal(v)
			if err != nil {
				t.Fatalf("Marshal(%#v): %v", v, err)
			}
			texts[i] = string(b)
		}
		replies, err := l.batch(texts)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range replies {
			n := len(r.Parts) - 2
			if r.Head == ":error" || n < 0 {
				t.Errorf("%q: %s %q", texts[i], r.Head, r.Parts)
				continue
			}
			if diff := cmp.Diff(values[i], tree(r.Parts[n])); diff != "" {
				t.Errorf("%q came back as %q (-sent +got):\n%s", texts[i], r.Parts[n], diff)
			}
			if end := string(r.Parts[n+1]); end != fmt.Sprint(len([]rune(texts[i]))) {
				t.Errorf("%q: read up to %s", texts[i], end)
			}
		}
	}
}

// TestDifferentialTokens reads every short token over the characters that
// matter. What Append accepts as a Symbol must be one symbol for SBCL, and a
// keyword if it looks like one; where SBCL reads a number or a symbol, so does
// the decoder.
func TestDifferentialTokens(t *testing.T) {
	l := startLisp(t)
	const alphabet = `1+-./:ePn|\#`
	tokens := []string{""}
	for start := 0; len(tokens) < 2_000; {
		end := len(tokens)
		for _, prefix := range tokens[start:end] {
			for _, c := range alphabet {
				tokens = append(tokens, prefix+string(c))
			}
		}
		start = end
	}
	tokens = tokens[1:]
	accepted := 0
	for len(tokens) > 0 {
		n := min(len(tokens), 5000)
		part := tokens[:n]
		tokens = tokens[n:]
		replies, err := l.batch(part)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range replies {
			if checkToken(t, part[i], r) {
				accepted++
			}
		}
	}
	if accepted < 500 {
		t.Errorf("only %d tokens were accepted as symbols", accepted)
	}
	t.Logf("%d tokens accepted as symbols", accepted)
}

// checkToken compares SBCL's reading of s with ours and reports whether Append
// accepts s as a Symbol.
func checkToken(t *testing.T, s string, r reply) bool {
	t.Helper()
	_, err := Marshal(Symbol(s))
	ok := err == nil
	missing := r.Head == ":error" && bytes.Contains(r.Parts[0], []byte("does not exist")) ||
		r.Head == ":error" && bytes.Contains(r.Parts[0], []byte("not external")) ||
		r.Head == ":error" && bytes.Contains(r.Parts[0], []byte("not found"))
	switch {
	case !ok || missing:
	case r.Head == ":symbol":
		var pkg string
		if err := Unmarshal(r.Parts[1], &pkg); err != nil {
			t.Fatal(err)
		}
		if (s[0] == ':') != (pkg == "KEYWORD") || string(r.Parts[3]) != fmt.Sprint(len(s)) {
			t.Errorf("Symbol(%q) is %s in %q for SBCL up to %s", s, r.Parts[0], pkg, r.Parts[3])
		}
	default:
		t.Errorf("Symbol(%q) is accepted, SBCL: %s %q", s, r.Head, r.Parts)
	}
	end, err := skip([]byte(s))
	ours := err == nil && end == len(s) && (&scanner{buf: []byte(s)}).kind(0) == kindNumber
	switch theirs := r.Head == ":datum" && string(r.Parts[1]) == fmt.Sprint(len(s)) && (&scanner{buf: r.Parts[0]}).kind(0) == kindNumber; {
	case theirs && !ours && !strings.HasPrefix(s, "#"):
		t.Errorf("%q is the number %s for SBCL, not for us", s, r.Parts[0])
	case ours && !theirs && r.Head != ":error":
		t.Errorf("%q is %s %q for SBCL, a number for us", s, r.Head, r.Parts)
	}
	return ok
}
