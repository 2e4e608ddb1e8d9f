package rawio

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSocket(t *testing.T) {
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		io.Copy(c, c) // echo
	}()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	rw := New(c.(*net.UnixConn))
	// Larger than any socket buffer, so that both directions must wait.
	text := bytes.Repeat([]byte("0123456789abcdef"), 1<<17)
	wrote := make(chan error, 1)
	go func() {
		_, err := rw.Write(text)
		wrote <- err
	}()
	got := make([]byte, len(text))
	if _, err := io.ReadFull(rw, got); err != nil {
		t.Fatal(err)
	}
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, text) {
		t.Error("the echo differs")
	}
	if n, err := rw.Read(nil); n != 0 || err != nil {
		t.Errorf("Read(nil) = %d, %v", n, err)
	}
}

func TestEndOfInput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	rw := New(r)
	w.WriteString("last")
	w.Close()
	b, err := io.ReadAll(rw)
	if err != nil || string(b) != "last" {
		t.Errorf("ReadAll = %q, %v", b, err)
	}
	rw.Close()
}

func TestWriteToNobody(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	rw := New(w)
	defer rw.Close()
	r.Close()
	if _, err := rw.Write([]byte("x")); err == nil {
		t.Error("writing to a pipe without reader succeeded")
	}
}

func TestCloseWakes(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	rw := New(r)
	read := make(chan error, 1)
	go func() {
		_, err := rw.Read(make([]byte, 1))
		read <- err
	}()
	time.Sleep(20 * time.Millisecond)
	rw.Close()
	select {
	case err := <-read:
		if err == nil {
			t.Error("Read of a closed file succeeded")
		}
	case <-time.After(5 * time.Second):
		t.Fatal("Close did not end the Read")
	}
}
