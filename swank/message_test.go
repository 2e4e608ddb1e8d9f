package swank

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"swank-mcp/internal/await"
	"swank-mcp/sexp"
)

// messages are the server's, each with what the connection answers by itself. The
// fuzzer starts here.
var messages = []struct{ in, answer string }{
	{`(:write-string "a\"b\\c
")`, ""},
	{`(:write-string "3" :repl-result)`, ""},
	{`(:write-string "trace" 17)`, ""},
	{`(:write-string "x" nil 4711)`, "(:write-done 4711)"},
	{`(:write-string "x" :repl-result 0)`, "(:write-done 0)"},
	{`(:write-string "x" nil nil)`, ""},
	{`(:ping 3 17)`, "(:emacs-pong 3 17)"},
	{`(:ping 140737353922240 0)`, "(:emacs-pong 140737353922240 0)"},
	{`(:debug-activate 1 2 nil)`, ""},
	{`(:debug-activate 1 2)`, ""},
	{`(:debug-return 1 1 nil)`, ""},
	{`(:debug-return 1 1 t)`, ""},
	{`(:debug-condition 13 "Thread with id 4711 not found")`, ""},
	{`(:read-string 1 5)`, `(:emacs-return-string 1 5 "")`},
	{`(:read-aborted 4 5)`, ""},
	{`(:y-or-n-p 2 6 "Q 5?")`, `(:emacs-return 2 6 nil)`},
	{`(:read-from-minibuffer 2 7 "Name: " "init")`, `(:emacs-return 2 7 nil)`},
	{`(:read-from-minibuffer 2 7 "Name: " nil)`, `(:emacs-return 2 7 nil)`},
	{`(:eval 2 8 "(message . (\"hi %d\" . (3 . nil)))")`, `(:emacs-return 2 8 (:error "refused by the client" "it does not evaluate Emacs Lisp"))`},
	{`(:eval-no-wait "(beep)")`, ""},
	{`(:ed-rpc 2 9 "my-fn" 1 (2 "x"))`, `(:emacs-return 2 9 (:ed-rpc-forbidden "my-fn"))`},
	{`(:ed-rpc-no-wait "my-tool" 2 :started)`, ""},
	{`(:ed (:filename "x.lisp" :line 3 :column 4))`, ""},
	{`(:ed nil)`, ""},
	{`(:inspect (:title "T" :id 0 :content (nil 0 0 500)) nil nil)`, ""},
	{`(:inspect (:title "T") 3 10)`, `(:emacs-return 3 10 nil)`},
	{`(:background-message "tid 1")`, ""},
	{`(:new-package "SB-MOP" "MOP")`, ""},
	{`(:new-features (:zork :swank))`, ""},
	{`(:indentation-update (("define-x" 3 ("CL-USER")) ("y" (1 2) nil)))`, ""},
	{`(:presentation-start 1 :repl-result)`, ""},
	{`(:presentation-end 1 :repl-result)`, ""},
	{`(:channel-send 2 (:write-result ".."))`, ""},
	{`(:test-delay 0.2)`, ""},
	{`(:write-image ((:file "x")) "y")`, ""},
	{`(:new-repl-output)`, ""},
	{`(:open-dedicated-output-stream 4242 nil)`, ""},
	{`(:invalid-channel 4 "no")`, ""},
	{`(:return (:ok 1) 999)`, ""},
	{`(:return (:abort "x") 999)`, ""},
	{`(:invalid-rpc 999 "Thread not found: 9")`, ""},
	{`(:reader-error "(:emacs-pong #.x 1)" "no package")`, ""},
	{`(:reader-error ")" "unmatched close parenthesis")`, ""},
	{`(:reader-error "(:emacs-rex (x) nil t 999)" "?")`, ""},
	{``, ""},
	{`17`, ""},
	{`("list")`, ""},
	{`(:ping`, ""},
	{`(:ping one 2)`, ""},
	{`(:debug 1 1 "no list")`, ""},
	{`(:debug-activate 1 #<THREAD)`, ""},
	{`(:return (:maybe 1) 999)`, ""},
	{`(:write-string 5)`, ""},
}

