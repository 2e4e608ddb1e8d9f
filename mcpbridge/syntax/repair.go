package syntax

import (
	"context"
	"math"
	"strings"
)

// What a repair looks at, at most: it weighs each place of a form against the whole form.
const (
	maxOff    = 3         // parentheses too few or too many in one top-level form
	maxTokens = 6_000     // of one top-level form
	maxForm   = 256 << 10 // bytes of one top-level form
	maxBroken = 1_000     // top-level forms

	maxWeighed = 120_000_000 // steps of all, each of which weighs a token
)

// Repair mends a text in which parentheses are missing or too many, a few in each
// top-level form: of all the places where one may be put or taken away it takes the one
// with which the indentation, and what is known of the standard's operators, fits best.
// It returns false if that does not make text well-formed, or changes more than
// parentheses; a text that is well-formed is returned as it is.
func Repair(ctx context.Context, text string) (string, bool) {
	if len(Check(ctx, text).Problems) == 0 {
		return text, true
	}
	parts, ok := broken(text, workOn(ctx, text))
	if !ok {
		return "", false
	}
	weighing := &work{ctx: ctx, most: maxWeighed}
	var mended strings.Builder
	at := 0
	for _, p := range parts {
		form, ok := repairForm(text[p.start:p.end], p.depth, weighing)
		if !ok {
			return "", false
		}
		mended.WriteString(text[at:p.start])
		mended.WriteString(form)
		at = p.end
	}
	mended.WriteString(text[at:])
	whole := mended.String()
	report := Check(ctx, whole)
	w := workOn(ctx, whole)
	ok = report.Forms > 0 && len(report.Problems) == 0 && sameButParentheses(text, whole, w) && !unreadable(whole, w)
	return whole, ok && !w.over
}

// sameButParentheses reports whether a and b have the same tokens, without parentheses: a
// parenthesis that stood between two, as in a)b, has not made one of them.
func sameButParentheses(a, b string, w *work) bool {
	return sameTokens(a, b, w, func(_ token, text string) bool { return text != "(" && text != ")" })
}

// part is a stretch of text that begins with a token in the first column, as a top-level form does,
// and how many lists are open behind it that were not before.
type part struct{ start, end, depth int }

// broken returns the parts in which parentheses do not match, but for those that do
// together, as those of an EVAL-WHEN around forms in the first column. It returns false for
// a text in which a string, a comment or a bar has no end, as where the rest stands in it
// nobody knows, and for one with too many such parts.
func broken(text string, w *work) (bad []part, ok bool) {
	l := newLexer(text, w)
	t := l.next()
	p := part{start: t.start}
	for at, col := 0, 1; len(bad) <= maxBroken; t = l.next() {
		col = editorColumn(text, at, col, t.start)
		at = t.start
		if t.kind == none || col == 1 && t.kind != closer {
			p.end = t.start
			bad = withPart(bad, p)
			p = part{start: t.start}
		}
		switch t.kind {
		case none:
			return bad, l.unended == 0 && len(bad) <= maxBroken && !w.over
		case opener:
			p.depth++
		case closer:
			p.depth--
		}
	}
	return nil, false
}

// withPart returns bad with p, if that is broken.
func withPart(bad []part, p part) []part {
	if p.depth == 0 {
		return bad
	}
	bad = append(bad, p)
	// The nearest parts before it that it may close, with all that lies between.
	for at, open := len(bad)-1, 0; at >= 0 && p.depth < 0; at-- {
		if open += bad[at].depth; open == 0 {
			return bad[:at]
		}
	}
	return bad
}

// tokens takes text apart, with the columns in which an editor shows it. It returns false
// for a text in which a string, a comment or a bar has no end, and for one with more than
// maxTokens tokens.
func tokens(text string, w *work) (all []token, ok bool) {
	l := newLexer(text, w)
	p, col := beginning(), 1
	for t := l.next(); t.kind != none; t = l.next() {
		col = editorColumn(text, p.at, col, t.start)
		p.to(text, t.start)
		t.line, t.col = p.Line, col
		if all = append(all, t); len(all) > maxTokens {
			return nil, false
		}
	}
	return all, l.unended == 0 && !w.over
}

