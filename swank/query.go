package swank

import "swank-mcp/sexp"

// Query is an event for whose answer a Lisp thread waits. Answers are made by
// the methods of the types that implement it and go out by [Conn.Post] or
// [Conn.Send]; see [Options.Query] for who gives them.
type Query interface {
	Event

	// Refusal returns the answer that lets the thread go on without what it
	// asked for, or nil if the thread does not wait after all.
	Refusal() any
}

// ReadString asks for text on standard input, because Lisp code reads from a
// stream of swank-repl.
type ReadString struct {
	_      struct{} `sexp:",list"`
	Thread ThreadID
	Tag    int64
}

// YesOrNo asks a question (swank::y-or-n-p-in-emacs).
type YesOrNo struct {
	_        struct{} `sexp:",list"`
	Thread   ThreadID
	Tag      int64
	Question string
}

// ReadFromMinibuffer asks for a line of text (swank::read-from-minibuffer-in-emacs).
type ReadFromMinibuffer struct {
	_       struct{} `sexp:",list"`
	Thread  ThreadID
	Tag     int64
	Prompt  string
	Initial string
}

// Eval asks to evaluate Emacs Lisp (swank::eval-in-emacs).
type Eval struct {
	_      struct{} `sexp:",list"`
	Thread ThreadID
	Tag    int64
	Form   string
}

// EdRPC calls a function of the editor (swank::ed-rpc).
type EdRPC struct {
	_        struct{} `sexp:",list"`
	Thread   ThreadID
	Tag      int64
	Function string
	Args     []sexp.Raw `sexp:",rest"`
}

// Inspect shows an object (swank:inspect-in-emacs). Lisp waits for the viewer
// to be closed only if Thread is not 0.
type Inspect struct {
	_       struct{} `sexp:",list"`
	Content sexp.Raw // (:title … :id … :content …)
	Thread  ThreadID
	Tag     int64
}

func (*ReadString) event()         {}
func (*YesOrNo) event()            {}
func (*ReadFromMinibuffer) event() {}
func (*Eval) event()               {}
func (*EdRPC) event()              {}
func (*Inspect) event()            {}

// Answer gives the text that Lisp reads. Without a newline at its end Lisp
// asks for more when it reads a line; "" is the end of the file.
func (q *ReadString) Answer(text string) any {
	return sexp.List{sexp.Symbol(":emacs-return-string"), int64(q.Thread), q.Tag, text}
}

// Refusal answers with the end of the file.
func (q *ReadString) Refusal() any { return q.Answer("") }

// Answer says yes or no.
func (q *YesOrNo) Answer(yes bool) any {
	if yes {
		return emacsReturn(q.Thread, q.Tag, sexp.Symbol("t"))
	}
	return emacsReturn(q.Thread, q.Tag, nil)
}

// Refusal says no.
func (q *YesOrNo) Refusal() any { return q.Answer(false) }

// Answer gives the text entered.
func (q *ReadFromMinibuffer) Answer(text string) any { return emacsReturn(q.Thread, q.Tag, text) }

// Refusal answers nil: the user has cancelled.
func (q *ReadFromMinibuffer) Refusal() any { return emacsReturn(q.Thread, q.Tag, nil) }

// Answer gives the value of the form.
func (q *Eval) Answer(value any) any { return evalOK(q.Thread, q.Tag, value) }

// Refusal signals an error in the Lisp thread.
func (q *Eval) Refusal() any {
	return emacsReturn(q.Thread, q.Tag, sexp.List{sexp.Symbol(":error"),
		"refused by the client", "it does not evaluate Emacs Lisp"})
}

// Answer gives the value of the function called.
func (q *EdRPC) Answer(value any) any { return evalOK(q.Thread, q.Tag, value) }

// Refusal signals an error in the Lisp thread.
func (q *EdRPC) Refusal() any {
	return emacsReturn(q.Thread, q.Tag, sexp.List{sexp.Symbol(":ed-rpc-forbidden"), q.Function})
}

// Answer tells that the viewer was closed; nil if Lisp does not wait for that.
func (q *Inspect) Answer() any {
	if q.Thread == 0 {
		return nil
	}
	return emacsReturn(q.Thread, q.Tag, nil)
}

// Refusal is the same as Answer.
func (q *Inspect) Refusal() any { return q.Answer() }

func evalOK(t ThreadID, tag int64, value any) any {
	return emacsReturn(t, tag, sexp.List{sexp.Symbol(":ok"), value})
}

func emacsReturn(t ThreadID, tag int64, value any) any {
	return sexp.List{sexp.Symbol(":emacs-return"), int64(t), tag, value}
}

// Interrupt is the message that stops what a thread is doing and enters the
// debugger in it; [NewWorker] stands for the thread of the request dispatched
// last. Naming a thread that has just ended closes the connection on Swank up
// to 2.29, and three interrupts in a row make 2.27 deaf, so this is for one
// interrupt of a thread known to be alive.
func Interrupt(t ThreadID) any { return sexp.List{sexp.Symbol(":emacs-interrupt"), t} }

// SendToChannel is the message to a channel that Lisp code has opened. An
// unknown channel closes the connection.
func SendToChannel(channel int64, message any) any {
	return sexp.List{sexp.Symbol(":emacs-channel-send"), channel, message}
}