func TestMessages(t *testing.T) {
	rec := newRecorder()
	peer, c := connect(t, &Options{Handler: rec.handle})
	for _, tt := range messages {
		peer.Send(tt.in)
		if tt.answer != "" {
			peer.Expect(tt.answer)
		}
		// An answered ping shows that the message before it has been handled,
		// and that nothing else was answered.
		peer.Send("(:ping 1 1)")
		peer.Expect("(:emacs-pong 1 1)")
	}
	if got := rec.all(); len(got) != 0 {
		t.Errorf("debuggers: %+v", got)
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

// debugCases are messages and what is told of them.
var debugCases = []struct {
	in   string
	want *Debug
}{
	{`(:debug 1 2 ("inner failed: 6" "   [Condition of type SIMPLE-ERROR]" nil)
	   (("RETRY" "Retry SLIME evaluation request.") ("*ABORT" "Return to SLIME's top level."))
	   ((0 "(INNER 6 \"bee\")" (:restartable t)) (1 "(EVAL (OUTER 1))")) (8 7))`,
		&Debug{Thread: 1, Level: 2, Condition: Condition{"inner failed: 6", "SIMPLE-ERROR"},
			Frames: []Frame{{Number: 0, Text: `(INNER 6 "bee")`}, {Number: 1, Text: "(EVAL (OUTER 1))"}}}},
	{`(:debug 1 1 ("m" "odd line" ((:references ((:sbcl :node "X"))))) nil nil ("a" 4 :b 1.5))`,
		&Debug{Thread: 1, Level: 1, Condition: Condition{"m", "odd line"}}},
}

func TestDebugMessages(t *testing.T) {
	for _, tt := range debugCases {
		rec := newRecorder()
		peer, c := connect(t, &Options{Handler: rec.handle})
		c.nextID = 4
		k := mustGo(t, c)
		peer.Send(tt.in)
		got := rec.await(t, tt.want.Level)
		if pending := strings.Contains(tt.in, " 4 "); pending && (len(got.Calls) != 1 || got.Calls[0] != k) || !pending && got.Calls != nil {
			t.Errorf("%s: calls %v", tt.in, got.Calls)
		}
		if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Debug{}, "Calls"), cmpopts.IgnoreUnexported(Frame{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.in, diff)
		}
		c.Close()
	}
}

func TestReplies(t *testing.T) {
	long := strings.Repeat("z", 1000)
	for _, tt := range []struct {
		in   string
		want string // the value, or
		err  error
	}{
		{`(:return (:ok "v") 1)`, `"v"`, nil},
		{"(:return (:ok (1 2 . 3)) 1)\n", `(1 2 . 3)`, nil},
		{`(:return (:ok nil) 1)`, `nil`, nil},
		{`(:return (:ok "` + long + `") 1)`, `"` + long + `"`, nil},
		{`(:return (:ok "` + strings.Repeat(long, 100) + `") 1)`, `"` + strings.Repeat(long, 100) + `"`, nil},
		{`(:return (:ok #<function common-lisp:car>) 1)`, `#<function common-lisp:car>`, nil},
		{`(:return (:abort "NIL") 1)`, "", &AbortError{1, "NIL"}},
		{`(:return (:abort "#<E \"x\">") 1)`, "", &AbortError{1, `#<E "x">`}},
		{`(:return (:abort odd) 1)`, "", &AbortError{1, `odd`}},
		{`(:invalid-rpc 1 "Thread not found: 9999")`, "", &InvalidRPCError{1, "Thread not found: 9999"}},
		{`(:reader-error "(:emacs-rex (swank:nosuchfn \"12)\") \"P\" t 1)" "Symbol \"NOSUCHFN\" not found")`, "",
			&ReaderError{1, `(:emacs-rex (swank:nosuchfn "12)") "P" t 1)`, `Symbol "NOSUCHFN" not found`}},
		{"(:reader-error \"(:emacs-rex (x) nil t 1)\n\" \"m\")", "", &ReaderError{1, "(:emacs-rex (x) nil t 1)\n", "m"}},
		{`(:reader-error "(:return (:ok \"?\") 1)" "Error during string-to-utf8")`, "",
			&ReaderError{1, `(:return (:ok "?") 1)`, "Error during string-to-utf8"}},
		{`(:return (:ok ("unbalanced ) 1)`, "", &MessageError{ID: 1}},
		{`(:return (:ok a b) 1)`, "", &MessageError{ID: 1}},
		{`(:return (:ok #<` + long + ` 1)`, "", &MessageError{ID: 1}},
		{`(:return (:maybe 1) 1)`, "", &MessageError{ID: 1}},
		{`(:return (:ok) 1)`, "", &MessageError{ID: 1}},
	} {
		for _, wanted := range []bool{true, false} {
			peer, c := connect(t, nil)
			k := mustGo(t, c)
			peer.Expect(request(1))
			peer.Send(tt.in)
			var got sexp.Raw
			var err error
			if wanted {
				err = k.Wait(await.Context(t), &got)
				if tt.err == nil && string(got) != tt.want {
					t.Errorf("%.80s: got %.80s", tt.in, got)
				}
			} else {
				err = k.Wait(await.Context(t), nil)
			}
			if diff := cmp.Diff(tt.err, err, cmpopts.IgnoreFields(MessageError{}, "Frame", "Err")); diff != "" {
				t.Errorf("%.80s (-want +got):\n%s", tt.in, diff)
			}
			if m := (*MessageError)(nil); errors.As(err, &m) && (m.Err == nil || m.Frame == "" || len(m.Frame) > 210) {
				t.Errorf("%.80s: bad %#v", tt.in, m)
			}
			peer.Send("(:ping 1 1)")
			peer.Expect("(:emacs-pong 1 1)")
			c.Close()
		}
	}
}

func TestReadSecret(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	if s, err := ReadSecret(); s != "" || err != nil {
		t.Errorf("no file: %q, %v", s, err)
	}
	for text, want := range map[string]string{"one": "one", "one\n": "one", "öne two \nthree\n": "öne two "} {
		if err := os.WriteFile(filepath.Join(home, ".slime-secret"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := ReadSecret(); s != want || err != nil {
			t.Errorf("file %q: %q, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "\nsecond", "\xff\xfe"} {
		if err := os.WriteFile(filepath.Join(home, ".slime-secret"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := ReadSecret(); err == nil || !strings.Contains(err.Error(), filepath.Join(home, ".slime-secret")) {
			t.Errorf("file %q: %q, %v", text, s, err)
		}
	}
	if _, err := readSecret(home); err == nil {
		t.Error("a directory: no error")
	}
	t.Setenv("HOME", os.DevNull)
	if s, err := ReadSecret(); s != "" || err != nil {
		t.Errorf("no home: %q, %v", s, err)
	}
}

func TestTraceClips(t *testing.T) {
	var out strings.Builder
	tr := &tracer{w: &out}
	for i := range 4 {
		out.Reset()
		m := strings.Repeat("x", i) + strings.Repeat("😀", 400)
		tr.message("<<", []byte(m))
		line := out.String()
		if !strings.HasSuffix(line, "😀…(+"+map[int]string{0: "576", 1: "580", 2: "580", 3: "580"}[i]+" bytes)\n") || strings.Contains(line, `\x`) {
			t.Errorf("%d: %.20q…%q", i, line, line[len(line)-30:])
		}
	}
	out.Reset()
	tr.message(">>", []byte("a\x00\r\x7f\xffé"))
	if got, want := out.String(), `>> 7 a\x00\x0d\x7f\xffé`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
