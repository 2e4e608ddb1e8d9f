package main

import (
	"regexp"
	"slices"
	"strings"
)

// span bounds a datum in a text.
type span struct{ begin, end int }

// definition holds a form of a file that begins a line with its operator and a plain name.
type definition struct {
	file, pack, name string
	text             string // of the whole file
	span
}

// blank returns where the blanks and comments of text end that begin at at.
func blank(text string, at int) int {
	for at < len(text) {
		switch {
		case strings.ContainsRune(" \t\r\n\f", rune(text[at])):
			at++
		case text[at] == ';':
			for at < len(text) && text[at] != '\n' {
				at++
			}
		case strings.HasPrefix(text[at:], "#|"):
			depth := 1
			for at += 2; at < len(text) && depth > 0; {
				switch {
				case strings.HasPrefix(text[at:], "|#"):
					depth--
					at += 2
				case strings.HasPrefix(text[at:], "#|"):
					depth++
					at += 2
				default:
					at++
				}
			}
		default:
			return at
		}
	}
	return at
}

// datum returns the end of the datum that begins at at. It knows the standard syntax alone:
// -1 says that there is no datum, or one with a syntax of its own.
func datum(text string, at int) int {
	if at >= len(text) {
		return -1
	}
	switch text[at] {
	case '(':
		for at = blank(text, at+1); at < len(text) && text[at] != ')'; at = blank(text, at) {
			if at = datum(text, at); at < 0 {
				return -1
			}
		}
		return after(text, at)
	case ')':
		return -1
	case '"':
		for at++; at < len(text) && text[at] != '"'; at++ {
			if text[at] == '\\' {
				at++
			}
		}
		return after(text, at)
	case '\'', '`':
		return datum(text, blank(text, at+1))
	case ',':
		if at+1 < len(text) && strings.ContainsRune("@.", rune(text[at+1])) {
			at++
		}
		return datum(text, blank(text, at+1))
	case '#':
		return dispatched(text, at+1)
	}
	return token(text, at)
}

// dispatched is datum behind a "#".
func dispatched(text string, at int) int {
	for at < len(text) && text[at] >= '0' && text[at] <= '9' {
		at++
	}
	if at >= len(text) {
		return -1
	}
	switch strings.ToLower(text[at : at+1])[0] {
	case '\\':
		if at+1 >= len(text) {
			return -1
		}
		return max(at+2, token(text, at+2))
	case '(':
		return datum(text, at)
	case '+', '-':
		if at = datum(text, blank(text, at+1)); at < 0 {
			return -1
		}
		return datum(text, blank(text, at))
	case '\'', '.', 'p', '=', 's', 'a', 'c':
		return datum(text, blank(text, at+1))
	case ':', '*', 'b', 'o', 'x', 'r':
		return token(text, at)
	case '#':
		return at + 1
	}
	return -1
}

// token returns the end of the symbol or number that begins at at; -1 if none does.
func token(text string, at int) int {
	begin := at
	for at < len(text) && !strings.ContainsRune(" \t\r\n\f()\"';`,", rune(text[at])) {
		switch text[at] {
		case '\\':
			at++
		case '|':
			for at++; at < len(text) && text[at] != '|'; at++ {
			}
		}
		at++
	}
	if at == begin || at > len(text) {
		return -1
	}
	return at
}

// after returns the position behind the character at at, which ends a datum.
func after(text string, at int) int {
	if at >= len(text) {
		return -1
	}
	return at + 1
}

// elements returns the elements of the list s; nil if it is not read.
func elements(text string, s span) (all []span) {
	for at := blank(text, s.begin+1); at < s.end-1; at = blank(text, at) {
		end := datum(text, at)
		if end < 0 {
			return nil
		}
		all = append(all, span{at, end})
		at = end
	}
	return all
}

