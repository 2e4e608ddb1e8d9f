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

// Instead is a line with the call once more with one name for another; "" if it is not in an
// argument. One that is an argument by itself, as of a package, is changed only
// there.
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
	return a.told(members, changed)
}

// With is a line with the call once more with another value of one argument.
func (a *Args) With(name string, value json.RawMessage) string {
	var members []member
	for _, g := range a.given {
		v := g.value
		if g.param.Name == name {
			v = value
		}
		members = append(members, member{g.param.Name, v})
	}
	return a.told(members, []string{name})
}

// Asking is a line with the call once more, with a value for the argument name, which comes first,
// and without the arguments in without.
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

// rename puts the name meant for the name written, in whatever case, where that
// is not a part of a longer one. What ends in a colon is the beginning of one,
// and what begins with a colon the end.
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
