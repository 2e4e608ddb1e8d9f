package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/tier"
)

// attached starts a server in p's image.
func attached(t *testing.T, p *person, args ...string) *server {
	t.Helper()
	return attachedTo(t, p.address, run.dir, args...)
}

// attachedTo starts a server that attaches to the address, with that home directory.
func attachedTo(t *testing.T, address, home string, args ...string) *server {
	t.Helper()
	check(t, run.warmGuest())
	s := startCold(t, wire.Options{Env: environ(home)}, append([]string{"--attach", address}, args...)...)
	open(t, s)
	return s
}

// Definitions are shared both ways, and every tool is about that image.
func TestAttach(t *testing.T) {
	t.Parallel()
	p := loadingPerson(t, environ(run.dir), "(defvar cl-user::*theirs* 20)")
	s := attached(t, p)
	want(t, s, "(defun twice (x) (* 2 x)) (twice (incf *theirs*))", "=> 42")
	p.wants("(twice *theirs*)", "42")
	wantPID(t, s, p.pid())
	says(t, status(t, s), "running, attached, pid", p.address)
	wantList(t, s, object{}, "[Functions]\n- TWICE (X)")
	p.says("(defpackage :their-package (:use :cl))")
	says(t, listPackages(t, s, object{"filter": "their-"}), "THEIR-PACKAGE")
}

// Every tool may be the first one.
func TestAttachByAnyTool(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := newPerson(t, "(defpackage :their-package (:use :cl))")
	for _, tool := range []string{"list-packages", "list-definitions", "session-status", "reset-session"} {
		s := attached(t, p)
		good(t, s, tool, object{})
		wantPID(t, s, p.pid())
	}
}

// Nothing is contacted before the first call. What is wrong with an address is told at once,
// with what to type; of one that says nothing, what is known when the call's time is up.
func TestAttachFailures(t *testing.T) {
	tier.More(t)
	t.Parallel()
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		check(t, err)
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
	once := newPerson(t, "", ":dont-close", "nil")
	once.says("(+ 1 2)") // its one client
	secretive := shortDir(t)
	write(t, filepath.Join(secretive, ".slime-secret"), "sesame\n")
	wrong := shortDir(t)
	write(t, filepath.Join(wrong, ".slime-secret"), "simsim\n")
	guarded := func() string { return loadingPerson(t, environ(secretive), "").address }

	for _, test := range []struct{ name, address, home, says string }{
		{"nobody", free.Addr().String(), run.dir, "nothing listens there (connection refused)"},
		{"closed after its first client", once.address, run.dir, "nothing listens there (connection refused). A Lisp that M-x slime has started"},
		{"silent", listen().Addr().String(), run.dir, " has accepted the connection, and has not answered yet."},
		{"web server", web.Listener.Addr().String(), run.dir, `it is not Swank: it says "HTTP/1", so it is a web server`},
		{"SSH", serve(func(c net.Conn) { fmt.Fprint(c, "SSH-2.0-x\r\n") }), run.dir, `it is not Swank: it says "SSH-2.", so it is an SSH server`},
		{"nREPL", serve(func(c net.Conn) { c.Read(make([]byte, 1000)); c.Close() }), run.dir, "closed it without an answer"},
		{"dead forward", serve(func(c net.Conn) { c.Close() }), run.dir, "If that is the port of a tunnel (ssh -L, socat, a container's port), nothing listens at its far end"},
		{"no secret", guarded(), run.dir, "it asks for a secret"},
		{"wrong secret", guarded(), wrong, "has not answered to the secret of ~/.slime-secret yet."},
		{"no socket", "unix:" + filepath.Join(run.dir, "nosuch"), run.dir, "there is no such socket"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := attachedTo(t, test.address, test.home)
			switch test.name {
			case "silent", "no secret", "wrong secret": // nothing but waiting
				t.Parallel()
				got := call(t, s, "session-status", object{}).Text()
				says(t, got, "Not connected: ", test.says, "(swank:create-server :port ")
				if strings.Contains(got, "no Swank at") {
					t.Errorf("what has not answered is called none: %s", got)
				}
				return
			}
			for _, tool := range []string{"evaluate-lisp", "list-definitions"} {
				args := object{}
				if tool == "evaluate-lisp" {
					args["code"] = "(+ 1 2)"
				}
				r := call(t, s, tool, args)
				if got := r.Text(); !r.IsError || !strings.Contains(got, test.says) || !strings.Contains(got, "(swank:create-server :port ") {
					t.Errorf("%s: %s", tool, got)
				}
			}
		})
	}
	t.Run("right secret", func(t *testing.T) {
		want(t, attachedTo(t, guarded(), secretive), "(+ 1 2)", "=> 3")
	})
	t.Run("the Lisp comes later", func(t *testing.T) {
		l := listen()
		port := l.Addr().(*net.TCPAddr).Port
		l.Close()
		s := attachedTo(t, l.Addr().String(), run.dir)
		wantError(t, s, "(+ 1 2)", "[ERROR] NO-IMAGE")
		personAt(t, port, environ(run.dir), "")
		want(t, s, "(+ 1 2)", "=> 3")
	})
}
