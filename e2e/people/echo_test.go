package people

import (
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
	"swank-mcp/sexp"
)

// repl is a person's REPL, as that of SLIME is one: what Swank shows in it is kept.
type repl struct {
	conn net.Conn
	mu   sync.Mutex
	text strings.Builder
	hold chan struct{} // with one place: while somebody has it, nothing is read

	answer func(question string) (yes, now bool) // to y-or-n-p; nil says nothing
}

// openREPL is held while a REPL is opened: two Lisps that compile Swank's at the same
// time break each other's files.
var openREPL sync.Mutex

// newREPL opens a REPL in p's image.
func newREPL(t *testing.T, p *harness.Person) *repl {
	t.Helper()
	openREPL.Lock()
	defer openREPL.Unlock()
	conn, err := net.Dial("tcp", p.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	r := &repl{conn: conn, hold: make(chan struct{}, 1)}
	returned := make(chan struct{}, 3)
	go r.read(returned)
	for i, form := range []string{"(swank:connection-info)", "(swank:swank-require '(swank-repl))", "(swank-repl:create-repl nil)"} {
		message := fmt.Sprintf(`(:emacs-rex %s "COMMON-LISP-USER" t %d)`, form, i+1)
		if _, err := fmt.Fprintf(conn, "%06x%s", len(message), message); err != nil {
			t.Fatal(err)
		}
		await.From(t, "the answer to "+form, returned)
	}
	return r
}

// read keeps what is shown, until the connection ends, and tells of requests that succeed.
func (r *repl) read(returned chan<- struct{}) {
	for {
		head := make([]byte, 6)
		if _, err := io.ReadFull(r.conn, head); err != nil {
			return
		}
		size, err := hex.DecodeString(string(head))
		if err != nil {
			return
		}
		body := make([]byte, int(size[0])<<16|int(size[1])<<8|int(size[2]))
		if _, err := io.ReadFull(r.conn, body); err != nil {
			return
		}
		r.hold <- struct{}{} // who holds it lets no more be read
		<-r.hold
		text, shown := strings.CutPrefix(string(body), "(:write-string ")
		var s string
		switch {
		case shown && sexp.Unmarshal([]byte(strings.TrimSuffix(strings.TrimSpace(text), ")")), &s) == nil:
			r.mu.Lock()
			r.text.WriteString(s)
			r.mu.Unlock()
		case strings.HasPrefix(string(body), "(:y-or-n-p "):
			r.question(string(body))
		case strings.HasPrefix(string(body), "(:return (:ok"):
			returned <- struct{}{}
		}
	}
}

// question answers (:y-or-n-p THREAD TAG QUESTION), as Emacs does.
func (r *repl) question(message string) {
	var q struct {
		_           struct{} `sexp:",list"`
		Head        sexp.Symbol
		Thread, Tag int64
		Question    string
	}
	if sexp.Unmarshal([]byte(strings.TrimSpace(message)), &q) != nil || r.answer == nil {
		return
	}
	if yes, now := r.answer(q.Question); now {
		said := map[bool]string{true: "t", false: "nil"}[yes]
		text := fmt.Sprintf("(:emacs-return %d %d %s)", q.Thread, q.Tag, said)
		fmt.Fprintf(r.conn, "%06x%s", len(text), text)
	}
}

// shown is all that was shown so far.
func (r *repl) shown() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// until waits until that is shown.
func (r *repl) until(t *testing.T, text string) {
	t.Helper()
	if await.Until(func() bool { return strings.Contains(r.shown(), text) }) != nil {
		t.Fatalf("the REPL never shows %q:\n%s", text, harness.Clip(r.shown()))
	}
}

// TestEchoTexts holds what a person is shown, call by call, to testdata/echo.txt.
func TestEchoTexts(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "")
	r := newREPL(t, p)
	dir := t.TempDir()
	s := harness.Attached(t, p, "--echo", "--session-dir", dir)
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	source := file("source.lisp", "(defun from-source () 1)\n")
	file("session.lisp", "(defun from-session () 1)\n(car 1)\n")
	system := file("echo-system.asd", `(asdf:defsystem "echo-system" :components ())`)
	type args = map[string]any
	var all strings.Builder
	for i, c := range []struct {
		tool string
		args args
	}{
		{"evaluate-lisp", args{"code": "(+ 1 2)"}},
		{"evaluate-lisp", args{"code": "(values)"}},
		{"evaluate-lisp", args{"code": "(values 1 2 3 4 5 6 7)"}},
		{"evaluate-lisp", args{"code": "(print :not-shown)"}},
		{"evaluate-lisp", args{"code": "\n\n(defun area (w h)\n\n  (* w h))  \n"}},
		{"evaluate-lisp", args{"code": strings.Repeat("(list 1)\n", 30)}},
		{"evaluate-lisp", args{"code": "(list " + strings.Repeat("λ ", 300) + ")"}},
		{"evaluate-lisp", args{"code": strings.Repeat("1\n", 6000) + "2"}},
		{"evaluate-lisp", args{"code": `(format nil "~{~A~%~}" '(1 2 3 4 5 6 7 8 9 10 11 12 13))`}},
		{"evaluate-lisp", args{"code": "(loop for i below 5000 collect i)"}},
		{"evaluate-lisp", args{"code": `(format nil "~{~A~%~%~}" (loop repeat 4000 collect (make-string 300 :initial-element #\z)))`}},
		{"evaluate-lisp", args{"code": "(make-string 600000 :initial-element #\\z)"}},
		{"evaluate-lisp", args{"code": "(list \"quoted \\\" \\\\\" 'λ #\\x)"}},
		{"evaluate-lisp", args{"code": ""}},
		{"evaluate-lisp", args{"code": "(area 6 'seven)"}},
		{"evaluate-lisp", args{"code": "(error \"first~%~%third\")"}},
		{"evaluate-lisp", args{"code": "(car"}},
		{"evaluate-lisp", args{"code": "(loop (sleep 0.01))", "timeout": 0.3}},
		{"evaluate-lisp", args{"code": "(exit)"}},
		{"evaluate-lisp", args{"code": "(abort)"}},
		{"evaluate-lisp", args{"code": "(list *package*)", "package": "KEYWORD"}},
		{"compile-form", args{"code": "(defun compiled (x)\n  (* x 2))"}},
		{"compile-file", args{"path": source}},
		{"load-file", args{"path": source}},
		{"load-file", args{"path": source + "-missing"}},
		{"load-system", args{"system": "ASDF"}},
		{"load-system", args{"system": system}},
		{"load-system", args{"system": "no-such-system"}},
		{"run-tests", args{"system": "echo-system"}},
		{"run-tests", args{"test": "no-such-test"}},
		{"macroexpand-form", args{"form": "(when 1 2)", "mode": "full"}},
		{"inspect-object", args{"code": "(list 1 2)"}},
		{"trace-function", args{"functions": "area", "code": "(area 1 2)"}},
		{"profile-code", args{"code": "(area 1 2)", "mode": "calls", "functions": "area"}},
		{"load-session", args{"file": "session.lisp"}},
		{"describe-symbol", args{"name": "car"}},
		{"evaluate-lisp", args{"code": "(restart-case (let ((x 1)) (car x)) (go-on () 5))", "on-error": "debug"}},
		{"evaluate-in-frame", args{"code": "(+ 1 1)", "frame": 0}},
		{"evaluate-in-frame", args{"code": "(car 2)", "frame": 0}},
		{"invoke-restart", args{"restart": "no-such-restart"}},
		{"invoke-restart", args{"restart": "go-on"}},
		{"evaluate-lisp", args{"code": "(error \"again\")", "on-error": "debug"}},
		{"invoke-restart", args{"restart": "retry"}},
		{"abort-evaluation", args{}},
		{"evaluate-lisp", args{"code": "(error \"reset\")", "on-error": "debug"}},
		{"reset-session", args{}},
	} {
		before := r.shown()
		harness.Call(t, s, c.tool, c.args)
		harness.Call(t, s, "evaluate-lisp", args{"code": fmt.Sprintf("(list :end-of %d)", i)})
		r.until(t, fmt.Sprintf(" => (:END-OF %d)\n", i))
		added := strings.TrimPrefix(r.shown(), before)
		added = added[:regexp.MustCompile(fmt.Sprintf(`; swank-mcp \d+ wire 1> \(list :end-of %d\)`, i)).FindStringIndex(added)[0]]
		fmt.Fprintf(&all, "%s\n%s", c.tool, strings.ReplaceAll(added, dir, "DIR"))
	}
	got := harness.Addresses.ReplaceAllString(all.String(), "{}")
	golden := harness.Testdata("echo.txt")
	if *harness.Update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("what is shown differs (-want +got):\n%s", diff)
	}
}

