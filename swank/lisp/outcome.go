package lisp

import (
	"strings"
	"unicode/utf8"
)

// An Excerpt is the beginning of a text, and how much there is of all of it.
type Excerpt struct {
	Lines []string // the first that are not blank, at most excerptLines of excerptColumns characters
	More  int      // further lines that are not blank
	Chars int      // of the whole text
}

const (
	excerptLines   = 20
	excerptColumns = 250
)

func excerpt(text string) Excerpt {
	x := Excerpt{Chars: utf8.RuneCountInString(text)}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.Trim(line, " ") == "":
		case len(x.Lines) == excerptLines:
			x.More++
		default:
			x.Lines = append(x.Lines, strings.Clone(firstChars(line, excerptColumns))) // text may be long
		}
	}
	return x
}

// firstChars returns the first n characters of s.
func firstChars(s string, n int) string {
	for at := range s {
		if n--; n < 0 {
			return s[:at]
		}
	}
	return s
}

// An Outcome is the beginning of a [Result], of bounded size.
type Outcome struct {
	Values  []Excerpt // the first outcomeValues
	More    int       // further values
	Failure string    // "" after success, else ERROR, TIMEOUT, CANCELLED, STOPPED or IMAGE-DIED
	Type    string    // of an ERROR: its condition's
	Message Excerpt   // of a Failure
}

const outcomeValues = 10

func (r *Result) outcome() *Outcome {
	var o Outcome
	for i, v := range r.Values {
		if i == outcomeValues {
			o.More = len(r.Values) - i
			break
		}
		o.Values = append(o.Values, excerpt(v.Head))
	}
	if f := r.Failure; f != nil {
		o.Failure, o.Type, o.Message = f.Kind.String(), firstChars(f.Type, excerptColumns), excerpt(f.Message)
	}
	return &o
}
