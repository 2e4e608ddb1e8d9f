package mcpbridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// argError is a call with arguments that the tool cannot take.
type argError struct {
	problem string // what was received and what is valid
	advice  string // the next call that works; see args.next
}

func (e *argError) Error() string { return e.problem }

// args are the arguments of one call, taken by name with the methods below.
// The first wrong one is kept in err and the methods answer zero values from
// then on.
type args struct {
	spec
	err     *argError
	short   bool       // long ones have been let go
	given   []argument // nulls left out
	strange []member   // of no parameter
	twice   bool       // one was given by two names
}

// spec says what a tool takes.
type spec struct {
	tool    string // its name, for errors
	example string // arguments of a call that works, as a JSON object
	params  []param
}

// argument is one argument as it was written, under its parameter.
type argument struct {
	param   *param
	written string
	value   json.RawMessage
}

// parseArgs reads the arguments object of a call. Aliases become the
// parameter's own name; an unknown name is refused.
func parseArgs(s spec, raw json.RawMessage) *args {
	a := &args{spec: s}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return a
	}
	if raw[0] != '{' || !json.Valid(raw) {
		a.fail("%s takes its arguments as a JSON object, not %s.", s.tool, describe(raw))
		return a
	}
	a.given = make([]argument, 0, len(s.params))
	splitObject(raw, func(key, value []byte) {
		if string(value) != "null" {
			a.add(string(key), value)
		}
	})
	return a
}

// bigText is the length beyond which an argument is let go.
const bigText = 1 << 20

// letGo gives up long arguments, which have been read, so that they do not take as
// much room once more while the call is at work.
func (a *args) letGo() {
	for i := range a.given {
		if g := &a.given[i]; len(g.value) > bigText {
			g.value, a.short = json.RawMessage(`""`), true
		}
	}
}

// add takes one argument. The same name again replaces it, as JSON readers do;
// an alias beside the name, or two of them, contradict each other.
func (a *args) add(name string, value json.RawMessage) {
	p, scale := a.find(name)
	if p == nil {
		a.strange = append(a.strange, member{name, value})
		a.unknown(name)
		return
	}
	if scale != 1 {
		value = scaled(value, scale)
	}
	for i := range a.given {
		g := &a.given[i]
		if g.param != p {
			continue
		}
		if g.written != name {
			a.twice = true
			a.fail("%s was given %s twice, as %q and %q.", a.tool, p.name, g.written, name)
		}
		g.value = value
		return
	}
	a.given = append(a.given, argument{p, name, value})
}

// find returns the parameter that goes by the name, case aside and with - and
// _ alike, and the factor that the alias implies.
func (a *args) find(name string) (*param, float64) {
	for i := range a.params {
		if a.params[i].name == name {
			return &a.params[i], 1
		}
	}
	same := func(other string) bool {
		return strings.EqualFold(strings.ReplaceAll(other, "_", "-"), strings.ReplaceAll(name, "_", "-"))
	}
	for i := range a.params {
		p := &a.params[i]
		if same(p.name) {
			return p, 1
		}
		for _, al := range p.aliases {
			if same(al.name) {
				return p, al.factor()
			}
		}
	}
	return nil, 1
}

// scaled multiplies a number or numeric string; what is neither stays, to be
// refused under its own name.
func scaled(value json.RawMessage, scale float64) json.RawMessage {
	if f, ok := number(value); ok {
		return strconv.AppendFloat(nil, f*scale, 'g', -1, 64)
	}
	return value
}

func (a *args) fail(format string, v ...any) {
	if a.err == nil {
		a.err = &argError{problem: fmt.Sprintf(format, v...)}
	}
}

func (a *args) unknown(name string) {
	var names []string
	for _, p := range a.params {
		if !p.hidden {
			names = append(names, p.name)
		}
	}
	problem := fmt.Sprintf("%s has no argument %q.", a.tool, clip(name, 60))
	if near := nearest(name, names); near != "" {
		problem += fmt.Sprintf(" Nearest: %q.", near)
	}
	if len(names) == 0 {
		problem += " It takes none."
	} else {
		problem += " Valid: " + strings.Join(names, ", ") + "."
	}
	a.fail("%s", problem)
}

func (a *args) value(name string) (json.RawMessage, *param) {
	p, _ := a.find(name)
	if p == nil {
		panic("mcpbridge: " + a.tool + " reads the undeclared argument " + name)
	}
	var v json.RawMessage
	for _, g := range a.given {
		if g.param == p {
			v = g.value
		}
	}
	if v == nil && p.required {
		a.fail("%s needs the argument %q.", a.tool, name)
	}
	if a.err != nil {
		return nil, p
	}
	return v, p
}
