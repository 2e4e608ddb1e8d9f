package syntax

import "strings"

// How names are used in the text itself: what is an operator in one place is one in
// another, with as many arguments.

// uses is how often a name stands at the head of a list, and elsewhere.
type uses struct{ head, other int }

// usesOf counts the names of the text, which has parentheses that do not match.
func usesOf(text string, ts []token, w *work) map[string]uses {
	j := &judge{work: w, text: text, uses: make(map[string]uses), counting: true}
	for _, t := range ts {
		j.token(t)
	}
	return j.uses
}

// count counts a name.
func (j *judge) count(name string, head bool) {
	name = strings.ToLower(name)
	u := j.uses[name]
	if head {
		u.head++
	} else {
		u.other++
	}
	j.uses[name] = u
}

// oddUse is what it costs that the name stands at the head of a list in code, or does not,
// by how it is used elsewhere; washead says where the unmended text has it.
func (j *judge) oddUse(name string, head, washead bool) float64 {
	name = strings.ToLower(name)
	u := j.uses[name]
	if washead {
		u.head--
	} else {
		u.other--
	}
	_, known := shapes[name]
	switch {
	case head && u.head <= 0 && u.other > 0 && !known:
		return costUse
	case !head && u.other <= 0 && known:
		return costUse
	case !head && u.other <= 0 && u.head > 0:
		return costUse
	case !head && u.other <= 0 && strings.HasSuffix(name, "-p"):
		return costRare
	}
	return 0
}

// rare is what a form costs that is right and rarely written.
func (j *judge) rare(l *list) float64 {
	name := strings.ToLower(l.head)
	switch name {
	case "and", "or", "progn", "+", "*", "append", "cond", "case", "let":
		if l.n == 2 {
			return costRare
		}
	case "", "list", "values":
		return 0
	}
	if l.lenient {
		return 0
	}
	cost := 0.0
	if strings.HasSuffix(name, "-p") && l.n != 2 {
		cost += costRare
	}
	if !l.known && l.n == 1 && l.role == code {
		cost += costRare / 2
	}
	if c := j.counts[name]; c.all > 1 && c.with[l.n] == 0 {
		cost += costRare
	}
	return cost
}

// counts is how many lists have a head, and how many of them have so many elements.
type counts struct {
	all  int
	with map[int]int
}

// countsOf tells with how many elements the lists of each head are written in the text.
func countsOf(text string, ts []token) map[string]counts {
	type open struct {
		head string
		n    int
	}
	all := make(map[string]counts)
	var stack []open
	for _, t := range ts {
		switch t.kind {
		case atom:
			if n := len(stack); n > 0 {
				if stack[n-1].n++; stack[n-1].n == 1 {
					stack[n-1].head = strings.ToLower(text[t.start:t.end])
				}
			}
		case opener:
			if n := len(stack); n > 0 {
				stack[n-1].n++
			}
			stack = append(stack, open{})
		case closer:
			if n := len(stack); n > 0 {
				o := stack[n-1]
				stack = stack[:n-1]
				c := all[o.head]
				if c.with == nil {
					c.with = make(map[int]int)
				}
				c.all++
				c.with[o.n]++
				all[o.head] = c
			}
		}
	}
	return all
}

func number(name string) bool {
	return name != "" && (name[0] >= '0' && name[0] <= '9' || len(name) > 1 && (name[0] == '-' || name[0] == '+') && name[1] >= '0' && name[1] <= '9') &&
		!strings.HasSuffix(name, "+") && !strings.HasSuffix(name, "-")
}
