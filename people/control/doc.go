// Package control lets the people of a machine's user see and steer that user's servers: it
// serves each on a Unix socket of its own, in a directory that only this user can enter,
// and finds the sockets of those that run.
//
// It speaks HTTP:
//
//	GET  /status          what the server is, and what it does: [Status]
//	GET  /events          its transcript as server-sent events, one entry of package
//	                      transcript each, from now on; ?last=N begins with the N newest,
//	                      ?after=N, or Last-Event-ID, with what came after entry N
//	GET  /contents        what a session has made, and the checkpoints: [Contents];
//	                      ?session=NAME where there are several
//	GET  /frame           a frame of a suspended evaluation: ?evaluation=N&frame=N: [Frame]
//	POST /stop            end what is evaluated: [Stopped]
//	POST /pause, /resume  have calls that would evaluate wait, and go on: [Paused]
//	POST /undo            take the image back by a step; ?session=NAME where there are
//	                      several, ?to=N to checkpoint N: [Undone]
//	POST /put-back        put back what ?entry=N&token=N has redefined: [PutBack]
//	POST /allow           say what agents may do without the person's yes;
//	                      ?policy=everything, new or nothing: [Allowed]
//	POST /answer          answer a question about that; ?question=N&answer=yes or no:
//	                      [Settled]
//	POST /evaluate        evaluate the body in the session: [Evaluated]
//	POST /restart         have a suspended evaluation go on; ?evaluation=N&restart=N: [Evaluated];
//	                      the body has a form for each value that the restart wants
//
// An answer that is no success is a sentence for the person.
//
// Commands of cmd/swank-mcp use it. Begin reading with [Serve] and [Find].
package control