// topLevel returns the forms of a file's text. One that is not read ends before the next line
// that begins with a parenthesis.
func topLevel(text string) (all []span) {
	for at := blank(text, 0); at < len(text); at = blank(text, at) {
		end := datum(text, at)
		if end < 0 {
			if end = len(text); strings.Contains(text[at:], "\n(") {
				end = at + strings.Index(text[at:], "\n(")
			}
		}
		all = append(all, span{at, end})
		at = end
	}
	return all
}

var (
	inPackage = regexp.MustCompile(`(?i)^\((?:(?:cl|common-lisp):)?in-package\s+(?:(?:#?:|')([^\s()"|\\]+)|"([^"]+)")\s*\)$`)
	plainName = regexp.MustCompile(`^[A-Za-z0-9*+<>=/!?%&$_.@^~-]+$`)
)

// definitions returns those of an operator in the text of file. Those behind a #+ or #- are
// left out, and those whose name the file defines more than once.
func definitions(file, text, operator string) (found []definition) {
	pack := ""
	for _, s := range topLevel(text) {
		form := text[s.begin:s.end]
		if m := inPackage.FindStringSubmatch(form); m != nil {
			if pack = m[2]; m[1] != "" {
				pack = strings.ToUpper(m[1])
			}
		}
		parts := elements(text, s)
		if pack == "" || len(parts) < 4 || form[0] != '(' || s.begin > 0 && text[s.begin-1] != '\n' ||
			!strings.EqualFold(text[parts[0].begin:parts[0].end], operator) {
			continue
		}
		if name := text[parts[1].begin:parts[1].end]; plainName.MatchString(name) && definedOnce(name, text) {
			found = append(found, definition{file, pack, strings.ToUpper(name), text, s})
		}
	}
	return found
}

// definedOnce reports whether text has one form alone that seems to define name.
func definedOnce(name, text string) bool {
	return len(regexp.MustCompile(`(?i)\(\S*def\S*\s+\(?(?:setf\s+)?`+regexp.QuoteMeta(name)+`[\s()]`).FindAllStringIndex(text, 2)) == 1
}

// tokenOf matches name as a token.
func tokenOf(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[\s()'",@#:])` + regexp.QuoteMeta(name) + `(?:$|[\s()'",;:])`)
}

// mentions reports whether text has name as a token, outside the forms that make packages.
func mentions(text, name string) bool {
	token := tokenOf(name)
	packages := regexp.MustCompile(`(?i)^\(\S*(?:package|export|import)`)
	return slices.ContainsFunc(topLevel(text), func(s span) bool {
		form := text[s.begin:s.end]
		return !packages.MatchString(form) && token.MatchString(form)
	})
}

// body returns where the body of d begins and ends, without a docstring and declarations.
func (d definition) body() span {
	parts := elements(d.text, d.span)[3:]
	for i, p := range parts {
		part := d.text[p.begin:p.end]
		declares := strings.HasPrefix(part, "(declare") || part[0] == '#' && strings.Contains(part, "(declare")
		if !declares && (part[0] != '"' || i == len(parts)-1) {
			return span{p.begin, parts[len(parts)-1].end}
		}
	}
	end := d.end - 1
	return span{end, end}
}

// harmless is a form that does nothing, though the compiler keeps it.
const harmless = "(cl:setq cl:*gensym-counter* cl:*gensym-counter*)"

// edited returns the text of d with one form more.
func (d definition) edited() string {
	at := d.body()
	rest := d.text[at.begin:d.end]
	if at.begin == at.end {
		rest = " cl:nil" + rest
	}
	return d.text[d.begin:at.begin] + harmless + "\n  " + rest
}

// wrapped returns the text of d, a macro, whose expansions have one form more.
func (d definition) wrapped() string {
	at := d.body()
	return d.text[d.begin:at.begin] + "(cl:list 'cl:progn '" + harmless + " (cl:progn " + d.text[at.begin:at.end] + "))" + d.text[at.end:d.end]
}

// with returns the text of the file of d with form in the place of d.
func (d definition) with(form string) string { return d.text[:d.begin] + form + d.text[d.end:] }
