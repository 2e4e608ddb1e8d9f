// Package syntax checks the shape of Lisp source: parentheses, strings, bars,
// comments, quotes, dots; and it mends parentheses ([Repair]). It reads nothing and evaluates nothing: no symbol is
// interned, no package needs to exist, and #. is only text. It needs no image; the
// helper's scanner.lisp has another task, to take definitions out of files that only the
// image can see.
//
// A call takes time in proportion to the text and keeps none of it: a token is looked for
// where it is needed ([lexer]), and what is open costs 16 bytes, at most MaxDepth times. It
// ends with its context, and when it has made so many steps for each byte ([work]); then it
// has found nothing.
//
// Lines and columns count from 1, columns in characters. A tab counts as one.
package syntax

import (
	"context"
	"fmt"
	"strings"
)

// Pos is a place in the text.
type Pos struct{ Line, Column int }

// Problem is one thing that the reader would refuse.
type Problem struct {
	Pos
	Message string // one sentence, without the place
	Hint    *Hint  // where it probably began; nil if the indentation does not tell
	Missing int    // closing parentheses that are to be added at the end of the Hint's Last line
	Unseen  bool   // a character that is not seen, or is seen as a blank, is part of a symbol
}

// Hint is what the indentation says about a problem of parentheses.
type Hint struct {
	Line    int    // where the first line stands that does not fit
	Last    int    // last line of code before it: where to look
	Message string // one sentence
}

// Report is what [Check] found.
type Report struct {
	Forms    int       // top-level forms, complete ones
	Lines    int       // lines of the text
	Problems []Problem // in the order of the text; empty: the text is well-formed
	Macros   int       // dispatch macros that are not of the standard, such as #?
	Unknown  []Pos     // the first of them
}

// maxProblems bounds the report about a text that is no Lisp.
const maxProblems = 20

// Check checks a whole text.
func Check(ctx context.Context, text string) *Report { return check(text, workOn(ctx, text)) }

// check is Check whose work is counted.
func check(text string, w *work) *Report {
	s := scan(text, w)
	if !s.broken && len(s.report.Problems) == 0 {
		s.report.Problems = misplaced(text, w, false)
	}
	if w.over && len(s.report.Problems) == 0 {
		s.problem(posOf(text, s.at), "The text was not checked as a whole: "+w.why()+".")
	}
	s.report.Lines = strings.Count(text, "\n") + 1
	if s.report.Lines > 1 && strings.HasSuffix(text, "\n") {
		s.report.Lines-- // the last newline begins no line
	}
	return &s.report
}

// tooLong is the problem of a text that is too long.
func tooLong() *Report {
	return &Report{Problems: []Problem{{Pos: Pos{1, 1}, Message: fmt.Sprintf("The text has more than %d MB, and was not checked.", MaxText>>20)}}}
}
