// Package swank is a client of Swank, the server of SLIME: it frames messages, ties
// answers to requests and reports when Lisp enters its debugger. It knows no policy:
// package swank/lisp decides what to do about an error, an evaluation that does not end
// or an image that died.
//
// # The protocol in one page
//
// A frame is six hexadecimal digits, the number of bytes that follow, and one
// s-expression in UTF-8. A request is
//
//	(:emacs-rex FORM PACKAGE THREAD ID)
//
// and Lisp evaluates FORM in THREAD and answers one of
//
//	(:return (:ok VALUE) ID)       its value
//	(:return (:abort REASON) ID)   it was left: AbortError
//	(:invalid-rpc ID MESSAGE)      there is no such thread: InvalidRPCError
//	(:reader-error PACKET MESSAGE) the request cannot be read: ReaderError
//
// in any order. An error in FORM is not answered: Lisp sends :debug, and THREAD
// then serves requests from within its debugger until one of them leaves it,
// which ends the first request too; the program is told of each [Debug]. Beside
// that Lisp sends what it prints, questions to the user, and remarks for
// editors.
//
// Three kinds of messages must be answered or Lisp threads wait for ever, and the
// connection sees to that: :ping, after every hundred messages of a thread, and
// :write-string where it names a thread (2.28 and later) are acknowledged;
// questions are refused. Everything else is dropped.
//
// Swank closes the connection on anything that it cannot dispatch, and on a
// value that it cannot print or that needs more than 16,777,215 bytes. So forms
// should have their results made into strings of bounded size in Lisp.
//
// # Goroutines, and who owns what
//
//   - The reader, started by [NewConn]. It alone reads, calls [Options.Handler],
//     completes calls and keeps the state of debuggers. It never writes and waits for
//     nothing but the next frame. It ends when reading fails, which [Conn.Close] and
//     every other failure bring about by closing the stream; it then fails the pending
//     calls with the first cause, waits for the flusher, and closes [Conn.Done].
//   - The caller of Go and Call writes its own frame: under one mutex, in
//     one Write, watched by one timer that fails the connection when it is
//     exceeded. There is no hand-over to another goroutine on a request's way out;
//     on the answer's way back there is one, from the reader to the waiter, who
//     decodes the value.
//   - The flusher writes what the reader must not, because writing may block:
//     acknowledgements, refusals, and the secret if no request comes first. It is
//     started when the queue gets its first message and ends when the queue is empty,
//     so most of the time there is none. The queue is bounded; exceeding it fails the
//     connection.
//   - The timer's function runs on a goroutine of its own for as long as it takes
//     to close the stream, and only if a Write took too long.
//
// Text that is not ours goes into requests as strings only: Swank reads requests
// with read-time evaluation on. Package sexp sees to that.
package swank
