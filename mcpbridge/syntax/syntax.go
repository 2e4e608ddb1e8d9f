// Package syntax checks the shape of Lisp source: parentheses, strings, bars,
// comments, quotes, dots; and it mends parentheses ([Repair]). It reads nothing and evaluates nothing: no symbol is
// interned, no package needs to exist, and #. is only text. It needs no image; the
// helper's scanner.lisp has another task, to take definitions out of files that only the
// image can see.
//
// Lines and columns count from 1, columns in characters. A tab counts as one.
package syntax

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
	Unknown  []Pos     // dispatch macros that are not of the standard, such as #?
}

// maxProblems bounds the report about a text that is no Lisp.
const maxProblems = 20

// Check checks a whole text.
func Check(text string) *Report {
	s := &scanner{text: text, line: 1, column: 1, keep: true}
	s.run()
	if !s.broken && len(s.report.Problems) == 0 {
		s.report.Problems = misplaced(text, s.tokens, false)
	}
	s.report.Lines = s.line
	if s.column == 1 && s.line > 1 {
		s.report.Lines-- // the last newline begins no line
	}
	return &s.report
}
