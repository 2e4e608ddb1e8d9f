package swank

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/sexp"
)

// The tests of this file run against Swank in SBCL: the one of the directory
// SWANK_MCP_TEST_SWANK_DIR, or Debian's.
const (
	swankDirVariable = "SWANK_MCP_TEST_SWANK_DIR"
	debianSwankDir   = "/usr/share/common-lisp/source/slime"
	installSwank     = "install SBCL and Swank: apt-get install -y sbcl cl-swank"
)

// startLisp starts one SBCL for all tests, and returns its address. The process
// ends with ours, however ours ends: its standard input is a pipe from us.
var startLisp = sync.OnceValues(func() (addr string, err error) {
	dir := os.Getenv(swankDirVariable)
	if dir == "" {
		dir = debianSwankDir
	}
	loader := filepath.Join(dir, "swank-loader.lisp")
	if _, err := os.Stat(loader); err != nil {
		return "", fmt.Errorf("no Swank: %w; %s", err, installSwank)
	}
	cmd := exec.Command("sbcl", "--noinform", "--disable-ldb", "--no-sysinit", "--no-userinit", "--eval", fmt.Sprintf("(load %q)", loader),
		"--eval", "(funcall (intern \"INIT\" :swank-loader))",
		"--eval", `(let ((s *standard-output*))
		   (format s "~&PORT ~d~%" (funcall (intern "CREATE-SERVER" :swank) :port 0 :interface "127.0.0.1" :dont-close t :style :spawn))
		   (finish-output s))`,
		"--eval", "(progn (loop while (read-char *standard-input* nil)) (sb-ext:exit :abort t))")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("%w; %s", err, installSwank)
	}
	port := make(chan string, 1)
	var log strings.Builder
	go func() { // drains the pipe for ever: a full one stops the whole image
		defer stdin.Close() // and holds on to the other one
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if p, ok := strings.CutPrefix(line, "PORT "); ok && err == nil {
				port <- strings.TrimSpace(p)
				io.Copy(io.Discard, r)
				return
			}
			log.WriteString(line)
			if err != nil {
				close(port)
				return
			}
		}
	}()
	select {
	case p, ok := <-port:
		if !ok {
			return "", fmt.Errorf("sbcl ended (%v) and said: %s", cmd.Wait(), log.String())
		}
		return "127.0.0.1:" + p, nil
	case <-time.After(2 * time.Minute):
		cmd.Process.Kill()
		return "", errors.New("sbcl did not start a server in 2 minutes")
	}
})

// A tap keeps what is read from a connection.
type tap struct {
	net.Conn
	heard *syncBuffer
}

func (t tap) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	if t.heard != nil {
		t.heard.Write(p[:n])
	}
	return n, err
}

func dialLisp(t testing.TB, o *Options) *Conn { return tapLisp(t, o, nil) }

// tapLisp is dialLisp; heard gets what Lisp says.
func tapLisp(t testing.TB, o *Options, heard *syncBuffer) *Conn {
	t.Helper()
	if testing.Short() {
		t.Skip("needs SBCL; not run with -short")
	}
	addr, err := startLisp()
	if err != nil {
		t.Fatal(err)
	}
	secret, err := ReadSecret()
	if err != nil {
		t.Fatal(err)
	}
	o.Secret = secret
	checkLeaks(t)
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return newTestConn(t, tap{nc, heard}, o)
}

