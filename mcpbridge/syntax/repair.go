package syntax

import (
	"math"
	"strings"
)

// Repair mends a form in which one parenthesis is missing or one too many: of all the
// places where one may be put or taken away it takes the one with which the indentation,
// and what is known of the standard's operators, fits best. It returns false if no one
// parenthesis makes text well-formed.
func Repair(text string) (string, bool) {
	ts, ok := tokens(text)
	if !ok || len(ts) == 0 {
		return "", false
	}
	names, counts := usesOf(text, ts), countsOf(text, ts)
	depth := 0
	for _, t := range ts {
		switch t.kind {
		case opener:
			depth++
		case closer:
			depth--
		}
	}
	if depth != 1 && depth != -1 {
		return "", false
	}
	best, found := edit{}, false
	least := math.Inf(1)
	try := func(e edit, same int) {
		cost, ok := fit(text, ts, names, counts, e)
		if cost += e.touches(text, ts) - math.Log(float64(same))/2; ok && cost <= least {
			best, least, found = e, cost, true
		}
	}
	for i, t := range ts {
		switch {
		case depth > 0 && t.kind == opener:
			if i > 0 && ts[i-1].kind == opener && ts[i-1].end == t.start {
				continue // the same text as without the one before
			}
			try(edit{removeToken, i}, run(ts, i, opener))
		case depth < 0 && t.kind == closer:
			if i > 0 && ts[i-1].kind == closer && ts[i-1].end == t.start {
				continue
			}
			try(edit{removeToken, i}, run(ts, i, closer))
		}
		switch {
		case depth > 0 && t.kind != prefix && t.kind != skipPrefix:
			if i+1 < len(ts) && ts[i+1].kind == closer && ts[i+1].start == t.end {
				continue // the same text as behind it
			}
			n := 1
			for k := i; k >= 0 && ts[k].kind == closer; k-- {
				n++
			}
			try(edit{closeAfter, i}, n)
		case depth < 0 && t.kind == closer:
			if i > 0 && ts[i-1].end < t.start {
				try(edit{openBefore, i}, 1) // ()
			}
		case depth < 0:
			if i > 0 && ts[i-1].kind == opener && ts[i-1].end == t.start {
				continue
			}
			try(edit{openBefore, i}, 1+run(ts, i, opener))
		}
	}
	if !found {
		return "", false
	}
	mended := best.apply(text, ts)
	return mended, len(Check(mended).Problems) == 0
}

// run is how many tokens of that kind stand from there on, without anything between.
func run(ts []token, at int, k kind) (n int) {
	for at+n < len(ts) && ts[at+n].kind == k {
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
	case removeToken:
		return text[:t.start] + text[t.end:]
	}
	return text
}

// touches is what the edit costs by what stands beside it in its line: a list is set off
// by blanks outside and not inside.
func (e edit) touches(text string, ts []token) (cost float64) {
	t := ts[e.at]
	switch e.what {
	case closeAfter:
		if t.kind == opener && t.end < len(text) && strings.ContainsRune(" \n", rune(text[t.end])) {
			cost -= costTouch
		}
		if next := text[t.end:]; next != "" && !strings.ContainsRune(" \t\r\n);", rune(next[0])) {
			cost += costTouch
		}
	case openBefore:
		if t.kind == closer {
			cost -= costTouch
		}
		if t.start > 0 && !strings.ContainsRune(" \t\r\n('`,@#", rune(text[t.start-1])) {
			cost += costTouch
		}
	case removeToken:
		before, after := byte(' '), byte(' ')
		if t.start > 0 {
			before = text[t.start-1]
		}
		if t.end < len(text) {
			after = text[t.end]
		}
		if t.kind == opener && (after == ' ' || after == '\n') {
			cost += costRare
		}
		if t.kind == closer && before == ' ' {
			cost -= costTouch / 2
		}
	}
	return cost
}
