//go:build unix

package model

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"swank-mcp/e2e/harness"
)

// history is the digest of all objects of oracle.lisp after each call of evaluate-lisp.
type history struct {
	line  []string
	at    int // the call after which the image is now
	named []*namedState
	look  string // how the digest is compared where the image has gone elsewhere
}

// namedState describes a named checkpoint.
type namedState struct {
	name, digest string
	at           int
	aside        bool // what came after that call is another story now
}

// Remembers begins a session whose objects oracle.lisp makes.
func (r *Run) Remembers() {
	r.World = NewWorldOf(r.T, "", map[string]string{"in": strings.Repeat("some text to read\n", 5000)})
	code, err := os.ReadFile(harness.Testdata("oracle.lisp"))
	harness.Check(r.T, err)
	r.line = []string{""}
	r.evaluate(string(code))
}

// changes is code that changes something. In it $n and $m are some numbers, $k is a small one,
// and $s is one that no other code has.
var changes = []string{
	"(push $n *value*)",
	"(setf *value* (list $n \"text\" 'symbol #\\x $n.5d0))",
	"(push (make-counter $n) *counters*)",
	"(dolist (c *counters*) (funcall c :count))",
	"(defclass node () ((number :initarg :number :accessor number-of) (s$k :initform $n)))",
	"(add-node $n)",
	"(dolist (node *nodes*) (incf (number-of node) $n))",
	"(fill-table $n)",
	"(setf (gethash $n *table*) $m)",
	"(make-words 50 $n)",
	"(loop for i from $n below (length *array*) by 1000 do (incf (aref *array* i) i))",
	"(add-package \"P$s\")",
	"(drop-package)",
	"(set-macro-character #\\! (lambda (s c) (declare (ignore s c)) $n) nil *readtable-of-ours*)",
	"(setf (readtable-case *readtable-of-ours*) (if (eq :upcase (readtable-case *readtable-of-ours*)) :downcase :upcase))",
	"(random 1000 *random*)",
	"(next-name)",
	"(add-weak (list $n))",
	"(drop-held)",
	"(add-mortal)",
	"(drop-mortal)",
	"(setf (sb-alien:deref *foreign* $k) $n)",
	"(open-to-read \"in\")",
	"(open-to-write \"out$s\")",
	"(dolist (f *files*) (use-file f $n))",
	"(when (> (length *files*) 20) (close (pop *files*)))",
	"(defun later () $n) (push (later) *value*)",
}

func changeOf(s Step) string {
	return strings.NewReplacer("$n", fmt.Sprint(s.IntN(1000)), "$m", fmt.Sprint(s.IntN(1000)), "$k", fmt.Sprint(s.IntN(8)), "$s", fmt.Sprint(s.N)).
		Replace(one(s, changes...))
}

func init() {
	maps.Copy(steps, map[string]step{
		"change": func(r *Run, s Step) bool {
			r.evaluate(changeOf(s))
			if s.IntN(2) == 0 {
				r.rest(s)
			}
			return true
		},
		"try": func(r *Run, s Step) bool {
			r.trial("(progn " + changeOf(s) + " (digest))")
			return r.looks(s)
		},
		"go back":    func(r *Run, s Step) bool { return r.move(1+s.IntN(3)) && r.looks(s) },
		"go forward": func(r *Run, s Step) bool { return r.move(-1-s.IntN(2)) && r.looks(s) },
		"checkpoint": func(r *Run, s Step) bool {
			n := &namedState{name: fmt.Sprint("n", s.N), digest: r.line[r.at], at: r.at}
			r.good(Tool("checkpoint", harness.Object{"name": n.name}))
			if r.named = append(r.named, n); len(r.named) > 4 {
				r.good(Tool("checkpoint", harness.Object{"drop": r.named[0].name}))
				r.named = r.named[1:]
			}
			return true
		},
		"go to": func(r *Run, s Step) bool {
			if len(r.named) == 0 {
				return false
			}
			n := one(s, r.named...)
			r.good(Tool("undo", harness.Object{"to": n.name}))
			if n.aside { // it becomes a call of this story
				r.stepped(n.digest)
				n.at, n.aside = r.at, false
			}
			r.at = n.at
			return r.looks(s)
		},
	})
}

