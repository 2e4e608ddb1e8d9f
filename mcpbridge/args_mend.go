package mcpbridge

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
)

// maxMended is how long the next call of an error may be. A longer one, with
// a page of code perhaps, is told by what to change.
const maxMended = 400

// next is the advice of an error about arguments: the caller's own call,
// mended, which the tool takes.
func (a *args) next() string {
	mended, changed := a.mended()
	if len(mended) == 0 || len(changed) == 0 && !a.twice {
		// What is wrong is not the form of one argument.
		return "Next: " + a.tool + " " + a.example
	}
	return a.told(mended, changed)
}

// told shows a call of which some arguments are not as they were.
func (a *args) told(members []member, changed []string) string {
	text := "Next: " + a.tool + " " + object(members)
	if len(text) <= maxMended {
		return text
	}
	kept := slices.DeleteFunc(members, func(m member) bool { return !slices.Contains(changed, m.name) })
	text = "Next: " + a.tool + " with the other arguments as they were"
	if len(kept) > 0 {
		text += " and " + clip(object(kept), maxMended)
	}
	return text
}

// member is one argument of a call that is to be shown.
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
		b.WriteString(quote(m.name) + ": " + string(m.value))
	}
	b.WriteByte('}')
	return b.String()
}

// mended returns the arguments that were given with what is wrong about them
// put right, or left out where there is no telling, and the names of those
// that are not as they were.
func (a *args) mended() (members []member, changed []string) {
	usual := a.usual()
	put := func(p *param, v json.RawMessage) {
		fixed := p.mend(v)
		if fixed == nil {
			fixed = usual[p.name]
		}
		if fixed == nil || !p.required && string(fixed) == quote(p.def) {
			changed = append(changed, p.name)
			return
		}
		if string(fixed) != string(v) {
			changed = append(changed, p.name)
		}
		members = append(members, member{p.name, fixed})
	}
	has := func(p *param) bool {
		return slices.ContainsFunc(a.given, func(g argument) bool { return g.param == p }) ||
			slices.ContainsFunc(members, func(m member) bool { return m.name == p.name })
	}
	for _, g := range a.given {
		put(g.param, g.value)
	}
	for _, u := range a.strange {
		changed = append(changed, u.name)
		if p := a.meant(u.name, has); p != nil && p.kind.holds(u.value) {
			changed = append(changed, p.name)
			put(p, u.value)
		}
	}
	for i := range a.params {
		if p := &a.params[i]; p.required && !has(p) {
			changed = append(changed, p.name)
			put(p, usual[p.name])
		}
	}
	return members, changed
}

// meant returns the parameter that an unknown name stands for: the nearest, or
// the only required one that is missing.
func (a *args) meant(name string, has func(*param) bool) *param {
	var names []string
	var missing []*param
	for i := range a.params {
		p := &a.params[i]
		if has(p) {
			continue
		}
		if p.required {
			missing = append(missing, p)
		}
		if !p.hidden {
			names = append(names, p.name)
		}
	}
	if near := nearest(name, names); near != "" {
		p, _ := a.find(near)
		return p
	}
	if len(missing) == 1 {
		return missing[0]
	}
	return nil
}

// usual are the arguments of the tool's example.
func (a *args) usual() map[string]json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(a.example), &m) != nil {
		panic("mcpbridge: the example of " + a.tool + " is no object")
	}
	return m
}

// holds reports whether v is of kind k, as it is written.
func (k kind) holds(v json.RawMessage) bool {
	switch k {
	case kindText:
		return v[0] == '"'
	case kindFlag:
		return v[0] == 't' || v[0] == 'f'
	}
	_, ok := number(v)
	return ok
}

var leadingNumber = regexp.MustCompile(`^\s*-?[0-9]+(\.[0-9]+)?`)

// mend returns v if it is a value of p, else the nearest one, or nil.
func (p *param) mend(v json.RawMessage) json.RawMessage {
	switch {
	case len(v) == 0:
		return nil
	case p.kind == kindFlag:
		switch strings.ToLower(strings.Trim(string(v), `" `)) {
		case "true", "yes", "on", "1", "t":
			return json.RawMessage("true")
		case "false", "no", "off", "0", "nil":
			return json.RawMessage("false")
		}
		return nil
	case p.kind == kindNumber, p.kind == kindInteger:
		return p.mendNumber(v)
	case len(p.enum) > 0 && v[0] == '"':
		return p.mendChoice(unquote(v))
	case v[0] == '"' && loneSurrogate(v) == "":
		return v
	case v[0] == '[':
		// A list of one text, or of several forms.
		var items []json.RawMessage
		if json.Unmarshal(v, &items) == nil && len(items) > 0 {
			var texts []string
			for _, item := range items {
				switch _, isNumber := number(item); {
				case item[0] == '"':
					texts = append(texts, unquote(item))
				case isNumber:
					texts = append(texts, string(item))
				default:
					return nil
				}
			}
			return json.RawMessage(quote(strings.Join(texts, " ")))
		}
	case v[0] != '"' && v[0] != '{' && len(p.enum) == 0:
		return json.RawMessage(quote(string(v)))
	}
	return nil
}

func (p *param) mendNumber(v json.RawMessage) json.RawMessage {
	f, ok := number(v)
	if !ok && v[0] == '"' {
		f, ok = number(json.RawMessage(quote(leadingNumber.FindString(unquote(v)))))
	}
	if !ok {
		return nil
	}
	if p.kind == kindInteger {
		f = math.Round(f)
	}
	f = min(max(f, p.min), p.max)
	if p.above && f == p.min {
		return nil
	}
	return json.RawMessage(plainNumber(f))
}

func (p *param) mendChoice(s string) json.RawMessage {
	if p.fold != nil {
		s = p.fold(strings.TrimSpace(s))
	}
	for _, e := range p.enum {
		if strings.EqualFold(e, strings.TrimSpace(s)) {
			return json.RawMessage(quote(e))
		}
	}
	if near := nearest(s, p.enum); near != "" {
		return json.RawMessage(quote(near))
	}
	return nil
}
