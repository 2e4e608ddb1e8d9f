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

// Text returns a string argument, or the parameter's default.
func (a *Args) Text(name string) string {
	v, p := a.value(name)
	if v == nil {
		s, _ := p.Def.(string)
		return s
	}
	if v[0] != '"' {
		a.Fail("%s must be a string, not %s.", name, describe(v))
		return ""
	}
	if lone := rawtext.LoneSurrogate(v); lone != "" {
		a.Fail("%s has the lone surrogate %s, which is no character of UTF-8 and cannot reach the image. In Lisp, (code-char #x%s) makes it.",
			name, lone, strings.ToUpper(lone[2:]))
		return ""
	}
	s := rawtext.Unquote(v)
	if len(p.Enum) == 0 {
		if name == "code" || name == "form" {
			return Unfenced(s)
		}
		return s
	}
	if p.Fold != nil {
		s = p.Fold(strings.TrimSpace(s))
	}
	for _, e := range p.Enum {
		if strings.EqualFold(e, strings.TrimSpace(s)) {
			return e
		}
	}
	a.Fail("%s is %q; valid: %s.", name, rawtext.Clip(s, 60), strings.Join(p.Enum, ", "))
	return ""
}

// Number returns a numeric argument within the parameter's bounds, or its default.
func (a *Args) Number(name string) float64 {
	v, p := a.value(name)
	if v == nil {
		f, _ := p.Def.(float64)
		return f
	}
	f, ok := number(v)
	if !ok {
		a.Fail("%s must be a number, not %s.", name, describe(v))
		return 0
	}
	if f < p.Min || f > p.Max || p.Above && f == p.Min {
		a.Fail("%s is %s; it must be %s.", name, plainNumber(f), p.Bounds())
		return 0
	}
	return f
}

// Integer is number for whole numbers.
func (a *Args) Integer(name string) int {
	f := a.Number(name)
	if f != math.Trunc(f) {
		a.Fail("%s is %s; it must be a whole number.", name, plainNumber(f))
		return 0
	}
	return int(f)
}

// Flag returns a boolean argument, or its default; that is false if there is none.
func (a *Args) Flag(name string) bool {
	v, p := a.value(name)
	if v == nil {
		def, _ := p.Def.(bool)
		return def
	}
	switch strings.ToLower(strings.TrimSpace(strings.Trim(string(v), `"`))) {
	case "true":
		return true
	case "false", "":
		return false
	}
	a.Fail("%s must be true or false, not %s.", name, describe(v))
	return false
}

// Named reads a required argument that is the name of something.
func (a *Args) Named(argument string) string {
	name := strings.TrimSpace(a.Text(argument))
	if a.Err == nil && name == "" {
		a.Fail("%s is empty; it must be a name such as %s.", argument, "mapcar or my-package:thing")
	}
	return name
}

// Optional returns a number, or 0 if it was not given.
func (a *Args) Optional(name string) float64 {
	if v, _ := a.value(name); v == nil {
		return 0
	}
	return a.Number(name)
}

// TextOrNumber is text for arguments that may be written as numbers.
func (a *Args) TextOrNumber(name string) string {
	if v, _ := a.value(name); len(v) > 0 && v[0] != '"' {
		if _, ok := number(v); ok {
			return string(v)
		}
	}
	return a.Text(name)
}

// number reads a JSON number or a string that holds one.
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
