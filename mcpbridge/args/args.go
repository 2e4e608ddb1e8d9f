package args

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"

	"swank-mcp/mcpbridge/rawtext"
)

// Error is a call with arguments that the tool cannot take.
type Error struct {
	Problem string // what was received and what is valid
	Advice  string // the next call that works; see Args.Next
}

func (e *Error) Error() string { return e.Problem }

// Args are the arguments of one call, taken by name with the methods below. The first
// wrong one is kept in Err.
type Args struct {
	Spec
	Err     *Error
	Short   bool       // long ones have been let go; see LetGo
	given   []argument // without those that are null
	strange []member   // arguments that the tool does not have
	twice   bool       // one argument was given by two of its names
}

// Spec says what a tool takes.
type Spec struct {
	Tool    string // its name, for errors
	Example string // arguments of a call that works, as a JSON object
	Params  []Param
}

type argument struct {
	param   *Param
	written string
	value   json.RawMessage
}

// Parse reads the arguments object of a call. Aliases become the parameter's own name;
// what the parameters do not declare is refused.
func Parse(s Spec, raw json.RawMessage) *Args {
	a := &Args{Spec: s}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		raw = []byte("{}")
	}
	if raw[0] != '{' || !json.Valid(raw) {
		a.Fail("%s takes its arguments as a JSON object, not %s.", s.Tool, describe(raw))
		return a
	}
	a.given = make([]argument, 0, len(s.Params))
	rawtext.Members(raw, func(key, value []byte) {
		if string(value) != "null" {
			a.add(string(key), value)
		}
	})
	if a.Err == nil {
		a.check()
	}
	return a
}

// bigText is the length beyond which an argument is let go.
const bigText = 1 << 20

// LetGo gives up long arguments, which have been read, so that they do not take as
// much room once more while the call is at work. The others are cloned: each is a part
// of the whole text.
func (a *Args) LetGo() {
	for i := range a.given {
		if g := &a.given[i]; len(g.value) > bigText {
			g.value, a.Short = json.RawMessage(`""`), true
		}
	}
	if !a.Short {
		return
	}
	for i := range a.given {
		a.given[i].value = bytes.Clone(a.given[i].value)
	}
	debug.FreeOSMemory() // further copies are made soon
}

// maxStrange bounds the arguments remembered that the tool does not have.
const maxStrange = 20

// add takes one argument. The same name again replaces it, as JSON readers do;
// an alias beside the name, or two of them, contradict each other.
func (a *Args) add(name string, value json.RawMessage) {
	p, scale := a.find(name)
	if p == nil {
		if len(a.strange) < maxStrange {
			a.strange = append(a.strange, member{name, value})
			a.unknown(name)
		}
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
			a.Fail("%s was given %s twice, as %q and %q.", a.Tool, p.Name, g.written, name)
		}
		g.value = value
		return
	}
	a.given = append(a.given, argument{p, name, value})
}

// find returns the parameter that goes by the name, case aside and with - and
// _ alike, and the factor that the alias implies.
func (a *Args) find(name string) (*Param, float64) {
	for i := range a.Params {
		if a.Params[i].Name == name {
			return &a.Params[i], 1
		}
	}
	same := func(other string) bool {
		return strings.EqualFold(strings.ReplaceAll(other, "_", "-"), strings.ReplaceAll(name, "_", "-"))
	}
	for i := range a.Params {
		p := &a.Params[i]
		if same(p.Name) {
			return p, 1
		}
		for _, al := range p.Aliases {
			if same(al.Name) {
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

// Fail makes a problem with the arguments Err, if it is the first, and returns Err.
func (a *Args) Fail(format string, v ...any) error {
	if a.Err == nil {
		a.Err = &Error{Problem: fmt.Sprintf(format, v...)}
	}
	return a.Err
}

func (a *Args) unknown(name string) {
	var names []string
	for _, p := range a.Params {
		if !p.Hidden {
			names = append(names, p.Name)
		}
	}
	problem := fmt.Sprintf("%s has no argument %q.", a.Tool, rawtext.Clip(name, 60))
	if near := Nearest(name, names); near != "" {
		problem += fmt.Sprintf(" Nearest: %q.", near)
	}
	if len(names) == 0 {
		problem += " It takes none."
	} else {
		problem += " Valid: " + strings.Join(names, ", ") + "."
	}
	a.Fail("%s", problem)
}

// declared returns the parameter of that name, which the tool must have.
func (a *Args) declared(name string) *Param {
	p, _ := a.find(name)
	if p == nil {
		panic("mcpbridge: " + a.Tool + " reads the undeclared argument " + name)
	}
	return p
}

// raw is the argument for p as it was written, nil if none was given.
func (a *Args) raw(p *Param) json.RawMessage {
	for _, g := range a.given {
		if g.param == p {
			return g.value
		}
	}
	return nil
}
