package attach

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/swank/lisp/host"
)

// What accepts a connection and has not answered when the caller's time is up is no Swank or
// a busy one: that is not known, and is not said.
func TestConnectUnanswered(t *testing.T) {
	for _, c := range []struct{ name, secret, command, want string }{
		{"silent", "", "", " has accepted the connection, and has not answered yet."},
		{"secret", "sesame", "", " has accepted the connection, and has not answered to the secret of ~/.slime-secret yet."},
		{"command", "", "echo is it there >&2; exec sleep 1000", "has not answered yet. The command says: is it there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("HOME", home)
			if c.secret != "" {
				if err := os.WriteFile(filepath.Join(home, ".slime-secret"), []byte(c.secret), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			target, accepted := Target{Command: c.command}, make(chan net.Conn, 1)
			if c.command == "" {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				go func() {
					conn, _ := l.Accept()
					accepted <- conn
				}()
				target = Target{Network: "tcp", Address: l.Addr().String()}
			}
			ctx := &byHand{Context: t.Context(), done: make(chan struct{})}
			progress, ended := new(Progress), make(chan error)
			go func() {
				_, err := Connect(ctx, Config{Target: target, Progress: progress})
				ended <- err
			}()
			if c.command == "" {
				defer (<-accepted).Close()
			}
			for progress.stage.Load() != stageAccepted || c.command != "" && progress.pipe.Load().complaint() == "" {
				if t.Context().Err() != nil {
					t.Fatal("it was not accepted")
				}
			}
			close(ctx.done)
			err := <-ended
			var start *host.StartError
			var failed *Error
			if !errors.As(err, &start) || !errors.As(err, &failed) || !failed.Silent || failed.Away ||
				!strings.Contains(start.Problem, c.want) || strings.Contains(start.Problem, "no Swank") || !strings.Contains(start.Advice, "create-server") {
				t.Errorf("got %+v", err)
			}
		})
	}
}

// byHand is a context whose time is up when done is closed.
type byHand struct {
	context.Context
	done chan struct{}
}

func (c *byHand) Done() <-chan struct{} { return c.done }

func (c *byHand) Err() error {
	select {
	case <-c.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
