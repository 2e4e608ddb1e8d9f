package args

import (
	"cmp"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"

	"swank-mcp/mcpbridge/rawtext"
)

// MaxNext is the length in bytes of the longest call that an error suggests. Of a
// longer one, with a page of code perhaps, only the changed arguments are shown.
const MaxNext = 400

// Next is the advice of an error about arguments: the caller's own call,
// mended, which the tool takes.
func (a *Args) Next() string { return a.next(nil) }

// NextWith is Next where the call needs the argument name, too: with value, if the caller
// has given none that will do.
func (a *Args) NextWith(name string, value json.RawMessage) string {
	return a.next([]member{{name, value}})
}

func (a *Args) next(needed []member) string {
	mended, changed := a.mended()
	needed = slices.DeleteFunc(needed, func(n member) bool {
		return slices.ContainsFunc(mended, func(m member) bool { return m.name == n.name })
	})
	if len(mended) == 0 || len(changed) == 0 && !a.twice {
		// What is wrong is not the form of one argument.
		if len(needed) == 0 {
			return "Next: " + a.Tool + " " + a.Example
		}
		mended, changed = nil, nil
		rawtext.Members([]byte(a.Example), func(key, value []byte) {
			mended = append(mended, member{string(key), value})
		})
	}
	for _, n := range needed {
		mended, changed = append(mended, n), append(changed, n.name)
	}
	return a.suggest(mended, changed)
}

// suggest is a line with a call; changed are the arguments that differ from those given.
func (a *Args) suggest(members []member, changed []string) string {
	text := "Next: " + a.Tool + " " + object(members)
	if len(text) <= MaxNext {
		return text
	}
	kept := slices.DeleteFunc(members, func(m member) bool { return !slices.Contains(changed, m.name) })
	text = "Send " + a.Tool + " again with the other arguments as they were"
	if len(kept) > 0 {
		text += " and " + rawtext.Clip(object(kept), MaxNext)
	}
	return text
}

type member struct {
	name  string
	value json.RawMessage
}

func object(members []member) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(rawtext.Quote(m.name) + ": " + string(m.value))
	}
	b.WriteByte('}')
	return b.String()
}

// mended returns the arguments that were given, the wrong ones corrected, or left out
// where no correction is known, and the names of those that differ.
func (a *Args) mended() (members []member, changed []string) {
	usual := a.usual()
	put := func(p *Param, v json.RawMessage) {
		fixed := p.mend(v)
		if fixed == nil {
			fixed = usual[p.Name]
		}
		if fixed == nil || !p.Required && string(fixed) == rawtext.Quote(p.Def) {
			changed = append(changed, p.Name)
			return
		}
		if string(fixed) != string(v) {
			changed = append(changed, p.Name)
		}
		members = append(members, member{p.Name, fixed})
	}
	has := func(p *Param) bool {
		return slices.ContainsFunc(a.given, func(g argument) bool { return g.param == p }) ||
			slices.ContainsFunc(members, func(m member) bool { return m.name == p.Name })
	}
	for _, g := range a.given {
		put(g.param, g.value)
	}
	for _, u := range a.strange {
		changed = append(changed, u.name)
		if p := a.meant(u.name, has); p != nil && p.Kind.holds(u.value) {
			changed = append(changed, p.Name)
			put(p, u.value)
		}
	}
	for i := range a.Params {
		if p := &a.Params[i]; p.Required && !has(p) {
			changed = append(changed, p.Name)
			put(p, usual[p.Name])
		}
	}
	return members, changed
}

// meant returns the parameter that an unknown name stands for: the nearest, or
// the only required one that is missing.
func (a *Args) meant(name string, has func(*Param) bool) *Param {
	var names []string
	var missing []*Param
	for i := range a.Params {
		p := &a.Params[i]
		if has(p) {
			continue
		}
		if p.Required {
			missing = append(missing, p)
		}
		if !p.Hidden {
			names = append(names, p.Name)
		}
	}
	if near := Nearest(name, names); near != "" {
		p, _ := a.find(near)
		return p
	}
	if len(missing) == 1 {
		return missing[0]
	}
	return nil
}

// usual are the arguments of the tool's example.
func (a *Args) usual() map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(a.Example), &m) != nil {
		panic("mcpbridge: the example of " + a.Tool + " is no object")
	}
	return m
}

// Usual returns the argument of that name in the tool's example, nil if that has none.
func (a *Args) Usual(name string) json.RawMessage { return a.usual()[name] }

// holds reports whether v is of kind k, as it is written.
func (k Kind) holds(v json.RawMessage) bool {
	switch k {
	case Text:
		return v[0] == '"'
	case Flag:
		return v[0] == 't' || v[0] == 'f'
	}
	_, ok := number(v)
	return ok
}

var leadingNumber = regexp.MustCompile(`^\s*-?[0-9]+(\.[0-9]+)?`)

// mend returns v if it is a value of p, else the nearest one, or nil.
func (p *Param) mend(v json.RawMessage) json.RawMessage {
	if _, long := p.tooLong(v); long {
		return nil
	}
	switch {
	case len(v) == 0:
		return nil
	case p.Kind == Flag:
		switch strings.ToLower(strings.Trim(string(v), `" `)) {
		case "true", "yes", "on", "1", "t":
			return json.RawMessage("true")
		case "false", "no", "off", "0", "nil":
			return json.RawMessage("false")
		}
		return nil
	case p.Kind == Number, p.Kind == Integer:
		return p.mendNumber(v)
	case len(p.Enum) > 0 && v[0] == '"':
		return p.mendChoice(rawtext.Unquote(v))
	case v[0] == '"' && rawtext.LoneSurrogate(v) == "":
		return v
	case v[0] == '[':
		// A list of one text, or of several forms.
		var items []json.RawMessage
		if json.Unmarshal(v, &items) == nil && len(items) > 0 {
			var texts []string
			for _, item := range items {
				switch _, isNumber := number(item); {
				case item[0] == '"':
					texts = append(texts, rawtext.Unquote(item))
				case isNumber:
					texts = append(texts, string(item))
				default:
					return nil
				}
			}
			return json.RawMessage(rawtext.Quote(strings.Join(texts, " ")))
		}
	case v[0] != '"' && v[0] != '{' && len(p.Enum) == 0:
		return json.RawMessage(rawtext.Quote(string(v)))
	}
	return nil
}

func (p *Param) mendNumber(v json.RawMessage) json.RawMessage {
	f, ok := number(v)
	if !ok && v[0] == '"' {
		f, ok = number(json.RawMessage(rawtext.Quote(leadingNumber.FindString(rawtext.Unquote(v)))))
	}
	if !ok {
		return nil
	}
	if p.Kind == Integer {
		f = math.Round(f)
	}
	f = min(max(f, p.Min), p.Max)
	if p.Above && f == p.Min {
		return nil
	}
	return json.RawMessage(plainNumber(f))
}

func (p *Param) mendChoice(s string) json.RawMessage {
	if meant := cmp.Or(p.choice(s), Nearest(p.folded(s), p.Enum)); meant != "" {
		return json.RawMessage(rawtext.Quote(meant))
	}
	return nil
}
