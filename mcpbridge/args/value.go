package args

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"swank-mcp/mcpbridge/rawtext"
)

// Declares reports whether the tool has a parameter of that name.
func (a *Args) Declares(name string) bool {
	p, _ := a.find(name)
	return p != nil
}

// Has reports whether the argument was given.
func (a *Args) Has(name string) bool {
	return slices.ContainsFunc(a.given, func(g argument) bool { return g.param.Name == name })
}

// Code returns the argument that holds code, and its name; "" if none was given.
func (a *Args) Code() (name, code string) {
	for _, g := range a.given {
		if (g.param.Name == "code" || g.param.Name == "form") && g.value[0] == '"' {
			name, code = g.param.Name, rawtext.Unquote(g.value)
		}
	}
	return name, code
}

// check makes Err of the first argument that is not what its parameter declares, or is
// missing. So the methods below have nothing to refuse but what only one tool does.
func (a *Args) check() {
	for i := range a.Params {
		p := &a.Params[i]
		v := a.raw(p)
		switch {
		case v == nil && p.Required:
			a.Fail("%s needs the argument %q.", a.Tool, p.Name)
		case v == nil:
		case p.Kind == Text:
			a.checkText(p, v)
		case p.Kind == Flag:
			if _, ok := flag(v); !ok {
				a.Fail("%s must be true or false, not %s.", p.Name, describe(v))
			}
		default:
			a.checkNumber(p, v)
		}
	}
}

func (a *Args) checkText(p *Param, v json.RawMessage) {
	if v[0] != '"' {
		if _, isNumber := number(v); !p.OrNumber || !isNumber {
			a.Fail("%s must be a string, not %s.", p.Name, describe(v))
		}
	} else if lone := rawtext.LoneSurrogate(v); lone != "" {
		a.Fail("%s has the lone surrogate %s, which is no character of UTF-8 and cannot reach the image. In Lisp, (code-char #x%s) makes it.",
			p.Name, lone, strings.ToUpper(lone[2:]))
	} else if n, long := p.tooLong(v); long {
		a.Fail("%s has %d bytes; it may have %d. Only code and input may be longer.", p.Name, n, MaxName)
	} else if len(p.Enum) > 0 {
		if s := rawtext.Unquote(v); p.choice(s) == "" {
			a.Fail("%s is %q; valid: %s.", p.Name, rawtext.Clip(p.folded(s), 60), strings.Join(p.Enum, ", "))
		}
	}
}

// MaxName is the length in bytes of the longest text that is neither code nor input: a name,
// a path, a pattern. What is looked up by these takes more time the longer they are.
const MaxName = 20_000

// tooLong reports whether the text v is longer than p takes it, and how many bytes it has.
func (p *Param) tooLong(v json.RawMessage) (n int, long bool) {
	if len(v) <= MaxName || p.Kind != Text || len(p.Enum) > 0 || v[0] != '"' {
		return 0, false
	}
	switch p.Name {
	case "code", "form", "input", "values":
		return 0, false
	}
	n = len(rawtext.Unquote(v))
	return n, n > MaxName
}

func (a *Args) checkNumber(p *Param, v json.RawMessage) {
	switch f, ok := p.number(v); {
	case !ok:
		a.Fail("%s must be a number, not %s.", p.Name, describe(v))
	case f < p.Min || f > p.Max || p.Above && f == p.Min:
		a.Fail("%s is %s; it must be %s.", p.Name, plainNumber(f), p.Bounds())
	case p.Kind == Integer && f != math.Trunc(f):
		a.Fail("%s is %s; it must be a whole number.", p.Name, plainNumber(f))
	}
}

// folded is s as the parameter takes it, without what Fold does away with.
func (p *Param) folded(s string) string {
	if p.Fold != nil {
		return p.Fold(strings.TrimSpace(s))
	}
	return s
}

// choice returns the one of Enum that s means, or "".
func (p *Param) choice(s string) string {
	s = strings.TrimSpace(p.folded(s))
	for _, e := range p.Enum {
		if strings.EqualFold(e, s) {
			return e
		}
	}
	return ""
}

// Text returns a string argument, or the parameter's default; code without the fence
// around it.
func (a *Args) Text(name string) string {
	p := a.declared(name)
	v := a.raw(p)
	switch {
	case v == nil:
		s, _ := p.Def.(string)
		return s
	case v[0] != '"':
		return string(v)
	}
	s := rawtext.Unquote(v)
	switch {
	case len(p.Enum) > 0:
		return p.choice(s)
	case name == "code" || name == "form":
		return Unfenced(s)
	}
	return s
}

// Number returns a numeric argument, or its default, or 0.
func (a *Args) Number(name string) float64 {
	p := a.declared(name)
	v := a.raw(p)
	if v == nil {
		f, _ := p.Def.(float64)
		return f
	}
	f, _ := p.number(v)
	return f
}

// Integer is Number for whole numbers.
func (a *Args) Integer(name string) int { return int(a.Number(name)) }

// Flag returns a boolean argument, or its default; that is false if there is none.
func (a *Args) Flag(name string) bool {
	p := a.declared(name)
	v := a.raw(p)
	if v == nil {
		def, _ := p.Def.(bool)
		return def
	}
	value, _ := flag(v)
	return value
}

// flag reads a JSON boolean or a string that holds one; the empty string is false.
func flag(v json.RawMessage) (value, ok bool) {
	switch strings.ToLower(strings.TrimSpace(strings.Trim(string(v), `"`))) {
	case "true":
		return true, true
	case "false", "":
		return false, true
	}
	return false, false
}

// Named reads a required argument that is the name of something.
func (a *Args) Named(argument string) string {
	name := strings.TrimSpace(a.Text(argument))
	if a.Err == nil && name == "" {
		a.Fail("%s is empty; it must be a name such as %s.", argument, "mapcar or my-package:thing")
	}
	return name
}

// number reads a number that may have the parameter's prefix.
func (p *Param) number(v json.RawMessage) (float64, bool) {
	if p.Prefix != "" && v[0] == '"' {
		v = json.RawMessage(rawtext.Quote(strings.TrimPrefix(strings.TrimSpace(rawtext.Unquote(v)), p.Prefix)))
	}
	return number(v)
}

func number(v json.RawMessage) (float64, bool) {
	s := string(v)
	if len(v) > 0 && v[0] == '"' {
		s = strings.TrimSpace(rawtext.Unquote(v))
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

func plainNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// describe names a JSON value for an error: its kind and its beginning.
func describe(v json.RawMessage) string {
	kind := "the number"
	switch v[0] {
	case '"':
		kind = "the string"
	case '{':
		kind = "the object"
	case '[':
		kind = "the array"
	case 't', 'f':
		kind = "the boolean"
	}
	return kind + " " + rawtext.Clip(string(v), 60)
}
