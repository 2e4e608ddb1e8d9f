package guest

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// Definitions are shared both ways, and every tool is about that image.
func TestAttach(t *testing.T) {
	t.Parallel()
	p := harness.LoadingPerson(t, harness.Environ(harness.Run.Dir), "(defvar cl-user::*theirs* 20)")
	s := harness.Attached(t, p)
	harness.Want(t, s, "(defun twice (x) (* 2 x)) (twice (incf *theirs*))", "=> 42")
	p.Wants("(twice *theirs*)", "42")
	harness.WantPID(t, s, p.Pid())
	harness.Says(t, harness.Status(t, s), "running, attached, pid", p.Address)
	harness.WantList(t, s, harness.Object{}, "[Functions]\n- TWICE (X)")
	p.Says("(defpackage :their-package (:use :cl))")
	harness.Says(t, harness.ListPackages(t, s, harness.Object{"filter": "their-"}), "THEIR-PACKAGE")
}

// Every tool may be the first one.
func TestAttachByAnyTool(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "(defpackage :their-package (:use :cl))")
	for _, tool := range []string{"list-packages", "list-definitions", "session-status", "reset-session"} {
		s := harness.Attached(t, p)
		harness.Good(t, s, tool, harness.Object{})
		harness.WantPID(t, s, p.Pid())
	}
}

// Nothing is contacted before the first call. What is wrong with an address is told at once,
// with what to type; of one that says nothing, what is known when the call's time is up.
func TestAttachFailures(t *testing.T) {
	tier.More(t)
	t.Parallel()
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		harness.Check(t, err)
		t.Cleanup(func() { l.Close() })
		return l
	}
	serve := func(handle func(net.Conn)) string {
		l := listen()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go handle(c)
			}
		}()
		return l.Addr().String()
	}
	free := listen()
	free.Close()
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	once := harness.NewPerson(t, "", ":dont-close", "nil")
	once.Says("(+ 1 2)") // its one client
	secretive := harness.ShortDir(t)
	harness.Write(t, filepath.Join(secretive, ".slime-secret"), "sesame\n")
	wrong := harness.ShortDir(t)
	harness.Write(t, filepath.Join(wrong, ".slime-secret"), "simsim\n")
	guarded := func() string { return harness.LoadingPerson(t, harness.Environ(secretive), "").Address }

	for _, test := range []struct{ name, address, home, says string }{
		{"nobody", free.Addr().String(), harness.Run.Dir, "nothing listens there (connection refused)"},
		{"closed after its first client", once.Address, harness.Run.Dir, "nothing listens there (connection refused). A Lisp that M-x slime has started"},
		{"silent", listen().Addr().String(), harness.Run.Dir, " has accepted the connection, and has not answered yet."},
		{"web server", web.Listener.Addr().String(), harness.Run.Dir, `it is not Swank: it says "HTTP/1", so it is a web server`},
		{"SSH", serve(func(c net.Conn) { fmt.Fprint(c, "SSH-2.0-x\r\n") }), harness.Run.Dir, `it is not Swank: it says "SSH-2.", so it is an SSH server`},
		{"nREPL", serve(func(c net.Conn) { c.Read(make([]byte, 1000)); c.Close() }), harness.Run.Dir, "closed it without an answer"},
		{"dead forward", serve(func(c net.Conn) { c.Close() }), harness.Run.Dir, "If that is the port of a tunnel (ssh -L, socat, a container's port), nothing listens at its far end"},
		{"no secret", guarded(), harness.Run.Dir, "it asks for a secret"},
		{"wrong secret", guarded(), wrong, "has not answered to the secret of ~/.slime-secret yet."},
		{"no socket", "unix:" + filepath.Join(harness.Run.Dir, "nosuch"), harness.Run.Dir, "there is no such socket"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := harness.AttachedTo(t, test.address, test.home)
			switch test.name {
			case "silent", "no secret", "wrong secret": // nothing but waiting
				t.Parallel()
				got := harness.Call(t, s, "session-status", harness.Object{}).Text()
				harness.Says(t, got, "Not connected: ", test.says, "(swank:create-server :port ")
				if strings.Contains(got, "no Swank at") {
					t.Errorf("what has not answered is called none: %s", got)
				}
				return
			}
			for _, tool := range []string{"evaluate-lisp", "list-definitions"} {
				args := harness.Object{}
				if tool == "evaluate-lisp" {
					args["code"] = "(+ 1 2)"
				}
				r := harness.Call(t, s, tool, args)
				if got := r.Text(); !r.IsError || !strings.Contains(got, test.says) || !strings.Contains(got, "(swank:create-server :port ") {
					t.Errorf("%s: %s", tool, got)
				}
			}
		})
	}
	t.Run("right secret", func(t *testing.T) {
		harness.Want(t, harness.AttachedTo(t, guarded(), secretive), "(+ 1 2)", "=> 3")
	})
	t.Run("the Lisp comes later", func(t *testing.T) {
		l := listen()
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		s := harness.AttachedTo(t, l.Addr().String(), harness.Run.Dir)
		harness.WantError(t, s, "(+ 1 2)", "[ERROR] NO-IMAGE")
		harness.PersonAt(t, port, harness.Environ(harness.Run.Dir), "")
		harness.Want(t, s, "(+ 1 2)", "=> 3")
	})
}

// A secret that cannot be read is not taken for none: nothing is sent, and the error names the file.
func TestAttachUnreadableSecret(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "")
	for name, c := range map[string]struct {
		make func(file string) error
		says string
	}{
		"directory": {func(file string) error { return os.Mkdir(file, 0o700) }, " cannot be read (is a directory)"},
		"empty":     {func(file string) error { return os.WriteFile(file, nil, 0o600) }, " has an empty first line"},
		"latin-1":   {func(file string) error { return os.WriteFile(file, []byte("s\xe9same\n"), 0o600) }, " is not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			home := harness.ShortDir(t)
			file := filepath.Join(home, ".slime-secret")
			harness.Check(t, c.make(file))
			s := harness.AttachedTo(t, p.Address, home)
			harness.Says(t, harness.WantError(t, s, "(+ 1 2)", "[ERROR] NO-IMAGE"), "nothing was sent to "+p.Address, file+c.says, "or remove it if that Lisp has none")
		})
	}
}