// newThread makes a thread that serves requests of this connection, one after
// the other, until the connection ends. The thread tells its number itself:
// Swank of 2.30 and later uses the operating system's, which is 0 for its
// creator until the thread runs.
func newThread(t testing.TB, c *Conn) ThreadID {
	t.Helper()
	var id ThreadID
	err := c.Call(await.Context(t), Request{Form: sexp.Raw(`(cl:let ((c swank::*emacs-connection*) (id nil))
		(swank/backend:spawn (cl:lambda ()
			(cl:setq id (swank/backend:thread-id (swank/backend:current-thread)))
			(cl:let ((swank::*sldb-quit-restart* nil)) (swank::handle-requests c))) :name "swank-mcp test")
		(cl:loop :until id :do (cl:sleep 1/1000))
		id)`)}, &id)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestSBCLBasics(t *testing.T) {
	trace := new(syncBuffer)
	c := dialLisp(t, &Options{Trace: trace})
	info, err := c.ConnectionInfo(await.Context(t))
	if err != nil {
		t.Fatalf("%v\n%s", err, trace)
	}
	if info.Implementation.Type != "SBCL" || info.PID == 0 || info.Style != ":spawn" || info.Version == "" {
		t.Errorf("%+v", info)
	}
	t.Logf("SBCL %s, Swank %s", info.Implementation.Version, info.Version)
	g, err := grab(c, await.Context(t), NewWorker, "", "(progn (princ \"λ😀\n\\\"\") (values 1 \"é\"))")
	if err != nil || g.Output != "λ😀\n\"" || g.Values != "1\n\"é\"" {
		t.Errorf("%+v, %v", g, err)
	}
	if err := c.Ping(await.Context(t), NewWorker); err != nil {
		t.Error(err)
	}
	if want := ">> 59 (:emacs-rex (swank:connection-info) \"COMMON-LISP-USER\" t 1)\n<< "; !strings.HasPrefix(trace.String(), want) {
		t.Errorf("trace begins %.200q", trace.String())
	}
}

func TestSBCLDebugger(t *testing.T) {
	rec := newRecorder()
	c := dialLisp(t, &Options{Handler: rec.handle})
	thread := newThread(t, c)
	if thread <= 0 {
		t.Fatalf("thread number %d", thread)
	}
	k, err := c.Go(Request{Form: EvalAndGrabOutput(`(error "boom ~a" 6)`), Thread: thread})
	if err != nil {
		t.Fatal(err)
	}
	d := rec.await(t, 1)
	if d.Thread != thread || d.Level != 1 || len(d.Calls) != 1 || d.Calls[0] != k || k.Debug() != d ||
		d.Condition.Message != "boom 6" || d.Condition.Type != "SIMPLE-ERROR" || len(d.Frames) == 0 {
		t.Errorf("%+v", d)
	}
	// An error in the debugger: the same call, one level deeper.
	k2, err := c.Go(Request{Form: form("cl:error", "nested"), Thread: thread})
	if err != nil {
		t.Fatal(err)
	}
	d2 := rec.await(t, 2)
	if len(d2.Calls) != 2 || d2.Calls[0] != k2 || d2.Calls[1] != k || k.Debug() != d2 {
		t.Errorf("%+v", d2)
	}
	if err := c.ThrowToToplevel(await.Context(t), thread); err != nil {
		t.Error(err)
	}
	for _, k := range []*Call{k2, k} {
		var abort *AbortError
		if err := k.Wait(await.Context(t), nil); !errors.As(err, &abort) || abort.ID != k.id {
			t.Errorf("call %d: %v", k.id, err)
		}
		if k.Debug() != nil {
			t.Errorf("call %d is still in the debugger", k.id)
		}
	}
	if g, err := grab(c, await.Context(t), thread, "", "(+ 1 2)"); err != nil || g.Values != "3" {
		t.Errorf("afterwards: %+v, %v", g, err)
	}
	if ds := c.Debugs(); len(ds) != 0 {
		t.Errorf("open debuggers: %+v", ds)
	}
}

func TestSBCLRefusals(t *testing.T) {
	c := dialLisp(t, &Options{})
	var reader *ReaderError
	err := c.Call(await.Context(t), Request{Form: form("swank:nosuchfn", `12) "a\b"`+"\né")}, nil)
	if !errors.As(err, &reader) || !strings.Contains(reader.Message, "NOSUCHFN") || reader.ID != 1 {
		t.Errorf("unknown function: %v", err)
	}
	var invalid *InvalidRPCError
	if err := c.Call(await.Context(t), Request{Form: form("swank:ping", 1), Thread: 999_999_999}, nil); !errors.As(err, &invalid) {
		t.Errorf("unknown thread: %v", err)
	}
	// An object that prints as anything but an s-expression fails its own call.
	if err := c.Call(await.Context(t), Request{Form: sexp.Raw(`(cl:progn (cl:defclass swank::bad () ())
		(cl:defmethod cl:print-object ((o swank::bad) s) (cl:write-string "(\"unbalanced )" s)) (cl:make-instance 'swank::bad))`)}, nil); err == nil {
		t.Error("unbalanced value: no error")
	} else if m := (*MessageError)(nil); !errors.As(err, &m) {
		t.Errorf("unbalanced value: %v", err)
	}
	if err := c.Ping(await.Context(t), NewWorker); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

// Questions that nobody answers do not stop Lisp.
func TestSBCLQueries(t *testing.T) {
	c := dialLisp(t, &Options{})
	thread := newThread(t, c)
	for source, want := range map[string]string{
		`(swank::y-or-n-p-in-emacs "sure?")`:                                                     "NIL",
		`(swank::read-from-minibuffer-in-emacs "name")`:                                          "NIL",
		`(handler-case (swank::eval-in-emacs '(beep)) (error (c) (princ-to-string c)))`:          `"refused by the client: it does not evaluate Emacs Lisp"`,
		`(handler-case (swank::ed-rpc 'swank::foo 1) (error () :refused))`:                       ":REFUSED",
		`(swank:inspect-in-emacs 5 :wait t)`:                                                     "5",
		`(progn (swank::background-message "hello ~a" 5) (length (list 1 2)))`:                   "2",
		`(progn (swank::send-to-emacs (list :ed-rpc-no-wait "mine" (list 1.5d0 :b "c"))) :sent)`: ":SENT",
	} {
		g, err := grab(c, await.Context(t), thread, "", source)
		if err != nil || g.Values != want {
			t.Errorf("%s: %+v, %v; want %s", source, g, err, want)
		}
	}
}

// noDelay turns Nagle's algorithm off on Lisp's socket: with it each ping takes
// 45 ms.
const noDelay = `(sb-alien:with-alien ((swank::one sb-alien:int 1))
	(sb-alien:alien-funcall (sb-alien:extern-alien "setsockopt" (cl:function sb-alien:int
			sb-alien:int sb-alien:int sb-alien:int (cl:* sb-alien:int) sb-alien:unsigned-int))
		(sb-sys:fd-stream-fd (swank::connection.socket-io swank::*emacs-connection*)) 6 1 (sb-alien:addr swank::one) 4))`

// 20,000 lines through the REPL's streams, each of which Lisp waits to have
// acknowledged one way or the other; and reading from them.
func TestSBCLFlood(t *testing.T) {
	const lines = 20_000
	trace, heard := new(syncBuffer), new(syncBuffer)
	c := tapLisp(t, &Options{Trace: trace}, heard)
	ctx := await.Context(t)
	if err := c.Call(ctx, Request{Form: sexp.Raw(`(swank:swank-require "SWANK-REPL")`)}, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Call(ctx, Request{Form: sexp.Raw("(swank-repl:create-repl nil)")}, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Call(ctx, Request{Form: sexp.Raw(noDelay)}, nil); err != nil {
		t.Fatal(err)
	}
	var repl ThreadID
	if err := c.Call(ctx, Request{Form: sexp.Raw(`(swank/backend:thread-id (swank::mconn.repl-thread swank::*emacs-connection*))`)}, &repl); err != nil {
		t.Fatal(err)
	}
	// Flushing every line makes each a message of its own.
	form := sexp.Raw(fmt.Sprintf(`(cl:dotimes (swank::i %d :done) (cl:format cl:t "~d~%%" swank::i) (cl:finish-output))`, lines))
	begin := time.Now()
	var v sexp.Symbol
	if err := c.Call(ctx, Request{Form: form, Thread: repl}, &v); err != nil || v != ":done" {
		t.Fatalf("%v, %v", v, err)
	}
	t.Logf("%d lines in %v, %d pings, %d acknowledgements", lines, time.Since(begin).Round(time.Millisecond),
		strings.Count(trace.String(), "(:emacs-pong "), strings.Count(trace.String(), "(:write-done "))
	if err := c.Call(ctx, Request{Form: sexp.Raw(`(cl:multiple-value-list (cl:read-line cl:nil cl:nil :eof))`), Thread: repl}, nil); err != nil {
		t.Errorf("reading: %v", err)
	}
	c.Close()
	var got, want strings.Builder
	for _, message := range regexp.MustCompile(`\(:write-string "([0-9\n]*)"`).FindAllStringSubmatch(heard.String(), -1) {
		got.WriteString(message[1])
	}
	for i := range lines {
		fmt.Fprintln(&want, i)
	}
	if got.String() != want.String() {
		t.Errorf("%d bytes arrived, want %d", got.Len(), want.Len())
	}
}

func TestSBCLConcurrent(t *testing.T) {
	c := dialLisp(t, &Options{})
	thread := newThread(t, c)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 100 {
				g, err := grab(c, await.Context(t), thread, "", fmt.Sprintf("(progn (princ %d) (* %d %d))", i, worker, i))
				if want := fmt.Sprint(worker * i); err != nil || g.Values != want || g.Output != fmt.Sprint(i) {
					t.Errorf("%+v, %v", g, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestSBCLLarge(t *testing.T) {
	c := dialLisp(t, &Options{})
	var s string
	// Otherwise Swank formats each message once more and keeps it.
	if err := c.Call(await.Context(t), Request{Form: sexp.Raw(`(cl:setf swank::*enable-event-history* nil)`)}, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Call(await.Context(t), Request{Form: sexp.Raw(`(cl:make-string 5000000 :initial-element (cl:code-char 955))`)}, &s); err != nil || s != strings.Repeat("λ", 5_000_000) {
		t.Errorf("%d bytes, %v", len(s), err)
	}
	var n int
	if err := c.Call(await.Context(t), Request{Form: form("cl:length", strings.Repeat("λ", 1_000_000))}, &n); err != nil || n != 1_000_000 {
		t.Errorf("%d, %v", n, err)
	}
}

// A connection that Lisp shuts down ends every call on it.
func TestSBCLClosesConnection(t *testing.T) {
	c := dialLisp(t, &Options{})
	calls := make([]*Call, 3)
	for i := range calls {
		var err error
		if calls[i], err = c.Go(Request{Form: form("cl:sleep", 30)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Go(Request{Form: sexp.Raw(`(sb-alien:alien-funcall
		(sb-alien:extern-alien "shutdown" (cl:function sb-alien:int sb-alien:int sb-alien:int))
		(sb-sys:fd-stream-fd (swank::connection.socket-io swank::*emacs-connection*)) 2)`)}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.Done():
	case <-await.Context(t).Done():
		t.Fatal("the connection did not end")
	}
	for _, k := range calls {
		if err := k.Wait(await.Context(t), nil); err == nil || err != c.Wait() {
			t.Errorf("call %d: %v; connection: %v", k.id, err, c.Err())
		}
	}
	if e := (*ConnError)(nil); !errors.As(c.Wait(), &e) {
		t.Errorf("cause: %v", c.Wait())
	}
}
