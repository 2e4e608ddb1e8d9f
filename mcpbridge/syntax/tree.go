package syntax

import (
	"slices"
	"strings"
)

// node is a form of a text, without what #+ and #- leave out.
type node struct {
	token           // of an atom, or of the opening parenthesis
	end      int    // offset behind the form
	prefixed bool   // a quote, backquote, #' or the like stands before it
	elements []node // of a list; none of one that lies deeper than maxNesting
}

// maxNesting bounds the depth of the lists that are looked into.
const maxNesting = 200

// parser makes nodes of tokens as the reader makes forms.
type parser struct {
	text   string
	tokens []token
	at     int
	deep   bool // #+ and #- are nested deeper than maxNesting: the rest is not looked at
	Reading
}

// parse returns the top-level forms of a text. It returns false for one that is not
// well-formed, or in which #+ and #- are nested too deep.
func parse(text string, r Reading) (*parser, []node, bool) {
	s := &scanner{text: text, line: 1, column: 1, keep: true}
	s.run()
	if s.broken || len(s.report.Problems) > 0 {
		return nil, nil, false
	}
	p := &parser{text: text, tokens: s.tokens, Reading: r}
	forms := p.forms(0)
	return p, forms, !p.deep
}

// forms returns those up to a closing parenthesis or the end.
func (p *parser) forms(depth int) (all []node) {
	for {
		n, ok := p.form(depth)
		if !ok {
			return all
		}
		all = append(all, n)
	}
}

// form returns the next form. It returns false where none follows in this list.
func (p *parser) form(depth int) (n node, ok bool) {
	prefixed := false
	for p.at < len(p.tokens) && p.tokens[p.at].kind != closer {
		t := p.tokens[p.at]
		p.at++
		switch t.kind {
		case skipPrefix:
			if depth > maxNesting {
				p.deep = true
				return node{}, false
			}
			feature, ok := p.form(depth + 1)
			if ok && p.holds(feature) != (p.text[t.start:t.end] == "#+") {
				p.form(depth + 1) // as the reader does: what follows in its turn counts as read
			}
			continue
		case prefix:
			prefixed = true
			continue
		case opener:
			return p.list(t, depth, prefixed), true
		}
		return node{token: t, end: t.end, prefixed: prefixed}, true
	}
	return node{}, false
}

// list returns the list that t opens.
func (p *parser) list(t token, depth int, prefixed bool) node {
	n := node{token: t, prefixed: prefixed}
	if depth < maxNesting {
		n.elements = p.forms(depth + 1)
	} else {
		p.skip()
	}
	if p.deep {
		return n
	}
	n.end = p.tokens[p.at].end
	p.at++
	return n
}

// skip goes to the end of the list.
func (p *parser) skip() {
	for open := 0; ; p.at++ {
		switch p.tokens[p.at].kind {
		case opener:
			open++
		case closer:
			if open--; open < 0 {
				return
			}
		}
	}
}

// holds reports whether a feature expression is true; one that only the reader can tell is.
func (p *parser) holds(n node) bool {
	switch {
	case p.Has == nil:
		return true
	case n.kind == atom && !n.prefixed:
		return p.Has(p.symbol(n))
	case n.kind != opener || n.prefixed || len(n.elements) == 0:
		return true
	}
	rest := n.elements[1:]
	switch p.symbol(n.elements[0]) {
	case "AND":
		return !slices.ContainsFunc(rest, func(n node) bool { return !p.holds(n) })
	case "OR":
		return slices.ContainsFunc(rest, p.holds)
	case "NOT":
		return len(rest) != 1 || !p.holds(rest[0])
	}
	return true
}

func (p *parser) source(n node) string { return p.text[n.start:n.end] }

// symbol is the name of the symbol that n is, as it is read there.
func (p *parser) symbol(n node) string {
	_, name := p.split(n)
	return name
}

// split is the prefix and the name of the symbol that n is, as it is read there.
func (p *parser) split(n node) (prefix, name string) {
	return splitSymbol(p.source(n), p.caseAt(n.start))
}

// symbolName is the name of the symbol written as text, as the standard's reader reads
// it: in upper case, without the prefix of a package.
func symbolName(text string) string {
	_, name := splitSymbol(text, Upcase)
	return name
}

// splitSymbol is the prefix and the name of the symbol written as text; the prefix of a
// keyword is "KEYWORD", that of a symbol without one is "".
func splitSymbol(text string, c Case) (prefix, name string) {
	var b strings.Builder
	var plain []int // places in b of the letters of which the case may change
	bars, escaped, colon := false, false, false
	end := func() string {
		name := c.fold(b.String(), plain)
		b.Reset()
		plain = plain[:0]
		return name
	}
	for _, r := range strings.TrimPrefix(text, "#:") {
		switch {
		case escaped:
			escaped = false
			b.WriteRune(r)
		case r == '\\':
			escaped = true
		case r == '|':
			bars = !bars
		case bars:
			b.WriteRune(r)
		case r == ':':
			if !colon {
				prefix, colon = end(), true
			}
		default:
			plain = append(plain, b.Len())
			b.WriteRune(r)
		}
	}
	name = end()
	if colon && prefix == "" {
		prefix = "KEYWORD"
	}
	return prefix, name
}
