package swank

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"swank-mcp/sexp"
)

// eventCases are the server's messages, each with what the handler gets (nil:
// nothing) and what the connection answers by itself. The fuzzer starts here.
var eventCases = []struct {
	in     string
	want   Event
	answer string
}{
	{`(:write-string "a\"b\\c
")`, &WriteString{Text: "a\"b\\c\n"}, ""},
	{`(:write-string "3" :repl-result)`, &WriteString{Text: "3", Target: ":repl-result"}, ""},
	{`(:write-string "trace" 17)`, &WriteString{Text: "trace", Target: "17"}, ""},
	{`(:write-string "x" nil 4711)`, &WriteString{Text: "x", Thread: 4711}, "(:write-done 4711)"},
	{`(:write-string "x" :repl-result 0)`, &WriteString{Text: "x", Target: ":repl-result"}, "(:write-done 0)"},
	{`(:write-string "x" nil nil)`, &WriteString{Text: "x"}, ""},
	{`(:ping 3 17)`, nil, "(:emacs-pong 3 17)"},
	{`(:ping 140737353922240 0)`, nil, "(:emacs-pong 140737353922240 0)"},
	{`(:debug 1 2 ("inner failed: 6" "   [Condition of type SIMPLE-ERROR]" nil)
	   (("RETRY" "Retry SLIME evaluation request.") ("*ABORT" "Return to SLIME's top level."))
	   ((0 "(INNER 6 \"bee\")" (:restartable t)) (1 "(EVAL (OUTER 1))")) (8 7))`,
		&Debug{Thread: 1, Level: 2,
			Condition: Condition{Message: "inner failed: 6", Type: "SIMPLE-ERROR", Extras: sexp.Raw("nil")},
			Restarts:  []Restart{{Name: "RETRY", Description: "Retry SLIME evaluation request."}, {Name: "*ABORT", Description: "Return to SLIME's top level."}},
			Frames:    []Frame{{0, `(INNER 6 "bee")`, true}, {1, "(EVAL (OUTER 1))", false}},
			Conts:     []int64{8, 7}}, ""},
	{`(:debug 1 1 ("m" "odd line" ((:references ((:sbcl :node "X"))))) nil nil ("a" 4 :b 1.5))`,
		&Debug{Thread: 1, Level: 1,
			Condition: Condition{"m", "odd line", sexp.Raw(`((:references ((:sbcl :node "X"))))`)},
			Conts:     []int64{4}}, ""},
	{`(:debug-activate 1 2 nil)`, &DebugActivate{Thread: 1, Level: 2}, ""},
	{`(:debug-activate 1 2)`, &DebugActivate{Thread: 1, Level: 2}, ""},
	{`(:debug-return 1 1 nil)`, &DebugReturn{Thread: 1, Level: 1}, ""},
	{`(:debug-return 1 1 t)`, &DebugReturn{Thread: 1, Level: 1, Stepping: true}, ""},
	{`(:debug-condition 13 "Thread with id 4711 not found")`, &DebugCondition{Thread: 13, Message: "Thread with id 4711 not found"}, ""},
	{`(:read-string 1 5)`, &ReadString{Thread: 1, Tag: 5}, `(:emacs-return-string 1 5 "")`},
	{`(:read-aborted 4 5)`, &ReadAborted{Thread: 4, Tag: 5}, ""},
	{`(:y-or-n-p 2 6 "Q 5?")`, &YesOrNo{Thread: 2, Tag: 6, Question: "Q 5?"}, `(:emacs-return 2 6 nil)`},
	{`(:read-from-minibuffer 2 7 "Name: " "init")`, &ReadFromMinibuffer{Thread: 2, Tag: 7, Prompt: "Name: ", Initial: "init"}, `(:emacs-return 2 7 nil)`},
	{`(:read-from-minibuffer 2 7 "Name: " nil)`, &ReadFromMinibuffer{Thread: 2, Tag: 7, Prompt: "Name: "}, `(:emacs-return 2 7 nil)`},
	{`(:eval 2 8 "(message . (\"hi %d\" . (3 . nil)))")`, &Eval{Thread: 2, Tag: 8, Form: `(message . ("hi %d" . (3 . nil)))`},
		`(:emacs-return 2 8 (:error "refused by the client" "it does not evaluate Emacs Lisp"))`},
	{`(:eval-no-wait "(beep)")`, &EvalNoWait{Form: "(beep)"}, ""},
	{`(:ed-rpc 2 9 "my-fn" 1 (2 "x"))`, &EdRPC{Thread: 2, Tag: 9, Function: "my-fn", Args: []sexp.Raw{sexp.Raw("1"), sexp.Raw(`(2 "x")`)}},
		`(:emacs-return 2 9 (:ed-rpc-forbidden "my-fn"))`},
	{`(:ed-rpc-no-wait "my-tool" 2 :started)`, &EdRPCNoWait{Function: "my-tool", Args: []sexp.Raw{sexp.Raw("2"), sexp.Raw(":started")}}, ""},
	{`(:ed (:filename "x.lisp" :line 3 :column 4))`, &Ed{What: sexp.Raw(`(:filename "x.lisp" :line 3 :column 4)`)}, ""},
	{`(:ed nil)`, &Ed{What: sexp.Raw("nil")}, ""},
	{`(:inspect (:title "T" :id 0 :content (nil 0 0 500)) nil nil)`, &Inspect{Content: sexp.Raw(`(:title "T" :id 0 :content (nil 0 0 500))`)}, ""},
	{`(:inspect (:title "T") 3 10)`, &Inspect{Content: sexp.Raw(`(:title "T")`), Thread: 3, Tag: 10}, `(:emacs-return 3 10 nil)`},
	{`(:background-message "tid 1")`, &BackgroundMessage{Text: "tid 1"}, ""},
	{`(:new-package "SB-MOP" "MOP")`, &NewPackage{Name: "SB-MOP", Prompt: "MOP"}, ""},
	{`(:new-features (:zork :swank))`, &NewFeatures{Features: sexp.Raw("(:zork :swank)")}, ""},
	{`(:indentation-update (("define-x" 3 ("CL-USER")) ("y" (1 2) nil)))`, &IndentationUpdate{Updates: sexp.Raw(`(("define-x" 3 ("CL-USER")) ("y" (1 2) nil))`)}, ""},
	{`(:presentation-start 1 :repl-result)`, &PresentationStart{ID: sexp.Raw("1"), Target: sexp.Raw(":repl-result")}, ""},
	{`(:presentation-end 1 :repl-result)`, &PresentationEnd{ID: sexp.Raw("1"), Target: sexp.Raw(":repl-result")}, ""},
	{`(:channel-send 2 (:write-result ".."))`, &ChannelSend{Channel: 2, Message: sexp.Raw(`(:write-result "..")`)}, ""},
	{`(:test-delay 0.2)`, &Unknown{Head: ":test-delay", Message: sexp.Raw("(:test-delay 0.2)")}, ""},
	{`(:write-image ((:file "x")) "y")`, &Unknown{Head: ":write-image", Message: sexp.Raw(`(:write-image ((:file "x")) "y")`)}, ""},
	{`(:new-repl-output)`, &Unknown{Head: ":new-repl-output", Message: sexp.Raw("(:new-repl-output)")}, ""},
	{`(:open-dedicated-output-stream 4242 nil)`, &Unknown{Head: ":open-dedicated-output-stream", Message: sexp.Raw("(:open-dedicated-output-stream 4242 nil)")}, ""},
	{`(:invalid-channel 4 "no")`, &Unknown{Head: ":invalid-channel", Message: sexp.Raw(`(:invalid-channel 4 "no")`)}, ""},
	{`(:return (:ok 1) 999)`, nil, ""},
	{`(:return (:abort "x") 999)`, nil, ""},
	{`(:invalid-rpc 999 "Thread not found: 9")`, nil, ""},
	{`(:reader-error "(:emacs-pong #.x 1)" "no package")`, &UnmatchedReaderError{&ReaderError{0, "(:emacs-pong #.x 1)", "no package"}}, ""},
	{`(:reader-error ")" "unmatched close parenthesis")`, &UnmatchedReaderError{&ReaderError{0, ")", "unmatched close parenthesis"}}, ""},
	{`(:reader-error "(:emacs-rex (x) nil t 999)" "?")`, &UnmatchedReaderError{&ReaderError{0, "(:emacs-rex (x) nil t 999)", "?"}}, ""},
	{``, &Unparsable{}, ""},
	{`17`, &Unparsable{Frame: "17"}, ""},
	{`("list")`, &Unparsable{Frame: `("list")`}, ""},
	{`(:ping`, &Unparsable{Frame: "(:ping"}, ""},
	{`(:ping one 2)`, &Unparsable{Frame: "(:ping one 2)"}, ""},
	{`(:debug 1 1 "no list")`, &Unparsable{Frame: `(:debug 1 1 "no list")`}, ""},
	{`(:debug-activate 1 #<THREAD)`, &Unparsable{Frame: `(:debug-activate 1 #<THREAD)`}, ""},
	{`(:return (:maybe 1) 999)`, &Unparsable{Frame: `(:return (:maybe 1) 999)`}, ""},
	{`(:write-string 5)`, &Unparsable{Frame: `(:write-string 5)`}, ""},
}

