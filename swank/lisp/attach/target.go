package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/host"
)

// Target is an image to attach to, whose Swank a person has started. The
// zero value is none: an image is launched.
type Target struct {
	Network string // "tcp" or "unix"; "" with Command
	Address string // "127.0.0.1:4005", "/run/lisp.sock"
	Command string // shell command whose stdin and stdout are the connection
}

// ParseTarget reads HOST:PORT, PORT or unix:PATH. A host that is not this one
// is refused, unless remote is true: whoever reaches a Swank can do anything
// that its owner can, and nothing on the way is encrypted.
func ParseTarget(s string, remote bool) (Target, error) {
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		if path == "" {
			return Target{}, errors.New("unix: needs a path, as in unix:/run/user/1000/lisp.sock")
		}
		return Target{Network: "unix", Address: path}, nil
	}
	if _, err := strconv.Atoi(s); err == nil {
		s = ":" + s
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return Target{}, fmt.Errorf("%q is neither HOST:PORT nor unix:PATH; SLIME's usual port is 127.0.0.1:4005", s)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return Target{}, fmt.Errorf("%q is no port number", port)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); !remote && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return Target{}, fmt.Errorf("%s is not this machine, and Swank neither encrypts nor asks who you are: "+
			"use a tunnel, as in --attach-command 'ssh %s -W 127.0.0.1:%s', or say --allow-remote", host, host, port)
	}
	return Target{Network: "tcp", Address: net.JoinHostPort(host, port)}, nil
}

// IsZero reports whether t is none.
func (t Target) IsZero() bool { return t == Target{} }

// String is the target as people write it.
func (t Target) String() string {
	switch {
	case t.Command != "":
		return "`" + t.Command + "`"
	case t.Network == "unix":
		return "unix:" + t.Address
	}
	return t.Address
}

// dial connects. The pipe is that of the command, if it is one, or nil.
func (t Target) dial(ctx context.Context, o *swank.Options) (*swank.Conn, *commandPipe, error) {
	if t.Command != "" {
		pipe, err := startPipe(t.Command)
		if err != nil {
			return nil, nil, err
		}
		return swank.NewConn(pipe, o), pipe, nil
	}
	conn, err := swank.Dial(ctx, t.Network, t.Address, o)
	return conn, nil, err
}

// Error is the error of a target that is not to be had at the moment.
type Error struct {
	host.StartError
	Away   bool // nothing listens there: trying again does no harm
	Silent bool // something listens there and says nothing
}

// Unwrap returns the [*host.StartError] in e.
func (e *Error) Unwrap() error { return &e.StartError }

// unreachable is the error of a target to which no connection could be made.
func (t Target) unreachable(err error) error {
	why := "connecting to it failed: " + err.Error()
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		why = "nothing listens there (connection refused). A Lisp that M-x slime has started listens for Emacs alone and stops when Emacs has connected"
	case errors.Is(err, os.ErrNotExist):
		why = "there is no such socket"
	case errors.Is(err, os.ErrPermission):
		why = "this user may not connect to it (permission denied)"
	case errors.Is(err, syscall.ETIMEDOUT):
		why = "no connection came about: the host is down, or a firewall drops the packets"
	}
	return &Error{
		StartError: host.StartError{Problem: fmt.Sprintf("no Lisp at %s: %s.", t, why), Advice: t.invitation(true)},
		Away:       errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, os.ErrNotExist),
	}
}

// noSwank is the error of a target that accepted the connection and then did
// not answer as Swank does.
func (t Target) noSwank(err error, complaint string) error {
	var header *swank.HeaderError
	var conn *swank.ConnError
	problem, advice := err.Error(), t.invitation(false)
	var unread *swank.ReaderError
	switch {
	case errors.As(err, &unread) && strings.Contains(strings.ToUpper(unread.Message), "SWANK"):
		problem = "it speaks Swank's protocol, and there is no package SWANK in that Lisp: it is the port of another server, Slynk (Sly's) for one."
		advice = "swank-mcp needs Swank, which works beside Slynk: load it in that Lisp, with (ql:quickload :swank) or (asdf:load-system :swank). " + advice
	case errors.As(err, &header):
		problem = fmt.Sprintf("it is not Swank: it says %q%s.", header.Header, protocolOf(header.Header))
		advice = "The port belongs to another program. " + advice
	case t.Command != "" && complaint != "":
		problem = "the command ended: " + complaint
	case errors.As(err, &conn) && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)):
		problem = "it accepted the connection and closed it without an answer."
		advice = "If that is the port of a tunnel (ssh -L, socat, a container's port), nothing listens at its far end: no Swank there, or at another port. " +
			"Else what listens may be no Swank (an nREPL does this), or a Swank that refuses the secret in ~/.slime-secret. " + advice
	}
	return &Error{
		StartError: host.StartError{Problem: fmt.Sprintf("no Swank at %s: %s", t, problem), Advice: advice},
		Silent:     errors.As(err, &conn),
	}
}

// protocolOf names the protocol that is known to begin so.
func protocolOf(beginning string) string {
	for prefix, name := range map[string]string{
		"HTTP/": ", so it is a web server", "SSH-": ", so it is an SSH server", "220 ": ", so it is a mail or FTP server",
		"<!DOC": ", so it is a web server", "<html": ", so it is a web server",
	} {
		if strings.HasPrefix(beginning, prefix) {
			return name
		}
	}
	return ""
}

// invitation is what a person types to let us in: at the port of t, if it is
// free, else at another.
func (t Target) invitation(free bool) string {
	port := "4006"
	if _, p, err := net.SplitHostPort(t.Address); err == nil && t.Network == "tcp" && (free || p == port) {
		if port = p; !free {
			port = "4007"
		}
	}
	create := "(swank:create-server :port " + port + " :dont-close t)"
	how := "In the SLIME REPL of that Lisp, type: " + create +
		"\nFor every Lisp that Emacs starts, put into ~/.swank.lisp: (ignore-errors " + create + ")" +
		"\nor into Emacs' init file: (add-hook 'slime-connected-hook (lambda () (slime-eval-async '(cl:ignore-errors " + create + "))))"
	switch {
	case t.Command != "":
		how += "\nThat gives a port, which the command has to connect to: --attach-command 'ssh HOST -W 127.0.0.1:" + port + "', for one."
	case t.Network == "unix" || !free:
		how += "\nThat gives a port: attach with --attach 127.0.0.1:" + port + "."
	}
	return how + "\nThen send the call again; nothing needs to be restarted here."
}
