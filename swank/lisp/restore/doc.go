// Package restore owns the plan by which a session is brought back when its image
// has died: which entries of the journal are evaluated in the new one, in which
// batches and how often; what is learnt of each from the image's answers or, when
// bringing it back has cost that image, too, from the page on which it has noted
// how far it came; and when an entry is given up.
//
// It sends nothing and knows nothing of images: package lisp sends what
// [Attempt.Call] returns, and tells what became of it.
//
// Begin reading with [Attempt] (attempt.go); [Recovery] is what outlives an
// image, and board.go the page.
package restore
