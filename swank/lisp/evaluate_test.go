package lisp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
	"swank-mcp/swank/lisp/launch"
)

// fromCore makes the core that images of tests start from, if the cache has none: without one each
// takes a second of a processor.
var fromCore = sync.OnceValues(func() (launch.Config, error) {
	config := launch.Config{NoUserInit: true}
	p, err := launch.Start(context.Background(), config, launchCode())
	if err != nil {
		return config, err
	}
	defer p.Close(context.Background())
	if !p.WantsCore() {
		return config, nil
	}
	return config, p.BuildCore(context.Background())
})

// launched configures images that start from the core.
func launched(t testing.TB) launch.Config {
	t.Helper()
	config, err := fromCore()
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// testImage returns an image of its own for the test, closed at its end.
func testImage(t *testing.T) *Image {
	t.Helper()
	return imageOf(t, Config{Launch: launched(t)})
}

// imageOf returns the image of c, closed at the end of the test.
func imageOf(t *testing.T, c Config) *Image {
	t.Helper()
	im := New(c)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := im.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return im
}

// mustEval evaluates code and returns its values, one a line.
func mustEval(t *testing.T, im *Image, code string) string {
	t.Helper()
	res, err := im.Session("default").Evaluate(t.Context(), Request{Code: code, Timeout: callLimit, Debug: 1})
	if err != nil {
		t.Fatalf("Evaluate(%q): %v", code, err)
	}
	if res.Failure != nil {
		t.Fatalf("Evaluate(%q): %+v", code, res.Failure)
	}
	var values []string
	for _, v := range res.Values {
		values = append(values, v.Head)
	}
	return strings.Join(values, "\n")
}

// failing evaluates code that must fail and returns how.
func failing(t *testing.T, im *Image, code string, timeout time.Duration) *Failure {
	t.Helper()
	res, err := im.Session("default").Evaluate(t.Context(), Request{Code: code, Timeout: timeout, Debug: 1})
	if err != nil {
		t.Fatalf("Evaluate(%q): %v", code, err)
	}
	if res.Failure == nil {
		t.Fatalf("Evaluate(%q) = %+v, want a failure", code, res)
	}
	return res.Failure
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	if got := mustEval(t, im, "(defvar *kept* 41) (+ 1 2)"); got != "3" {
		t.Fatalf("(+ 1 2) = %s", got)
	}
	alive := func(t *testing.T) {
		t.Helper()
		if got := mustEval(t, im, "(1+ *kept*)"); got != "42" {
			t.Errorf("afterwards (1+ *kept*) = %s, want 42", got)
		}
	}
	t.Run("error", func(t *testing.T) {
		f := failing(t, im, "(/ 1 0)", time.Second)
		if f.Type != "DIVISION-BY-ZERO" || len(f.Frames) != 1 || f.Frames[0] != "(/ 1 0)" {
			t.Errorf("got %+v", f)
		}
		alive(t)
	})
	t.Run("timeout", func(t *testing.T) {
		mustEval(t, im, "(defun spin () (loop))") // compiling it is not in the time
		f := failing(t, im, "(spin)", time.Second)
		if f.Kind != KindTimeout || len(f.Frames) == 0 || f.Frames[0] != "(SPIN)" {
			t.Errorf("got %+v", f)
		}
		alive(t)
	})
	t.Run("too large", func(t *testing.T) {
		code := "(length '(" + strings.Repeat(`"" `, 2<<20) + "))" // a quote is four bytes on the way
		_, err := im.Session("default").Evaluate(t.Context(), Request{Code: code, Timeout: 20 * time.Second, Debug: 1})
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("Evaluate = %v", err)
		}
		alive(t)
	})
	t.Run("cleanup that hangs", func(t *testing.T) {
		f := failing(t, im, "(unwind-protect (loop) (loop))", 300*time.Millisecond)
		if f.Kind != KindTimeout || f.Type == "IMAGE-REPLACED" {
			t.Errorf("got %+v", f)
		}
		alive(t)
	})
	t.Run("cancel", func(t *testing.T) {
		why := errors.New("changed my mind")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(200*time.Millisecond, func() { cancel(why) })
		_, err := im.Session("default").Evaluate(ctx, Request{Code: "(sleep 100)", Timeout: time.Minute, Debug: 1})
		if err != why {
			t.Errorf("Evaluate = %v, want %v", err, why)
		}
		alive(t)
	})
	t.Run("thread ended", func(t *testing.T) {
		g, over := await.NewGate(t), await.NewGate(t)
		mustEval(t, im, fmt.Sprintf(`(let ((me sb-thread:*current-thread*))
		  (sb-thread:make-thread (lambda () %s (sb-thread:terminate-thread me) %s)) 1)`, g.Wait(), over.Sign()))
		g.Open()
		over.Reached()
		time.Sleep(300 * time.Millisecond) // for its end, where it comes by itself
		// SBCL 2.2.9 ends a thread that waits only when the next call wakes it; 2.5.2 at once.
		res, err := im.Session("default").Evaluate(t.Context(), Request{Code: "(+ 1 2)", Timeout: 5 * time.Second, Debug: 1})
		switch {
		case err != nil:
			t.Errorf("Evaluate: %v", err)
		case res.Failure != nil:
			if !strings.Contains(res.Failure.Message, "Send the code again") {
				t.Errorf("got %+v", res.Failure)
			}
		case len(res.Values) != 1 || res.Values[0].Head != "3" || !strings.Contains(strings.Join(res.Notes, "\n"), "in a new Lisp thread"):
			t.Errorf("got %+v", res)
		}
		alive(t)
	})
	t.Run("progress", func(t *testing.T) {
		// It prints more only when it was told what it has printed.
		one, two := await.NewGate(t), await.NewGate(t)
		var mu sync.Mutex
		var seen strings.Builder
		res, err := im.Session("default").Evaluate(t.Context(), Request{
			Code:    fmt.Sprintf(`(progn (princ "<0><1>") %s (princ "<2>") (sleep 0.1) (princ "<3>") %s (princ "<4>"))`, one.Wait(), two.Wait()),
			Timeout: time.Minute, Debug: 1,
			Progress: func(_ time.Duration, output string) {
				mu.Lock()
				defer mu.Unlock()
				seen.WriteString(output)
				if strings.Contains(seen.String(), "<1>") {
					one.Open()
				}
				if strings.Contains(seen.String(), "<3>") {
					two.Open()
				}
			},
		})
		if err != nil || res.Failure != nil || res.Stdout.Head != "<0><1><2><3><4>" {
			t.Fatalf("got %+v, %v; progress told %q", res, err, seen.String())
		}
		if !strings.HasPrefix(seen.String(), "<0><1><2><3>") {
			t.Errorf("progress told %q", seen.String())
		}
	})
	t.Run("background", func(t *testing.T) {
		res, err := im.Session("default").Evaluate(t.Context(), Request{
			Code: `(write-line "past the streams" sb-sys:*stdout*)`, Timeout: time.Minute, Debug: 1})
		if err != nil || res.Background.Head != "past the streams\n" {
			t.Errorf("got %+v, %v", res, err)
		}
	})
}

