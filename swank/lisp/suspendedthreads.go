package lisp

import (
	"context"
	"fmt"
	"time"
	"unicode"
	"unicode/utf8"

	"swank-mcp/swank/lisp/helper"
)

// wireThread is a thread of the program that waits in the debugger; see the helper's
// suspended-threads.lisp.
type wireThread struct {
	_       struct{} `sexp:",list"`
	Token   int64
	What    string // which it is, in words
	Type    string // of the condition it waits at
	Message string
}

// shownError is the What of an error of the person's, which they have shown.
const shownError = "the person's error"

// threadTimeout is how long a command of the debugger on a thread may take.
const threadTimeout = 30 * time.Second

// addThread notes that w waits in inst and returns what is known of it, or nil if that
// was known before.
func (q *suspensions) addThread(inst *instance, w wireThread) *suspended {
	q.mu.Lock()
	defer q.mu.Unlock()
	if index(q.live, w.Token) >= 0 {
		return nil
	}
	q.last++
	s := &suspended{number: q.last, token: w.Token, inst: inst, code: w.What, failure: w.Type, timeout: threadTimeout}
	q.live = append(q.live, s)
	return s
}

// isThread reports whether s is a thread of the program: the image gives these their tokens.
func (s *suspended) isThread() bool { return s.token < 0 }

// meet learns of threads that wait in the debugger of inst, and returns what there is to
// tell of those that are new.
func (s *Session) meet(inst *instance, threads []wireThread) (news []string) {
	for _, w := range threads {
		if t := s.suspended.addThread(inst, w); t != nil && w.What != shownError {
			news = append(news, fmt.Sprintf("%s, which this session's code has started, met an error that nobody handled, and is suspended as evaluation %d. %s: %s Next: get-backtrace {\"evaluation\": %[2]d}",
				capitalized(w.What), t.number, w.Type, sentence(firstLine(w.Message, 500))))
		}
	}
	return news
}

// capitalized is text with a capital letter.
func capitalized(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// sentence is text with a full stop.
func sentence(text string) string {
	if text == "" || text[len(text)-1] == '.' {
		return text
	}
	return text + "."
}

// lookForThreads learns of threads that wait in the debugger before a reply has told of
// them. An image that does not answer has none that could be looked at.
func (s *Session) lookForThreads(ctx context.Context) {
	s.im.mu.Lock()
	inst := s.im.cur
	s.im.mu.Unlock()
	if inst == nil || inst.over() || s.home.Load() != inst {
		return
	}
	bounded, cancel := inst.forAnswer(ctx)
	defer cancel()
	var threads []wireThread
	answer, err := inst.ask(bounded, helper.NewCall("SUSPENDED-THREADS").Str(s.name))
	if err == nil && helper.Decode(answer, &threads) == nil {
		s.meet(inst, threads)
	}
}