// A cancelled evaluation is shown as such, and what a server has shown last is shown
// though it ends at once.
func TestEchoOfAnEnd(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "")
	r := newREPL(t, p)
	s := harness.Attached(t, p, "--echo")
	p.Says(`(defvar cl-user::*begun* nil)`)
	const code = "(loop (setf cl-user::*begun* t) (sleep 0.01))"
	pending, err := s.GoTool("evaluate-lisp", map[string]any{"code": code}, wire.CallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.until(t, "; swank-mcp 1 wire 1> "+code+"\n")
	// Until then it is compiled, and the compiler says that it was broken off.
	if await.Until(func() bool { return p.Says(`cl-user::*begun*`) == "T" }) != nil {
		t.Fatal("it does not begin")
	}
	if err := s.Notify("notifications/cancelled", map[string]any{"requestId": pending.ID}); err != nil {
		t.Fatal(err)
	}
	r.until(t, "; swank-mcp 1 wire 1> "+code+"\n; 1 [CANCELLED]\n")
	harness.Want(t, s, `(list :the :last)`, "=> (:THE :LAST)")
	if err := s.Close(await.Ceiling); err != nil {
		t.Fatal(err)
	}
	r.until(t, "; swank-mcp 2 wire 1> (list :the :last)\n; 2 => (:THE :LAST)\n")
}

