package checkpoints

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

var (
	checkpointSteps = flag.Int("checkpoint.steps", 30, "steps of TestCheckpointOracle")
	checkpointSeed  = flag.Uint64("checkpoint.seed", 1, "seed of TestCheckpointOracle and its like")
)

// oracle is a session whose objects testdata/oracle.lisp makes, and what is to be
// known of it: its digest after each step.
type oracle struct {
	*harness.Server
	t      *testing.T
	random *rand.Rand
	dir    string

	line  []string // the digest after each step; a step is a call of evaluate-lisp
	at    int      // the step after which the image is now
	named []*namedState
	gone  int // of undone steps, how many were more than asked for

	log                                          []string
	undone, redone, tried, jumped, killed, later int
}

// namedState is what is known of a named checkpoint.
type namedState struct {
	name, digest string
	at           int  // the step
	aside        bool // what came after that step is another story now
}

// TestCheckpointOracle changes objects of every kind at random, goes back and forward,
// tries, and kills the image. After each step the digest of all the objects is that which
// was noted when the image was there before.
func TestCheckpointOracle(t *testing.T) {
	tier.More(t)
	t.Parallel()
	o := newOracle(t)
	for range *checkpointSteps {
		o.step()
		if t.Failed() {
			t.Fatalf("-checkpoint.seed=%d -checkpoint.steps=%d: the steps were\n%s", *checkpointSeed, *checkpointSteps, strings.Join(o.log, "\n"))
		}
	}
	t.Logf("%d steps with %d evaluations; undone %d (%d calls more than asked for), redone %d, tried %d, gone to a name %d, killed %d; the checkpoint was late %d times",
		*checkpointSteps, o.at, o.undone, o.gone, o.redone, o.tried, o.jumped, o.killed, o.later)
}

func newOracle(t *testing.T) *oracle {
	t.Helper()
	o := &oracle{Server: harness.Start(t), t: t, random: rand.New(rand.NewPCG(*checkpointSeed, 1)), dir: t.TempDir()}
	harness.Check(t, os.WriteFile(filepath.Join(o.dir, "in"), []byte(strings.Repeat("some text to read\n", 5000)), 0o600))
	code, err := os.ReadFile(harness.Testdata("oracle.lisp"))
	harness.Check(t, err)
	o.line = []string{""}
	o.evaluate(string(code))
	return o
}

// step takes a random step.
func (o *oracle) step() {
	switch op := o.random.IntN(20); {
	case op < 11:
		o.evaluate(o.change())
		if o.random.IntN(2) == 0 {
			o.rest()
		}
	case op == 11:
		o.tried++
		o.log = append(o.log, "trial")
		o.evaluateTrial(fmt.Sprintf("(progn %s (digest))", o.change()))
		o.look()
	case op < 14:
		o.undo(1 + o.random.IntN(3))
		o.lookBy(o.random.IntN(3) == 0)
	case op < 16:
		o.redo(1 + o.random.IntN(2))
		o.look()
	case op == 16:
		n := &namedState{name: fmt.Sprintf("n%d", len(o.log)), digest: o.line[o.at], at: o.at}
		o.log = append(o.log, "checkpoint "+n.name)
		harness.Good(o.t, o.Server, "checkpoint", harness.Object{"name": n.name})
		o.named = append(o.named, n)
		if len(o.named) > 4 {
			harness.Good(o.t, o.Server, "checkpoint", harness.Object{"drop": o.named[0].name})
			o.named = o.named[1:]
		}
	case op == 17 && len(o.named) > 0:
		o.goTo(o.named[o.random.IntN(len(o.named))])
		o.look()
	case op >= 18:
		o.kill()
		o.look()
	}
}

