package attach

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Lisp is what can be seen from outside, and remembered, of a Lisp that we are or
// were attached to: its process and the way there. The zero value is one of which
// nothing is known.
type Lisp struct {
	pid     int    // 0: not known
	program string // the file of the Lisp
	way     way    // that leads there, if another process does
}

// A processCondition is what is seen of a process from outside.
type processCondition int

const (
	processUnknown   processCondition = iota // where the system does not tell of processes
	processElsewhere                         // it is none of those on this machine
	processWayStopped
	processWayGone
	processGone
	processStopped
	processIdle
	processBusy
)

// condition says in what state the process of an attached image, or the way there, is.
func (l Lisp) condition() processCondition {
	if l.way.pid != 0 {
		if c := l.way.condition(); c != processUnknown {
			return c
		}
	}
	if l.pid == 0 || l.program == "" {
		if _, err := os.Stat("/proc/self/stat"); err != nil {
			return processUnknown
		}
		return processElsewhere
	}
	dir := fmt.Sprintf("/proc/%d", l.pid)
	exe, err := os.Readlink(filepath.Join(dir, "exe"))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return processGone
	case err != nil:
		return processUnknown
	case strings.TrimSuffix(exe, " (deleted)") != l.program:
		return processGone
	}
	before, wants := processorTime(dir)
	if !wants {
		time.Sleep(200 * time.Millisecond)
	}
	after, wantsYet := processorTime(dir)
	switch state, _ := processState(dir); {
	case state == "Z" || state == "X" || state == "":
		return processGone
	case after-before >= atWork || wants || wantsYet:
		return processBusy
	case state == "T" || state == "t":
		return processStopped
	}
	return processIdle
}

// atWork is how long a process that works has a processor between two looks. The system also
// takes some microseconds for one that is stopped, or waits.
const atWork = int64(time.Millisecond)

// processorTime returns how long the threads of a process that live have had a processor, and
// whether one of them wants one, which it may not get on a busy machine, or waits for a disk.
func processorTime(dir string) (nanoseconds int64, wants bool) {
	threads, _ := filepath.Glob(filepath.Join(dir, "task", "[0-9]*"))
	for _, thread := range threads {
		if fields := statFields(thread); len(fields) > 0 && (fields[0] == "R" || fields[0] == "D") {
			wants = true
		}
		text, _ := os.ReadFile(filepath.Join(thread, "schedstat"))
		ran, _, _ := strings.Cut(string(text), " ")
		n, _ := strconv.ParseInt(ran, 10, 64)
		nanoseconds += n
	}
	if nanoseconds == 0 { // this kernel does not tell
		_, ticks := processState(dir)
		nanoseconds = ticks * int64(10*time.Millisecond)
	}
	return nanoseconds, wants
}

// State says how the process of a Lisp that does not answer is, or the way there, as
// part of a sentence; "" if nothing is known. It takes a fifth of a second.
func (l Lisp) State() string { return l.inWords(l.condition()) }

// Gone says that the process has ended, as State does; "" if that is not seen.
func (l Lisp) Gone() string {
	if l.condition() != processGone {
		return ""
	}
	return l.inWords(processGone)
}

// Stopped reports whether the process, or that of the way there, is seen to be stopped. It
// takes a fifth of a second.
func (l Lisp) Stopped() bool {
	c := l.condition()
	return c == processStopped || c == processWayStopped
}

// Silence says why the Lisp does not answer, as State does, and whether that is
// certain. A process that is at work says nothing.
func (l Lisp) Silence() (why string, certain bool) {
	switch c := l.condition(); c {
	case processGone, processStopped, processWayGone, processWayStopped:
		return l.inWords(c), true
	case processUnknown, processBusy:
		return "", false
	default:
		return l.inWords(c), false
	}
}

// inWords is c, of an image that does not answer, as part of a sentence; "" if
// nothing is known.
func (l Lisp) inWords(c processCondition) string {
	switch c {
	case processElsewhere:
		return "the other side takes no requests, or answers none. The Lisp may be stopped, or busy without pause, or " +
			"a tunnel on the way to it (ssh, socat, a container's port) is stopped: look at that first" + l.way.inWords()
	case processWayStopped:
		w := l.way.stopped()
		if w.pid == 0 { // no more
			w = l.way
		}
		return fmt.Sprintf("process %d (%s), through which the connection leads, is stopped (kill -CONT %d lets it go on)", w.pid, w.name, w.pid)
	case processWayGone:
		return fmt.Sprintf("process %d (%s), through which the connection led, has ended", l.way.pid, l.way.name)
	case processGone:
		return fmt.Sprintf("its process %d has ended", l.pid)
	case processStopped:
		return fmt.Sprintf("its process %d is stopped (fg in its terminal, or kill -CONT %d, lets it go on)", l.pid, l.pid)
	case processIdle:
		return fmt.Sprintf("its process %d is there and does nothing. After a fatal error, a full heap for one, SBCL waits so in its "+
			"low-level debugger, at the prompt ldb> of its terminal or of Emacs' buffer *inferior-lisp*", l.pid) + l.way.inWords()
	case processBusy:
		return fmt.Sprintf("its process %d is at work and does not answer", l.pid) + l.way.inWords()
	}
	return ""
}

// inWords names a way that is there, as the end of a sentence.
func (w way) inWords() string {
	if w.pid == 0 {
		return ""
	}
	return fmt.Sprintf(". Or what is wrong is on the way: the connection leads through process %d (%s)", w.pid, w.name)
}

// processState reads the state letter of a process, and what it has had of processors.
func processState(dir string) (state string, ticks int64) {
	fields := statFields(dir)
	if len(fields) < 13 {
		return "", 0
	}
	user, _ := strconv.ParseInt(fields[11], 10, 64)
	system, _ := strconv.ParseInt(fields[12], 10, 64)
	return fields[0], user + system
}

// statFields are those of the file stat of a process, from its state on.
func statFields(dir string) []string {
	b, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
}

// Explain puts into err, the error of an attempt to connect again to t, what has
// become of the Lisp that was there.
func (l Lisp) Explain(t Target, err error) error {
	var start *Error
	if !errors.As(err, &start) || !start.Away && !start.Silent {
		return err
	}
	c := l.condition()
	told := *start
	switch c {
	case processUnknown, processElsewhere, processWayGone: // what is there now is another way
		return err
	case processGone:
		told.Problem = "the Lisp that was attached to is gone, " + l.inWords(c)
		if !start.Silent {
			told.Problem += "; " + start.Problem
			break
		}
		// Its port is still there: it dies, or another program has it by now.
		told.Problem += "."
		told.Advice = t.invitation(true)
	default:
		if !start.Silent {
			return err
		}
		told.Problem = "the Lisp that was attached to does not answer: " + l.inWords(c) + "."
		told.Advice = "Its owner has to look at it. Send the call again when it goes on. If it has to be restarted: " + t.invitation(true)
		if c == processWayStopped {
			told.Advice = "Nothing can be told of the Lisp behind it. Send the call again when that process goes on. " + start.Advice
		}
	}
	return &told
}

// farPatience is how long something may be silent of which nothing can be seen.
const farPatience = 6 * time.Second

// Worthwhile reports whether something may come of waiting for a Lisp that has been
// silent for so long.
func (l Lisp) Worthwhile(silent time.Duration) bool {
	switch l.condition() {
	case processGone, processStopped, processIdle, processWayStopped, processWayGone:
		return false
	case processElsewhere:
		return silent < farPatience
	}
	return l.way.pid == 0 || silent < farPatience
}
