package swank

import (
	"errors"
	"fmt"
	"testing"

	"swank-mcp/internal/await"
)

func debugMessage(thread, level int, conts string) string {
	return fmt.Sprintf(`(:debug %d %d ("m%d" "   [Condition of type E]" nil) (("ABORT" "x")) ((0 "(F)")) %s)`, thread, level, level, conts)
}

// sync makes sure that the connection has handled what the peer sent.
func (s debugScript) sync() {
	s.peer.Send("(:ping 9 9)")
	s.peer.Expect("(:emacs-pong 9 9)")
}

// level asserts which debugger the call is in: 0 for none.
func (s debugScript) level(k *Call, want int) {
	s.t.Helper()
	s.sync()
	got := 0
	if d := k.Debug(); d != nil {
		got = d.Level
	}
	if got != want {
		s.t.Errorf("call %d in debugger level %d, want %d", k.id, got, want)
	}
}

type debugScript struct {
	t    *testing.T
	peer interface {
		Send(...string)
		Expect(...string)
	}
}

// The life of one error as Swank 2.27 sends it, with an evaluation in the
// debugger that errs in turn, the duplicate :debug of the level below, and an
// abort of everything.
func TestDebugTiedToCalls(t *testing.T) {
	rec := newRecorder()
	peer, c := connect(t, &Options{Handler: rec.handle})
	s := debugScript{t, peer}
	k1, k2, k3 := mustGo(t, c), mustGo(t, c), mustGo(t, c)
	peer.Expect(request(1), request(2), request(3))

	peer.Send(debugMessage(4, 1, "(1)"), "(:debug-activate 4 1 nil)")
	d := rec.await(t, 1)
	if d.Thread != 4 || len(d.Calls) != 1 || d.Calls[0] != k1 || d.Condition.Type != "E" {
		t.Errorf("%+v", d)
	}
	s.level(k1, 1)
	s.level(k2, 0)
	peer.Send(debugMessage(4, 2, "(2 1)"))
	s.level(k1, 2)
	s.level(k2, 2)
	s.level(k3, 0)
	peer.Send(debugMessage(5, 1, "nil"), debugMessage(6, 1, "(77 3)"))
	s.level(k3, 1)
	if ds := c.Debugs(); len(ds) != 3 || ds[0].Thread != 4 || ds[0].Level != 2 || ds[1].Thread != 5 || ds[2].Thread != 6 {
		t.Errorf("open debuggers: %+v", ds)
	}
	peer.Send(`(:return (:abort "NIL") 2)`, "(:debug-return 4 2 nil)")
	s.level(k2, 0)
	s.level(k1, 1)
	peer.Send(debugMessage(4, 1, "(1)"), debugMessage(4, 1, "(1)"))
	s.level(k1, 1)
	peer.Send("(:debug-return 4 1 nil)")
	s.level(k1, 0)
	peer.Send(`(:return (:abort "#<E>") 1)`, "(:debug-return 5 1 nil)", `(:return (:ok nil) 3)`)
	s.level(k3, 0)
	if ds := c.Debugs(); len(ds) != 1 || ds[0].Thread != 6 {
		t.Errorf("open debuggers: %+v", ds)
	}
	peer.Send(debugMessage(6, 1, "nil"), "(:debug-return 6 1 nil)", "(:debug-return 6 1 nil)")
	s.sync()
	if ds := c.Debugs(); len(ds) != 0 {
		t.Errorf("open debuggers: %+v", ds)
	}
	var abort *AbortError
	if err := k1.Wait(await.Context(t), nil); !errors.As(err, &abort) || abort.Reason != "#<E>" {
		t.Errorf("k1: %v", err)
	}
	if err := k3.Wait(await.Context(t), nil); err != nil {
		t.Errorf("k3: %v", err)
	}
}

func TestDebugEndsWithConnection(t *testing.T) {
	peer, c := connect(t, nil)
	k := mustGo(t, c)
	peer.Expect(request(1))
	peer.Send(debugMessage(4, 1, "(1)"))
	debugScript{t, peer}.level(k, 1)
	peer.Close()
	c.Wait()
	if k.Debug() != nil || len(c.Debugs()) != 0 {
		t.Errorf("still in the debugger: %+v", k.Debug())
	}
}

func TestRPC(t *testing.T) {
	peer, c := connect(t, nil)
	script := func(steps ...string) {
		peer.Go(func() {
			for i := 0; i < len(steps); i += 2 {
				peer.Expect(steps[i])
				peer.Send(steps[i+1])
			}
		})
	}
	script(`(:emacs-rex (swank:throw-to-toplevel) "COMMON-LISP-USER" 3 1)`, `(:return (:abort "NIL") 1)`,
		`(:emacs-rex (swank:throw-to-toplevel) "COMMON-LISP-USER" 3 2)`, `(:invalid-rpc 2 "Thread not found")`,
		`(:emacs-rex (swank:ping 42) "COMMON-LISP-USER" 3 3)`, `(:return (:ok 43) 3)`,
		`(:emacs-rex (swank:ping 42) "COMMON-LISP-USER" 3 4)`, `(:return (:ok "x") 4)`,
	)
	ctx := await.Context(t)
	if err := c.ThrowToToplevel(ctx, 3); err != nil {
		t.Error(err)
	}
	if e := (*InvalidRPCError)(nil); !errors.As(c.ThrowToToplevel(ctx, 3), &e) {
		t.Error("no InvalidRPCError")
	}
	if err := c.Ping(ctx, 3); err == nil || err.Error() != "swank: ping of thread 3: got 43, want 42" {
		t.Error(err)
	}
	if e := (*MessageError)(nil); !errors.As(c.Ping(ctx, 3), &e) {
		t.Error("no MessageError")
	}
}