func TestImageThatCannotBeStoppedIsReplaced(t *testing.T) {
	tier.More(t)
	t.Parallel()
	im := testImage(t)
	mustEval(t, im, "1")
	f := failing(t, im, "(sb-sys:without-interrupts (loop))", 300*time.Millisecond)
	if f.Kind != KindTimeout || f.Type != "IMAGE-REPLACED" {
		t.Errorf("got %+v", f)
	}
	if got := mustEval(t, im, "(+ 1 2)"); got != "3" {
		t.Errorf("in the new image (+ 1 2) = %s", got)
	}
	st, err := im.Session("default").Status(t.Context())
	if err != nil || st.Restarts != 1 {
		t.Errorf("Status = %+v, %v, want one restart", st, err)
	}
}

func TestImageThatDies(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	mustEval(t, im, "1")
	f := failing(t, im, `(progn (format *error-output* "x") (sb-ext:exit :abort t :code 3))`, 5*time.Second)
	if f.Kind != KindImageDied || !strings.Contains(f.Message, "exit status 3") {
		t.Errorf("got %+v", f)
	}
	if got := mustEval(t, im, "(+ 1 2)"); got != "3" {
		t.Errorf("in the new image (+ 1 2) = %s", got)
	}
}

func TestMemory(t *testing.T) {
	tier.More(t)
	t.Parallel()
	config := launched(t)
	config.HeapMB = 512 // a larger one only takes longer to fill
	im := imageOf(t, Config{Launch: config})
	mustEval(t, im, "(defvar *kept* 41)")
	for _, code := range []string{
		"(make-array 8000000000)",
		"(let ((l nil)) (loop (push (list 1 2 3) l)))",
		"(let ((l nil)) (loop (push (make-array 1000) l)))",
		"(let ((l nil)) (loop (push (make-array 10000000) l)))",
		`(let ((s "a")) (loop (setf s (concatenate 'string s s))))`,
		"(let ((h (make-hash-table))) (loop for i from 0 do (setf (gethash i h) (list i))))",
		"(labels ((f (n) (1+ (f n)))) (f 0))",
	} {
		f := failing(t, im, code, time.Minute)
		if f.Type != "STORAGE-CONDITION" {
			t.Errorf("%s: %+v", code, f)
		}
		if got := mustEval(t, im, "(1+ *kept*)"); got != "42" {
			t.Fatalf("after %s: (1+ *kept*) = %s", code, got)
		}
	}
}

func TestFirstLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code, want string
		n          int
	}{
		{" (a\n  b)  c ", "(a b) c", 7},
		{"(a b) c", "(a b)…", 5},
		{"(a b) c", "(a b) …", 6},
		{"λλλ", "λλ…", 2},
		{"", "", 3},
	} {
		if got := firstLine(c.code, c.n); got != c.want {
			t.Errorf("firstLine(%q, %d) = %q, want %q", c.code, c.n, got, c.want)
		}
	}
}