func TestEvents(t *testing.T) {
	rec := newRecorder()
	peer, c := connect(t, &Options{Handler: rec.handle})
	for i, tt := range eventCases {
		before := len(rec.all())
		peer.Send(tt.in)
		if tt.answer != "" {
			peer.Expect(tt.answer)
		}
		// An answered ping shows that the message before it has been handled,
		// and that nothing else was answered.
		peer.Send("(:ping 1 1)")
		peer.Expect("(:emacs-pong 1 1)")
		got := rec.all()[before:]
		if tt.want == nil {
			if len(got) != 0 {
				t.Errorf("%s: got %+v, want nothing", tt.in, got)
			}
			continue
		}
		if len(got) != 1 {
			t.Fatalf("case %d %s: %d events", i, tt.in, len(got))
		}
		if u, ok := got[0].(*Unparsable); ok && u.Err == nil {
			t.Errorf("%s: no reason", tt.in)
		}
		if diff := cmp.Diff(tt.want, got[0], cmpopts.IgnoreFields(Unparsable{}, "Err"),
			cmpopts.IgnoreUnexported(Restart{}, DebugActivate{}, DebugReturn{}, DebugCondition{}, ReadString{}, ReadAborted{}, YesOrNo{},
				ReadFromMinibuffer{}, Eval{}, EvalNoWait{}, EdRPC{}, EdRPCNoWait{}, Ed{}, Inspect{}, BackgroundMessage{}, NewPackage{},
				NewFeatures{}, IndentationUpdate{}, PresentationStart{}, PresentationEnd{}, ChannelSend{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.in, diff)
		}
	}
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}

// What an event holds must not change with what is read later.
func TestEventsAreKept(t *testing.T) {
	rec := newRecorder()
	peer, _ := connect(t, &Options{Handler: rec.handle})
	peer.Send(`(:new-features (:first :feature))`, `(:zork "first message")`)
	for range 3 {
		peer.Send(strings.Repeat("x", readBuffer-20))
	}
	rec.await(t, func(Event) bool { return len(rec.all()) == 5 })
	if f := rec.all()[0].(*NewFeatures).Features; string(f) != "(:first :feature)" {
		t.Errorf("features became %.40q", f)
	}
	if m := rec.all()[1].(*Unknown).Message; string(m) != `(:zork "first message")` {
		t.Errorf("message became %.40q", m)
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
		{`(:return (:ok) 1)`, `nil`, nil},
		{"(:return  (:ok \"v\" )\n 1 )", `"v"`, nil},
		{`(:return (:ok "` + long + `") 1)`, `"` + long + `"`, nil},
		{`(:return (:ok "` + strings.Repeat(long, 100) + `") 1)`, `"` + strings.Repeat(long, 100) + `"`, nil},
		{`(:return (:ok #<function common-lisp:car>) 1)`, `#<function common-lisp:car>`, nil},
		{`(:return (:abort "NIL") 1)`, "", &AbortError{1, "NIL"}},
		{`(:return (:abort "#<E \"x\">") 1)`, "", &AbortError{1, `#<E "x">`}},
		{`(:return (:abort odd) 1)`, "", &AbortError{1, `odd`}},
		{"(:return  (:abort \"x\") 1)", "", &AbortError{1, "x"}},
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
		{`(:return (:ok "` + strings.Repeat(long, 200) + `") 1)`, "", &MessageError{ID: 1}}, // exceeds MaxFrame
	} {
		for _, wanted := range []bool{true, false} {
			peer, c := connect(t, &Options{MaxFrame: 150_000})
			k := mustGo(t, c)
			peer.Expect(request(1))
			peer.Send(tt.in)
			var got sexp.Raw
			var err error
			if wanted {
				err = k.Wait(soon(t), &got)
				if tt.err == nil && string(got) != tt.want {
					t.Errorf("%.80s: got %.80s", tt.in, got)
				}
			} else {
				err = k.Wait(soon(t), nil)
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

func TestQueryTakenOver(t *testing.T) {
	var c *Conn
	ready := make(chan struct{})
	peer, c := connect(t, &Options{Query: func(q Query) bool {
		<-ready
		switch q := q.(type) {
		case *ReadString:
			c.Post(q.Answer("line\n"))
		case *YesOrNo:
			c.Post(q.Answer(true))
		case *ReadFromMinibuffer:
			c.Post(q.Answer("me"))
		case *Eval:
			c.Post(q.Answer(sexp.List{1, "two"}))
		case *EdRPC:
			c.Post(q.Answer(sexp.Symbol(":done")))
		case *Inspect:
			return false
		}
		return true
	}})
	close(ready)
	for in, want := range map[string]string{
		`(:read-string 1 5)`:                  `(:emacs-return-string 1 5 "line` + "\n" + `")`,
		`(:y-or-n-p 2 6 "Q?")`:                `(:emacs-return 2 6 t)`,
		`(:read-from-minibuffer 2 7 "N" nil)`: `(:emacs-return 2 7 "me")`,
		`(:eval 2 8 "(x)")`:                   `(:emacs-return 2 8 (:ok (1 "two")))`,
		`(:ed-rpc 2 9 "f")`:                   `(:emacs-return 2 9 (:ok :done))`,
		`(:inspect (:title "T") 3 10)`:        `(:emacs-return 3 10 nil)`,
	} {
		peer.Send(in)
		peer.Expect(want)
	}
}

func TestClientMessages(t *testing.T) {
	peer, c := connect(t, nil)
	for want, msg := range map[string]any{
		`(:emacs-interrupt t)`:                     Interrupt(NewWorker),
		`(:emacs-interrupt 12)`:                    Interrupt(12),
		`(:emacs-interrupt :repl-thread)`:          Interrupt(REPLThread),
		`(:emacs-channel-send 4 (:process "(f)"))`: SendToChannel(4, sexp.List{sexp.Symbol(":process"), "(f)"}),
	} {
		if err := c.Send(msg); err != nil {
			t.Error(err)
		}
		peer.Expect(want)
	}
	if _, err := c.Go(Request{Form: form("cl:f"), Package: `A"B`, Thread: REPLThread}); err != nil {
		t.Error(err)
	}
	peer.Expect(`(:emacs-rex (cl:f) "A\"B" :repl-thread 1)`)
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
	for _, text := range []string{"", "\nsecond"} {
		if err := os.WriteFile(filepath.Join(home, ".slime-secret"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := ReadSecret(); err == nil {
			t.Errorf("file %q: %q, no error", text, s)
		}
	}
	if _, err := readSecret(home); err == nil {
		t.Error("a directory: no error")
	}
}

func TestTraceClips(t *testing.T) {
	var out strings.Builder
	tr := &tracer{w: &out}
	for i := range 4 {
		out.Reset()
		m := strings.Repeat("x", i) + strings.Repeat("😀", 400)
		tr.message("<<", len(m), []byte(m))
		line := out.String()
		if !strings.HasSuffix(line, "😀…(+"+map[int]string{0: "576", 1: "580", 2: "580", 3: "580"}[i]+" bytes)\n") || strings.Contains(line, `\x`) {
			t.Errorf("%d: %.20q…%q", i, line, line[len(line)-30:])
		}
	}
	out.Reset()
	tr.message(">>", 7, []byte("a\x00\r\x7f\xffé"))
	if got, want := out.String(), `>> 7 a\x00\x0d\x7f\xffé`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