// repairForm mends a form in which depth parentheses are missing, or too many if it is
// less than 0.
func repairForm(text string, depth int, w *work) (string, bool) {
	if depth > maxOff || depth < -maxOff || len(text) > maxForm {
		return "", false
	}
	for step := 1; depth != 0; depth -= step {
		if depth < 0 {
			step = -1
		}
		ts, ok := tokens(text, w)
		if !ok || len(ts) == 0 {
			return "", false
		}
		e, ok := bestEdit(text, ts, depth, w)
		if !ok || w.over {
			return "", false
		}
		text = e.apply(text, ts)
	}
	return text, true
}

// bestEdit returns the edit that takes depth one nearer to 0 and fits best, of those that
// fit alike the last one.
func bestEdit(text string, ts []token, depth int, w *work) (best edit, found bool) {
	b := basis{work: w, text: text, tokens: ts, uses: usesOf(text, ts, w), counts: countsOf(text, ts), off: depth}
	least := math.Inf(1)
	// same is how many edits make the same text: so much likelier is it.
	try := func(what change, at, same int) {
		e := edit{what, at}
		cost, ok := b.fit(e)
		cost += e.touches(text, ts) - math.Log(float64(same))/2
		if ok && cost <= least {
			best, least, found = e, cost, true
		}
	}
	for i, t := range ts {
		// Of a run of parentheses, which edit is made makes no difference.
		again := i > 0 && ts[i-1].kind == t.kind && ts[i-1].end == t.start
		switch {
		case depth > 0 && t.kind == opener && !again:
			try(removeToken, i, run(ts, i, 1))
		case depth < 0 && t.kind == closer && !again:
			try(removeToken, i, run(ts, i, 1))
		}
		switch {
		case depth > 0 && t.kind != prefix && t.kind != skipPrefix:
			if next := i + 1; next == len(ts) || ts[next].kind != closer || ts[next].start != t.end {
				n := 1
				if t.kind == closer {
					n += run(ts, i, -1)
				}
				try(closeAfter, i, n)
			}
		case depth < 0 && t.kind == closer:
			if i > 0 && ts[i-1].end < t.start {
				try(openBefore, i, 1) // ()
			}
		case depth < 0 && !(again && t.kind == opener):
			n := 1
			if t.kind == opener {
				n += run(ts, i, 1)
			}
			try(openBefore, i, n)
		}
	}
	return best, found
}

// run is how many tokens of the same kind stand from there on, in the direction of step.
func run(ts []token, at, step int) (n int) {
	k := ts[at].kind
	for ; at >= 0 && at < len(ts) && ts[at].kind == k; at += step {
		n++
	}
	return n
}

func (e edit) apply(text string, ts []token) string {
	t := ts[e.at]
	switch e.what {
	case closeAfter:
		return text[:t.end] + ")" + text[t.end:]
	case openBefore:
		return text[:t.start] + "(" + text[t.start:]
	}
	return text[:t.start] + text[t.end:]
}

// touches is what the edit costs by what stands beside it in its line: a list is set off
// by blanks outside and not inside.
func (e edit) touches(text string, ts []token) (cost float64) {
	t := ts[e.at]
	before, after := byte(' '), byte(' ')
	if t.start > 0 {
		before = text[t.start-1]
	}
	if t.end < len(text) {
		after = text[t.end]
	}
	blankAfter := after == ' ' || after == '\n'
	switch e.what {
	case closeAfter:
		if t.kind == opener && blankAfter {
			cost -= costTouch
		}
		if !strings.ContainsRune(" \t\r\n);", rune(after)) {
			cost += costTouch
		}
	case openBefore:
		if t.kind == closer {
			cost -= costTouch
		}
		if !strings.ContainsRune(" \t\r\n('`,@#", rune(before)) {
			cost += costTouch
		}
	case removeToken:
		if t.kind == opener && blankAfter {
			cost += costRare
		}
		if t.kind == closer && before == ' ' {
			cost -= costTouch / 2
		}
	}
	return cost
}
