package syntax

// head is the token that a form begins with: an atom, or the opening parenthesis of a list.
type head struct {
	token
	prefixed bool // a quote, backquote, #' or the like stands before it
}

// maxNesting bounds the depth of the lists that are looked into.
const maxNesting = 200

// maxPieces bounds what is returned of a text: definitions, their qualifiers and specializers.
const maxPieces = 50_000

// parser goes over the forms of a text as the reader does, without what #+ and #- leave out.
type parser struct {
	*lexer
	t       token // that is next
	pieces  int
	refused bool // #+ and #- are nested deeper than maxNesting, or there are too many pieces
	Reading
}

// parse begins with the first form of text, which is well-formed.
func parse(text string, w *work, r Reading) *parser {
	p := &parser{lexer: newLexer(text, w), Reading: r}
	p.advance()
	return p
}

func (p *parser) advance() {
	p.t = p.lexer.next()
	if p.refused || p.over {
		p.t = token{kind: none, start: len(p.text), end: len(p.text)}
	}
}

// refuse ends the parsing.
func (p *parser) refuse() {
	p.refused = true
	p.advance()
}

// piece counts one piece more of what is returned.
func (p *parser) piece() {
	if p.pieces++; p.pieces > maxPieces {
		p.refuse()
	}
}

// form goes to the next form of the list in which the parser stands, at that depth. It returns false where none
// follows.
func (p *parser) form(depth int) (h head, ok bool) {
	for {
		switch p.t.kind {
		case none, closer:
			return head{}, false
		case skipPrefix:
			p.leaveOut(depth)
		case prefix:
			h.prefixed = true
			p.advance()
		default:
			h.token = p.t
			return h, true
		}
	}
}

// leaveOut goes behind a #+ or #-, and behind the form that it leaves out.
func (p *parser) leaveOut(depth int) {
	if depth > maxNesting {
		p.refuse()
		return
	}
	plus := p.source(p.t) == "#+"
	p.advance()
	feature, ok := p.form(depth + 1)
	if !ok || p.holds(feature, depth+1) == plus {
		return
	}
	if left, ok := p.form(depth + 1); ok { // as the reader does: what follows in its turn counts as read
		p.pass(left)
	}
}

// pass goes behind the form that begins with h, where the parser stands, and returns the
// offset behind it.
func (p *parser) pass(h head) int {
	p.advance()
	if h.kind == opener {
		return p.leave()
	}
	return h.end
}

// leave goes behind the list in which the parser stands, and returns the offset behind it.
func (p *parser) leave() int {
	for open := 1; p.t.kind != none; p.advance() {
		switch p.t.kind {
		case opener:
			open++
		case closer:
			if open--; open == 0 {
				end := p.t.end
				p.advance()
				return end
			}
		}
	}
	return len(p.text)
}

// enter goes into the list that begins with h, where the parser stands, at that depth. It returns false for an
// atom and for a list too deep to be looked into, behind which it goes.
func (p *parser) enter(h head, depth int) bool {
	if h.kind != opener || depth >= maxNesting {
		p.pass(h)
		return false
	}
	p.advance()
	return true
}

// holds goes behind a feature expression, and reports whether it is true; one that only the
// reader can tell is.
func (p *parser) holds(h head, depth int) bool {
	if h.kind == atom {
		p.advance()
		return p.Has == nil || h.prefixed || p.Has(p.symbol(h))
	}
	if p.Has == nil || h.prefixed {
		p.pass(h)
		return true
	}
	if !p.enter(h, depth) {
		return true
	}
	defer p.leave()
	first, ok := p.form(depth + 1)
	if !ok {
		return true
	}
	operator := ""
	if first.kind == atom {
		operator = p.symbol(first)
	}
	p.pass(first)
	all, any, n := true, false, 0
	for ; operator == "AND" || operator == "OR" || operator == "NOT"; n++ {
		e, ok := p.form(depth + 1)
		if !ok {
			break
		}
		holds := p.holds(e, depth+1)
		all, any = all && holds, any || holds
	}
	switch operator {
	case "AND":
		return all
	case "OR":
		return any
	case "NOT":
		return n != 1 || !all
	}
	return true
}

func (p *parser) source(t token) string { return p.text[t.start:t.end] }

// symbol is the name of the symbol that h is, as it is read there.
func (p *parser) symbol(h head) string {
	_, name := p.split(h)
	return name
}

// split is the prefix and the name of the symbol that h is, as it is read there.
func (p *parser) split(h head) (prefix, name string) {
	return splitSymbol(p.source(h.token), p.caseAt(h.start))
}