// Quick evaluations of several sessions are shown in the order of each. A person who
// reads nothing (Emacs was stopped) stops none of them, and closing the REPL does not.
func TestEchoOfMany(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "")
	r := newREPL(t, p)
	servers := []*harness.Server{harness.Attached(t, p, "--echo"), harness.Attached(t, p, "--echo", "--session", "other")}
	const evaluations = 400
	burst := func(name string) {
		t.Helper()
		var work sync.WaitGroup
		for n, s := range servers {
			work.Go(func() {
				for i := range evaluations {
					ctx, stop := await.Limited(t.Context())
					got, err := s.Tool(ctx, "evaluate-lisp", map[string]any{"code": fmt.Sprintf("(list :%s %d %d)", name, n, i)})
					stop()
					if err != nil || got.Text() != fmt.Sprintf("=> (:%s %d %d)", strings.ToUpper(name), n, i) {
						t.Errorf("%s %d of %d: %s, %v", name, i, n, got.Text(), err)
						return
					}
				}
			})
		}
		work.Wait()
	}
	burst("read")
	for n := range servers {
		r.until(t, fmt.Sprintf(" => (:READ %d %d)\n", n, evaluations-1))
	}
	rest := r.shown()
	for i := range evaluations {
		for n := range servers {
			code, value := fmt.Sprintf("> (list :read %d %d)\n", n, i), fmt.Sprintf(" => (:READ %d %d)\n", n, i)
			at, end := strings.Index(rest, code), strings.Index(rest, value)
			if at < 0 || end < at {
				t.Fatalf("evaluation %d of session %d is shown at %d, its value at %d", i, n, at, end)
			}
			if i > 0 && at < strings.Index(rest, fmt.Sprintf(" => (:READ %d %d)\n", n, i-1)) {
				t.Fatalf("evaluation %d of session %d is shown before the value of the one before", i, n)
			}
		}
	}

	// nothing is read: what the socket does not hold waits in Swank's thread for it
	r.hold <- struct{}{}
	wide := `(make-string 2000 :initial-element #\z)`
	for range 600 {
		harness.Eval(t, servers[0], wide)
	}
	burst("stopped")
	<-r.hold
	harness.Want(t, servers[1], "(list :again)", "=> (:AGAIN)")
	r.conn.Close()
	burst("closed")
}

// The echo begins no text in a line that the person's code has not ended, says how much it
// has left out, and can go to a file; session-status says where it goes.
func TestEchoElsewhere(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "")
	s := harness.Attached(t, p, "--echo")
	harness.Says(t, harness.Good(t, s, "session-status", harness.Object{}), "; What agents do is shown in no place, as no SLIME with a REPL is connected: the person may choose")
	file := filepath.Join(t.TempDir(), "echo")
	harness.Says(t, p.Prints(fmt.Sprintf("(swank-mcp:echo-to %q)", file)), "; What agents do is shown in "+file+".")
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	wantEcho := func(text string) {
		t.Helper()
		if await.Until(func() bool { b, _ := os.ReadFile(file); return string(b) == text }) != nil {
			b, _ := os.ReadFile(file)
			t.Errorf("the file has\n%s\nand not\n%s", b, text)
		}
	}
	wantEcho("; swank-mcp 1 wire 1> (+ 1 2)\n; 1 => 3\n")
	harness.Says(t, harness.Good(t, s, "session-status", harness.Object{}), "; What agents do is shown in "+file+".")

	r := newREPL(t, p)
	harness.Says(t, p.Prints("(swank-mcp:echo-to :repl)"), "; What agents do is shown in 1 REPL in this image.")
	// What their thread prints ends in the midst of a line.
	p.Says(`(let ((out (swank::connection.user-output (first (swank-mcp::repls))))) (write-string "half a line" out) (finish-output out))`)
	r.until(t, "half a line")
	harness.Want(t, s, "(list :after-half)", "=> (:AFTER-HALF)")
	r.until(t, "half a line\n; swank-mcp 2 wire 1> (list :after-half)\n; 2 => (:AFTER-HALF)\n")
	harness.Want(t, s, "(list :again)", "=> (:AGAIN)")
	r.until(t, "; 2 => (:AFTER-HALF)\n; swank-mcp 3 wire 1> (list :again)\n; 3 => (:AGAIN)\n")

	r.hold <- struct{}{} // Emacs reads nothing
	tall := strings.Repeat("; "+strings.Repeat("z", 190)+"\n", 9) + ":long"
	for range 4000 {
		harness.Eval(t, s, tall)
	}
	<-r.hold
	harness.Want(t, s, "(list :then)", "=> (:THEN)")
	r.until(t, " more: (swank-mcp:history)\n")

	if err := s.Close(await.Ceiling); err != nil {
		t.Error(err)
	}
	if await.Until(func() bool {
		return p.Says(`(find "swank-mcp echo" (swank/backend:all-threads) :key #'swank/backend:thread-name :test #'string=)`) == "NIL"
	}) != nil {
		t.Error("the thread of the echo is there still")
	}
}
