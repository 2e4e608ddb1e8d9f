package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// raw is the least Swank client that can be: it writes the frames of one
// evaluation call and looks for the reply's id. It is the floor under the
// bridge, so it shares no code with it.
type raw struct {
	conn   net.Conn
	in     *bufio.Reader
	thread string // id of the persistent thread that evaluates
	id     int
}

// dialRaw connects to the address that session-status shows, unix:PATH or
// HOST:PORT, and starts a persistent thread for evaluations.
func dialRaw(addr string) (*raw, error) {
	network := "tcp"
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		network, addr = "unix", path
	}
	conn, err := net.DialTimeout(network, addr, 5*time.Second)
	if err != nil {
		return nil, err
	}
	r := &raw{conn: conn, in: bufio.NewReaderSize(conn, 1<<16)}
	// with *sldb-quit-restart* nil, handle-requests makes its own toplevel
	// restart and starts again after an abort
	reply, err := r.call(`(cl:let ((c swank::*emacs-connection*))
 (swank/backend:thread-id (swank/backend:spawn
  (cl:lambda () (cl:let ((swank::*sldb-quit-restart* nil)) (swank::handle-requests c))) :name "bench")))`, "t")
	if err != nil {
		conn.Close()
		return nil, err
	}
	r.thread = strings.TrimSuffix(strings.TrimPrefix(reply, "(:ok "), ")")
	if _, err := strconv.Atoi(r.thread); err != nil {
		conn.Close()
		return nil, fmt.Errorf("starting a thread answered %.200q", reply)
	}
	return r, nil
}

func (r *raw) send(message string) error {
	_, err := fmt.Fprintf(r.conn, "%06x%s", len(message), message)
	return err
}

// rex sends one call and returns its id.
func (r *raw) rex(form, thread string) (int, error) {
	r.id++
	return r.id, r.send(fmt.Sprintf(`(:emacs-rex %s "COMMON-LISP-USER" %s %d)`, form, thread, r.id))
}

// frame reads one message.
func (r *raw) frame() ([]byte, error) {
	r.conn.SetReadDeadline(time.Now().Add(60 * time.Second))
	var header [6]byte
	if _, err := io.ReadFull(r.in, header[:]); err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(string(header[:]), 16, 32)
	if err != nil {
		return nil, err
	}
	body := make([]byte, n)
	_, err = io.ReadFull(r.in, body)
	return body, err
}

// next reads until the next reply and returns its id and (:ok …) or (:abort …).
// An entered debugger is left at once, as a client that reports errors does.
func (r *raw) next() (int, string, error) {
	for {
		body, err := r.frame()
		if err != nil {
			return 0, "", err
		}
		switch {
		case bytes.HasPrefix(body, []byte("(:return ")):
			end := bytes.LastIndexByte(body, ' ')
			id, err := strconv.Atoi(string(body[end+1 : len(body)-1]))
			return id, string(body[len("(:return "):end]), err
		case bytes.HasPrefix(body, []byte("(:ping ")):
			err = r.send("(:emacs-pong " + string(body[len("(:ping "):]))
		case bytes.HasPrefix(body, []byte("(:debug ")):
			thread, _, _ := strings.Cut(string(body[len("(:debug "):]), " ")
			_, err = r.rex("(swank:throw-to-toplevel)", thread)
		}
		if err != nil {
			return 0, "", err
		}
	}
}

// call sends one call and waits for its reply.
func (r *raw) call(form, thread string) (string, error) {
	want, err := r.rex(form, thread)
	if err != nil {
		return "", err
	}
	for {
		id, reply, err := r.next()
		if err != nil || id == want {
			return reply, err
		}
	}
}

// eval evaluates code, which must contain neither quote nor backslash.
func (r *raw) eval(code string) (string, error) {
	return r.call(`(swank:eval-and-grab-output "`+code+`")`, r.thread)
}

// flight evaluates code n times with depth calls in flight and returns the
// time of all.
func (r *raw) flight(code string, n, depth int) (time.Duration, error) {
	began := time.Now()
	sent := 0
	for done := 0; done < n; {
		for ; sent < n && sent-done < depth; sent++ {
			if _, err := r.rex(`(swank:eval-and-grab-output "`+code+`")`, r.thread); err != nil {
				return 0, err
			}
		}
		if _, _, err := r.next(); err != nil {
			return 0, err
		}
		done++
	}
	return time.Since(began), nil
}

func (r *raw) close() {
	if r != nil {
		r.conn.Close()
	}
}