// change is code that changes something.
func (o *oracle) change() string {
	r := o.random
	n := r.IntN(1000)
	return []string{
		fmt.Sprintf("(push %d *value*)", n),
		fmt.Sprintf("(setf *value* (list %d \"text\" 'symbol #\\x %d.5d0))", n, n),
		fmt.Sprintf("(push (make-counter %d) *counters*)", n),
		"(dolist (c *counters*) (funcall c :count))",
		fmt.Sprintf("(defclass node () ((number :initarg :number :accessor number-of) (s%d :initform %d)))", n%5, n),
		fmt.Sprintf("(add-node %d)", n),
		fmt.Sprintf("(dolist (node *nodes*) (incf (number-of node) %d))", n),
		fmt.Sprintf("(fill-table %d)", n),
		fmt.Sprintf("(setf (gethash %d *table*) %d)", n, r.IntN(1000)),
		fmt.Sprintf("(make-words 50 %d)", n),
		fmt.Sprintf("(loop for i from %d below (length *array*) by 1000 do (incf (aref *array* i) i))", n),
		fmt.Sprintf("(add-package \"P%d\")", len(o.log)),
		"(drop-package)",
		fmt.Sprintf("(set-macro-character #\\! (lambda (s c) (declare (ignore s c)) %d) nil *readtable-of-ours*)", n),
		"(setf (readtable-case *readtable-of-ours*) (if (eq :upcase (readtable-case *readtable-of-ours*)) :downcase :upcase))",
		"(random 1000 *random*)",
		"(next-name)",
		fmt.Sprintf("(add-weak (list %d))", n),
		"(drop-held)",
		"(add-mortal)",
		"(drop-mortal)",
		fmt.Sprintf("(setf (sb-alien:deref *foreign* %d) %d)", n%8, n),
		fmt.Sprintf("(open-to-read %q)", filepath.Join(o.dir, "in")),
		fmt.Sprintf("(open-to-write %q)", filepath.Join(o.dir, fmt.Sprint("out", len(o.log)))),
		fmt.Sprintf("(dolist (f *files*) (use-file f %d))", n),
		"(when (> (length *files*) 20) (close (pop *files*)))",
		fmt.Sprintf("(defun later () %d) (push (later) *value*)", n),
	}[r.IntN(27)]
}

var digestValue = regexp.MustCompile(`^=> (\d+)(?:\n|$)`)

// evaluate evaluates code, which is a step, and notes the digest afterwards.
func (o *oracle) evaluate(code string) {
	o.t.Helper()
	if o.at > 0 {
		o.log = append(o.log, fmt.Sprintf("%d: %s", o.at+1, code))
	}
	o.stepped(o.digest(code + "\n(digest)"))
}

// digest evaluates code, again if the image died before, and returns the number that is
// its value.
func (o *oracle) digest(code string) string {
	o.t.Helper()
	args := harness.Object{"code": code}
	for range 5 {
		r := harness.Call(o.t, o.Server, "evaluate-lisp", args)
		if strings.HasPrefix(r.Text(), "[ERROR] IMAGE-DIED") { // when it was sent
			o.stepped("died")
			continue
		}
		m := digestValue.FindStringSubmatch(r.Text())
		if r.IsError || m == nil {
			o.t.Fatalf("%s\n%s\nthe steps were\n%s", harness.Clip(code), harness.Clip(r.Text()), strings.Join(o.log, "\n"))
		}
		return m[1]
	}
	o.t.Fatal("the image dies again and again")
	return ""
}

// stepped notes that a step was made, after which the digest is so.
func (o *oracle) stepped(digest string) {
	for _, n := range o.named {
		n.aside = n.aside || n.at > o.at
	}
	o.at++
	o.line = append(o.line[:o.at], digest)
}

// evaluateTrial evaluates code in a copy.
func (o *oracle) evaluateTrial(code string) string {
	o.t.Helper()
	text := harness.Good(o.t, o.Server, "evaluate-lisp", harness.Object{"code": code, "trial": true})
	m := digestValue.FindStringSubmatch(text)
	if m == nil {
		o.t.Fatalf("%s\n%s\nthe steps were\n%s", code, text, strings.Join(o.log, "\n"))
	}
	return m[1]
}

