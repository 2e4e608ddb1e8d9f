package mcpbridge

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// declares reports whether the tool has a parameter of that name.
func (a *args) declares(name string) bool {
	p, _ := a.find(name)
	return p != nil
}

// has reports whether the argument was given.
func (a *args) has(name string) bool {
	return slices.ContainsFunc(a.given, func(g argument) bool { return g.param.name == name })
}

// code returns the argument that holds code, and its name; "" if none was given.
func (a *args) code() (name, code string) {
	for _, g := range a.given {
		if (g.param.name == "code" || g.param.name == "form") && g.value[0] == '"' {
			name, code = g.param.name, unquote(g.value)
		}
	}
	return name, code
}

// text returns a string argument, or the parameter's default.
func (a *args) text(name string) string {
	v, p := a.value(name)
	if v == nil {
		s, _ := p.def.(string)
		return s
	}
	if v[0] != '"' {
		a.fail("%s must be a string, not %s.", name, describe(v))
		return ""
	}
	if lone := loneSurrogate(v); lone != "" {
		a.fail("%s has the lone surrogate %s, which is no character of UTF-8 and cannot reach the image. In Lisp, (code-char #x%s) makes it.",
			name, lone, strings.ToUpper(lone[2:]))
		return ""
	}
	s := unquote(v)
	if len(p.enum) == 0 {
		if name == "code" || name == "form" {
			return unfenced(s)
		}
		return s
	}
	if p.fold != nil {
		s = p.fold(strings.TrimSpace(s))
	}
	for _, e := range p.enum {
		if strings.EqualFold(e, strings.TrimSpace(s)) {
			return e
		}
	}
	a.fail("%s is %q; valid: %s.", name, clip(s, 60), strings.Join(p.enum, ", "))
	return ""
}

// number returns a numeric argument within the parameter's bounds, or its default.
func (a *args) number(name string) float64 {
	v, p := a.value(name)
	if v == nil {
		f, _ := p.def.(float64)
		return f
	}
	f, ok := number(v)
	if !ok {
		a.fail("%s must be a number, not %s.", name, describe(v))
		return 0
	}
	if f < p.min || f > p.max || p.above && f == p.min {
		a.fail("%s is %s; it must be %s.", name, plainNumber(f), p.bounds())
		return 0
	}
	return f
}

// integer is number for whole numbers.
func (a *args) integer(name string) int {
	f := a.number(name)
	if f != math.Trunc(f) {
		a.fail("%s is %s; it must be a whole number.", name, plainNumber(f))
		return 0
	}
	return int(f)
}

// flag returns a boolean argument, or its default; that is false if there is none.
func (a *args) flag(name string) bool {
	v, p := a.value(name)
	if v == nil {
		def, _ := p.def.(bool)
		return def
	}
	switch strings.ToLower(strings.TrimSpace(strings.Trim(string(v), `"`))) {
	case "true":
		return true
	case "false", "":
		return false
	}
	a.fail("%s must be true or false, not %s.", name, describe(v))
	return false
}

// named reads a required argument that is the name of something.
func (a *args) named(argument string) string {
	name := strings.TrimSpace(a.text(argument))
	if a.err == nil && name == "" {
		a.fail("%s is empty; it must be a name such as %s.", argument, "mapcar or my-package:thing")
	}
	return name
}

// optional returns a number, or 0 if it was not given.
func (a *args) optional(name string) float64 {
	if v, _ := a.value(name); v == nil {
		return 0
	}
	return a.number(name)
}

// textOrNumber is text for arguments that may be written as numbers.
func (a *args) textOrNumber(name string) string {
	if v, _ := a.value(name); len(v) > 0 && v[0] != '"' {
		if _, ok := number(v); ok {
			return string(v)
		}
	}
	return a.text(name)
}

// number reads a JSON number or a string that holds one.
func number(v json.RawMessage) (float64, bool) {
	s := string(v)
	if len(v) > 0 && v[0] == '"' {
		s = strings.TrimSpace(unquote(v))
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
	return kind + " " + clip(string(v), 60)
}
