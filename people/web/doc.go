// Package web shows a running server to a person in a browser: its transcript as a notebook,
// who is connected, what runs, and what there is to do about it.
//
// It is a proxy between the browser and the server's socket (package control). It listens on
// loopback only, and gives nothing to whom it does not know (guard.go):
//
//	GET  /                 where the browser exchanges a token, which is good for one time
//	POST /enter            that exchange: the answer has a cookie and the place of the page
//	GET  /p/SECRET/        the page, as HTML that works without a script; ?before=N, ?after=N
//	GET  /p/SECRET/cells   a part of the notebook
//	GET  /p/SECRET/cell    one entry of it, whole: ?id=N
//	GET  /p/SECRET/frame   a frame of a suspended evaluation
//	GET  /p/SECRET/flame   the flame graph of an entry: ?id=N
//	GET  /p/SECRET/events  what changes, as server-sent events
//	POST /p/SECRET/stop, /pause, /resume, /restore, /evaluate, /restart, /put-back,
//	     /allow, /answer
//
// The notebook (book.go) is made of the entries of the transcript: a cell has all entries of
// one piece of work. All HTML is made here, by html/template; the script in static puts it
// into its place.
//
// Begin reading with [Serve].
package web
