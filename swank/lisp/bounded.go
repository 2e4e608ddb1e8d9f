package lisp

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of what an event has of code and of a result, in characters and in pieces.
const (
	eventCode    = 20_000
	eventOutput  = 20_000 // of each stream
	eventValues  = 20_000 // of all values
	eventMessage = 10_000
	eventFrame   = 500
	eventNote    = 2_000
	eventPieces  = 50 // frames, warnings, notes, values
)

// bounded is r with what an event has of its texts.
func (r *Result) bounded() *Result {
	b := *r
	b.report = nil
	b.Stdout, b.Stderr, b.Background = cut(r.Stdout, eventOutput), cut(r.Stderr, eventOutput), cut(r.Background, eventOutput)
	b.Values = nil
	if n := min(len(r.Values), eventPieces); n > 0 {
		b.Values = make([]Text, n)
	}
	left := eventValues
	for i := range b.Values {
		b.Values[i] = cut(r.Values[i], left)
		left = max(left-len(b.Values[i].Head)-len(b.Values[i].Tail), eventFrame)
	}
	b.Warnings = slices.Clone(r.Warnings[:min(len(r.Warnings), eventPieces)])
	for i, w := range b.Warnings {
		b.Warnings[i].Message, b.Warnings[i].Source = cutString(w.Message, eventNote), cutString(w.Source, eventFrame)
	}
	b.Notes = cutStrings(r.Notes, eventNote)
	if r.Failure != nil {
		f := *r.Failure
		f.Message, f.Frames = cutString(f.Message, eventMessage), cutStrings(f.Frames, eventFrame)
		f.More += len(r.Failure.Frames) - len(f.Frames)
		b.Failure = &f
	}
	return &b
}

// cut is t with at most n characters, or so many more as its bytes show to be none.
func cut(t Text, n int) Text {
	if len(t.Head)+len(t.Tail) <= n {
		return t
	}
	all := utf8.RuneCountInString(t.Head) + utf8.RuneCountInString(t.Tail)
	if all <= n {
		return t
	}
	end := t.Tail
	if end == "" {
		end = t.Head
	}
	head, tail := firstChars(t.Head, n-n/4), lastChars(end, n/4)
	kept := utf8.RuneCountInString(head) + utf8.RuneCountInString(tail)
	return Text{Head: strings.Clone(head), Tail: strings.Clone(tail), Omitted: t.Omitted + int64(all-kept)}
}

// lastChars returns the last n characters of s.
func lastChars(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s[at:]
}

// cutString is s with at most n characters and an ellipsis.
func cutString(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if head := firstChars(s, n); len(head) < len(s) {
		return strings.Clone(head) + "…"
	}
	return s
}

func cutStrings(all []string, n int) []string {
	if len(all) == 0 {
		return nil
	}
	b := make([]string, min(len(all), eventPieces))
	for i := range b {
		b[i] = cutString(all[i], n)
	}
	return b
}
