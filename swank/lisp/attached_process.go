package lisp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// guestOf is what a bridge remembers of an image that it was attached to.
type guestOf struct {
	pid     int
	program string // the file of the Lisp
}

// A processCondition is what is seen of a process from outside.
type processCondition int

const (
	processUnknown processCondition = iota // on another machine, for one
	processGone
	processStopped
	processIdle
	processBusy
)

// condition says in what state the process of an attached image is.
func (g guestOf) condition() processCondition {
	if g.pid == 0 || g.program == "" {
		return processUnknown
	}
	dir := fmt.Sprintf("/proc/%d", g.pid)
	exe, err := os.Readlink(filepath.Join(dir, "exe"))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return processGone
	case err != nil:
		return processUnknown
	case strings.TrimSuffix(exe, " (deleted)") != g.program:
		return processGone
	}
	state, before := processState(dir)
	time.Sleep(200 * time.Millisecond)
	_, after := processState(dir)
	switch {
	case state == "Z" || state == "X" || state == "":
		return processGone
	case state == "T" || state == "t":
		return processStopped
	case before == after:
		return processIdle
	}
	return processBusy
}

// inWords is c, of an image that does not answer, as part of a sentence; "" if
// nothing is known.
func (g guestOf) inWords(c processCondition) string {
	switch c {
	case processGone:
		return fmt.Sprintf("its process %d has ended", g.pid)
	case processStopped:
		return fmt.Sprintf("its process %d is stopped (fg in its terminal, or kill -CONT %d, lets it go on)", g.pid, g.pid)
	case processIdle:
		return fmt.Sprintf("its process %d is there and does nothing. After a fatal error, a full heap for one, SBCL waits so in its "+
			"low-level debugger, at the prompt ldb> of its terminal or of Emacs' buffer *inferior-lisp*", g.pid)
	case processBusy:
		return fmt.Sprintf("its process %d is at work and does not answer", g.pid)
	}
	return ""
}

// processState reads the state letter of a process, and what it has had of processors.
func processState(dir string) (state string, ticks int64) {
	b, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return "", 0
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 13 {
		return "", 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return fields[0], user + system
}

// known is what can be told of the process of a, if that is on this machine.
func (a *attachment) known() guestOf {
	if a.target.Command != "" { // whose other end may be anywhere
		return guestOf{}
	}
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", a.info.PID))
	name := strings.ToLower(a.info.Implementation.Name)
	if err != nil || name == "" || !strings.Contains(strings.ToLower(filepath.Base(exe)), name) {
		return guestOf{} // in another container, perhaps
	}
	return guestOf{pid: a.info.PID, program: exe}
}

// told puts into err, the error of an attempt to connect again, what has become of
// the image that was there.
func (g guestOf) told(t Target, err error) error {
	var start *StartError
	if !errors.As(err, &start) || !start.away && !start.silent {
		return err
	}
	c := g.condition()
	told := *start
	switch c {
	case processUnknown:
		return err
	case processGone:
		told.Problem = "the Lisp that was attached to is gone, " + g.inWords(c) + "; " + start.Problem
	default:
		if !start.silent {
			return err
		}
		told.Problem = "the Lisp that was attached to does not answer: " + g.inWords(c) + "."
		told.Advice = "Its owner has to look at it. Send the call again when it goes on. If it has to be restarted: " + t.invitation(true)
	}
	return &told
}

// asleep reports whether it is known that nothing will come of waiting for an answer.
func (g guestOf) asleep() bool {
	switch g.condition() {
	case processGone, processStopped, processIdle:
		return true
	}
	return false
}
