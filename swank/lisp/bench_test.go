package lisp

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/launch"
)

// BenchmarkEvaluate measures (+ 1 2) in a real image, from a bare call of Swank
// to the whole of Session.Evaluate.
func BenchmarkEvaluate(b *testing.B) {
	im := New(Config{Launch: launched(b)})
	defer im.Close(context.Background())
	request := Request{Code: "(+ 1 2)", Timeout: 20 * time.Second, Debug: 1}
	if _, err := im.Session("default").Evaluate(b.Context(), request); err != nil {
		b.Fatal(err)
	}
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	thread, err := inst.sessionThread(b.Context(), "default")
	if err != nil {
		b.Fatal(err)
	}
	grab := func(b *testing.B, source string) {
		for b.Loop() {
			r := swank.Request{Form: swank.EvalAndGrabOutput(source), Package: "COMMON-LISP-USER", Thread: thread.id}
			if err := inst.conn.Call(b.Context(), r, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("swank", func(b *testing.B) { grab(b, "(+ 1 2)") })
	b.Run("helper", func(b *testing.B) {
		grab(b, helper.NewCall("EVALUATE").Str("(+ 1 2)").Key("SESSION").Str("bench").String())
	})
	b.Run("image", func(b *testing.B) {
		for b.Loop() {
			if _, err := im.Session("default").Evaluate(b.Context(), request); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ping", func(b *testing.B) {
		for b.Loop() {
			if err := inst.conn.Ping(b.Context(), thread.id); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkSessions measures (+ 1 2) in one session and in four at once: the time is that
// of one evaluation, whoever's it is.
func BenchmarkSessions(b *testing.B) {
	im := New(Config{Launch: launch.Config{NoUserInit: true}})
	defer im.Close(context.Background())
	request := Request{Code: "(+ 1 2)", Timeout: 20 * time.Second, Debug: 1}
	for _, sessions := range []int{1, 4} {
		b.Run(fmt.Sprint(sessions), func(b *testing.B) {
			var left atomic.Int64
			left.Store(int64(b.N))
			var all sync.WaitGroup
			for i := range sessions {
				s := im.Session(fmt.Sprint("s", i))
				if _, err := s.Evaluate(b.Context(), request); err != nil { // its thread is there
					b.Fatal(err)
				}
				all.Go(func() {
					for left.Add(-1) >= 0 {
						if _, err := s.Evaluate(b.Context(), request); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
		})
	}
}