// look compares the digest, in a trial or by a step of its own.
func (o *oracle) look() {
	o.t.Helper()
	o.lookBy(o.random.IntN(2) == 0)
}

func (o *oracle) lookBy(step bool) {
	o.t.Helper()
	want, got := o.line[o.at], ""
	if !step {
		got = o.evaluateTrial("(digest)")
	} else {
		got = o.digest("(digest)")
		o.stepped(want)
	}
	if got != want {
		o.t.Errorf("the digest is %s, want %s; the image has\n%s", got, want,
			harness.Good(o.t, o.Server, "evaluate-lisp", harness.Object{"code": "(parts)"}))
	}
}

var (
	moreThanAsked = regexp.MustCompile(`That is (\d+) more than asked for`)
	aside         = regexp.MustCompile(`; (undone|\d+ calls? since)$`)
)

// more is how many steps further than asked for an undo has gone.
func more(text string) int {
	if m := moreThanAsked.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 0
}

func (o *oracle) undo(steps int) {
	o.t.Helper()
	o.log = append(o.log, fmt.Sprintf("undo %d", steps))
	r := harness.Call(o.t, o.Server, "undo", harness.Object{"steps": steps})
	if r.IsError {
		if !strings.HasPrefix(r.Text(), "[ERROR] NO-CHECKPOINT") {
			o.t.Fatalf("undo: %s", r.Text())
		}
		return
	}
	o.undone++
	extra := more(r.Text())
	o.gone += extra
	if o.at -= steps + extra; o.at < 1 {
		o.t.Fatalf("undo has gone back to %d: %s\n%s", o.at, r.Text(), strings.Join(o.log, "\n"))
	}
}

func (o *oracle) redo(steps int) {
	o.t.Helper()
	o.log = append(o.log, fmt.Sprintf("redo %d", steps))
	r := harness.Call(o.t, o.Server, "undo", harness.Object{"steps": -steps})
	if r.IsError {
		if !strings.HasPrefix(r.Text(), "[ERROR] NO-CHECKPOINT") {
			o.t.Fatalf("redo: %s", r.Text())
		}
		return
	}
	o.redone++
	if o.at += steps + more(r.Text()); o.at >= len(o.line) {
		o.t.Fatalf("redo has gone on to %d of %d: %s\n%s", o.at, len(o.line)-1, r.Text(), strings.Join(o.log, "\n"))
	}
}

// goTo goes to a named checkpoint. One of another story becomes a step of this one.
func (o *oracle) goTo(n *namedState) {
	o.t.Helper()
	o.log = append(o.log, "undo to "+n.name)
	harness.Good(o.t, o.Server, "undo", harness.Object{"to": n.name})
	o.jumped++
	if n.aside {
		o.stepped(n.digest)
		n.at, n.aside = o.at, false
	}
	o.at = n.at
}

// rest waits as long as it may take until a checkpoint is there.
func (o *oracle) rest() {
	o.t.Helper()
	time.Sleep(300*time.Millisecond + time.Duration(o.random.IntN(200))*time.Millisecond)
	for waited := false; ; waited = true {
		for line := range strings.Lines(harness.Good(o.t, o.Server, "checkpoint", harness.Object{})) {
			if line = strings.TrimSpace(line); !aside.MatchString(line) && !strings.HasPrefix(line, "No checkpoint") {
				return
			}
		}
		if !waited {
			o.later++
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (o *oracle) kill() {
	o.t.Helper()
	o.rest()
	if !harness.PidPattern.MatchString(harness.Status(o.t, o.Server)) {
		o.lookBy(true) // an image that is killed before it is used is not replaced by itself
	}
	o.killed++
	o.log = append(o.log, "kill")
	harness.Check(o.t, syscall.Kill(harness.ImagePID(o.t, o.Server), syscall.SIGKILL))
}