// looks has the digest compared.
func (r *Run) looks(s Step) bool {
	r.look = one(s, "call", "trial", "trial")
	return true
}

var digestValue = regexp.MustCompile(`^=> (\d+)(?:\n|$)`)

// evaluate evaluates code and notes the digest afterwards.
func (r *Run) evaluate(code string) { r.stepped(r.digest(code + "\n(digest)")) }

// digest evaluates code, again if the image died before, and returns the number that is
// its value.
func (r *Run) digest(code string) string {
	for range 5 {
		reply := r.do(Eval(code))
		if m := digestValue.FindStringSubmatch(reply); m != nil {
			return m[1]
		}
		if !strings.HasPrefix(reply, "[ERROR] IMAGE-DIED") { // when it was sent
			r.fails("there is no digest")
			return ""
		}
		r.stepped("died")
	}
	r.fails("the image dies again and again")
	return ""
}

// stepped notes that a call was made, after which the digest is so.
func (r *Run) stepped(digest string) {
	for _, n := range r.named {
		n.aside = n.aside || n.at > r.at
	}
	r.at++
	r.line = append(r.line[:r.at], digest)
}

// trial evaluates code in a copy and returns the digest there.
func (r *Run) trial(code string) string {
	c := Tool("evaluate-lisp", harness.Object{"code": code, "trial": true})
	c.want = digestValue.String()
	m := digestValue.FindStringSubmatch(r.do(c))
	return strings.Join(m[min(1, len(m)):], "")
}

// Digest checks, where the image has gone elsewhere, that the digest is that which was noted
// when it was there before.
func (r *Run) Digest() {
	how := r.look
	if r.look = ""; how == "" {
		return
	}
	want, got := r.line[r.at], ""
	if how == "trial" {
		got = r.trial("(digest)")
	} else {
		got = r.digest("(digest)")
		r.stepped(want)
	}
	if got != want {
		r.fails("the digest is %s, want %s; the image has\n%s", got, want, r.World.Do(r.T, Eval("(parts)")))
	}
}

// moreThanAsked tells how many calls further than asked for an undo has gone.
var moreThanAsked = regexp.MustCompile(`That is (\d+) more than asked for`)

// move goes back, or forward by less than nothing; it reports whether there was a checkpoint.
func (r *Run) move(steps int) bool {
	reply := r.do(Tool("undo", harness.Object{"steps": steps}))
	if harness.Failure(reply) {
		if !strings.HasPrefix(reply, "[ERROR] NO-CHECKPOINT") {
			r.fails("undo %d fails", steps)
		}
		return false
	}
	more := 0
	if m := moreThanAsked.FindStringSubmatch(reply); m != nil {
		more, _ = strconv.Atoi(m[1])
	}
	if steps < 0 {
		more = -more
	}
	if r.at -= steps + more; r.at < 1 || r.at >= len(r.line) {
		r.fails("undo %d has gone to %d of %d", steps, r.at, len(r.line)-1)
		r.at = 1
	}
	return true
}

var aside = regexp.MustCompile(`; (undone|\d+ calls? since)$`)

// rest waits as long as it may take until a checkpoint is there.
func (r *Run) rest(s Step) {
	r.do(Call{Wait: 300*time.Millisecond + time.Duration(s.IntN(200))*time.Millisecond})
	for r.failure == "" {
		reply := r.World.Do(r.T, Tool("checkpoint", harness.Object{}))
		if harness.Failure(reply) {
			r.fails("checkpoint: %s", reply)
		}
		for line := range strings.Lines(reply) {
			if line = strings.TrimSpace(line); !aside.MatchString(line) && !strings.HasPrefix(line, "No checkpoint") {
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// kill kills the image when there is a checkpoint of it, and does not wait for its end.
func (r *Run) kill(s Step) bool {
	r.rest(s)
	if !harness.PidPattern.MatchString(harness.Status(r.T, r.Server)) {
		r.look = "call"
		r.Digest() // an image that is killed before it is used is not replaced by itself
	}
	harness.Check(r.T, syscall.Kill(harness.ImagePID(r.T, r.Server), syscall.SIGKILL))
	r.script.add(Call{}, "")
	return r.looks(s)
}
