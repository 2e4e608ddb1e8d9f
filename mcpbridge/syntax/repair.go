package syntax

import (
	"math"
	"slices"
	"strings"
)

// What a repair looks at, at most: it weighs each place of a form against the whole form.
const (
	maxOff    = 3     // parentheses too few or too many in one top-level form
	maxTokens = 6_000 // of one top-level form
)

// Repair mends a text in which parentheses are missing or too many, a few in each
// top-level form: of all the places where one may be put or taken away it takes the one
// with which the indentation, and what is known of the standard's operators, fits best.
// It returns false if that does not make text well-formed, or changes more than
// parentheses; a text that is well-formed is returned as it is.
func Repair(text string) (string, bool) {
	if len(Check(text).Problems) == 0 {
		return text, true
	}
	ts, ok := tokens(text)
	if !ok {
		return "", false
	}
	var mended strings.Builder
	at := 0
	for _, p := range broken(ts) {
		end := len(text)
		if p.end < len(ts) {
			end = ts[p.end].start
		}
		start := ts[p.start].start
		form, ok := repairForm(text[start:end], p.depth)
		if !ok {
			return "", false
		}
		mended.WriteString(text[at:start])
		mended.WriteString(form)
		at = end
	}
	mended.WriteString(text[at:])
	whole := mended.String()
	report := Check(whole)
	return whole, report.Forms > 0 && len(report.Problems) == 0 && sameButParentheses(text, whole) && !unreadable(whole)
}

// sameButParentheses reports whether a and b have the same tokens, without parentheses: a
// parenthesis that stood between two, as in a)b, has not made one of them.
func sameButParentheses(a, b string) bool {
	return slices.Equal(words(a), words(b))
}

// words are the tokens of text but for its parentheses.
func words(text string) (all []string) {
	ts, _ := tokens(text)
	for _, t := range ts {
		if word := text[t.start:t.end]; word != "(" && word != ")" {
			all = append(all, word)
		}
	}
	return all
}

// part is a stretch of tokens that begins in the first column, as a top-level form does,
// and how many lists are open behind it that were not before.
type part struct{ start, end, depth int }

// broken returns the parts in which parentheses do not match, but for those that do
// together, as those of an EVAL-WHEN around forms in the first column.
func broken(ts []token) (bad []part) {
	for i := 0; i < len(ts); {
		p := part{start: i}
		for p.end = i; p.end < len(ts) && (p.end == i || ts[p.end].col > 1 || ts[p.end].kind == closer); p.end++ {
			switch ts[p.end].kind {
			case opener:
				p.depth++
			case closer:
				p.depth--
			}
		}
		i = p.end
		if p.depth == 0 {
			continue
		}
		bad = append(bad, p)
		if p.depth > 0 {
			continue
		}
		// The nearest parts before it that it may close, with all that lies between.
		for at, open := len(bad)-1, 0; at >= 0; at-- {
			if open += bad[at].depth; open == 0 {
				bad = bad[:at]
				break
			}
		}
	}
	return bad
}

// repairForm mends a form in which depth parentheses are missing, or too many if it is
// less than 0.
func repairForm(text string, depth int) (string, bool) {
	if depth > maxOff || depth < -maxOff {
		return "", false
	}
	for step := 1; depth != 0; depth -= step {
		if depth < 0 {
			step = -1
		}
		ts, ok := tokens(text)
		if !ok || len(ts) == 0 || len(ts) > maxTokens {
			return "", false
		}
		e, ok := bestEdit(text, ts, depth)
		if !ok {
			return "", false
		}
		text = e.apply(text, ts)
	}
	return text, true
}

// bestEdit returns the edit that takes depth one nearer to 0 and fits best, of those that
// fit alike the last one.
func bestEdit(text string, ts []token, depth int) (best edit, found bool) {
	b := basis{text: text, tokens: ts, uses: usesOf(text, ts), counts: countsOf(text, ts), off: depth}
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
