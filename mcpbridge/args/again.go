package args

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"swank-mcp/mcpbridge/rawtext"
)

// Instead is a line with the call once more, in which the name written is replaced by
// the name meant; "" if no argument has it. If it is the whole of an argument, as the
// name of a package, it is replaced only there.
func (a *Args) Instead(written, meant string) string {
	if written == "" || !utf8.ValidString(written) {
		return ""
	}
	alone := slices.ContainsFunc(a.given, func(g argument) bool { return g.isName(written) })
	var members []member
	var changed []string
	for _, g := range a.given {
		v := g.value
		if v[0] == '"' && (!alone || g.isName(written)) {
			old := rawtext.Unquote(v)
			if s := rename(old, written, meant); s != old {
				v = json.RawMessage(rawtext.Quote(s))
				changed = append(changed, g.param.Name)
			}
		}
		members = append(members, member{g.param.Name, v})
	}
	if len(changed) == 0 {
		return ""
	}
	return a.suggest(members, changed)
}

// With is a line with the call once more, in which one argument has that value.
func (a *Args) With(name string, value json.RawMessage) string {
	var members []member
	given := false
	for _, g := range a.given {
		v := g.value
		if g.param.Name == name {
			v, given = value, true
		}
		members = append(members, member{g.param.Name, v})
	}
	if !given {
		members = append(members, member{name, value})
	}
	return a.suggest(members, []string{name})
}

// Asking is a line with the call once more, in which the argument name comes first and
// has the value, and those in without are left out.
func (a *Args) Asking(name, value string, without ...string) string {
	members := []member{{name, json.RawMessage(rawtext.Quote(value))}}
	for _, g := range a.given {
		if g.param.Name != name && !slices.Contains(without, g.param.Name) {
			members = append(members, member{g.param.Name, g.value})
		}
	}
	return "Next: " + a.Tool + " " + object(members)
}

func (g *argument) isName(name string) bool {
	return g.value[0] == '"' && strings.EqualFold(strings.TrimSpace(rawtext.Unquote(g.value)), name)
}

// rename replaces the name written, in any case, by the name meant, where it is not a
// part of a longer name. A name that ends in a colon is the beginning of a longer
// name, and one that begins with a colon its end.
func rename(text, written, meant string) string {
	var b strings.Builder
	done := 0
	for _, at := range regexp.MustCompile("(?i)"+regexp.QuoteMeta(written)).FindAllStringIndex(text, -1) {
		before, _ := utf8.DecodeLastRuneInString(text[:at[0]])
		after, _ := utf8.DecodeRuneInString(text[at[1]:])
		begins := at[0] == 0 || !ofName(before) || before == ':' || strings.HasPrefix(written, ":") // as in #:name
		ends := at[1] == len(text) || !ofName(after) || strings.HasSuffix(written, ":")
		if !begins || !ends {
			continue
		}
		with := meant
		// a file's name has a case of its own
		if text[at[0]:at[1]] != strings.ToUpper(written) && meant == strings.ToUpper(meant) {
			with = strings.ToLower(meant)
		}
		b.WriteString(text[done:at[0]] + with)
		done = at[1]
	}
	return b.String() + text[done:]
}

// ofName reports whether r, beside a name, belongs to it.
func ofName(r rune) bool { return !unicode.IsSpace(r) && !strings.ContainsRune("()\"'`,;|", r) }
