package register

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/tailscale/hujson"
)

// addJSON returns text with the server in it: a new last member among the client's
// servers; or, of an entry that is there, another command and other arguments.
func addJSON(text []byte, c *Client, s Server) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	path := []string{c.key, ServerName}
	servers, err := lookup(text, path[:1])
	if err != nil {
		return nil, err
	}
	entry, err := lookup(text, path)
	switch {
	case err != nil:
		return nil, err
	case entry != nil:
		if text, err = set(text, append(path, "command"), s.Command); err != nil {
			return nil, err
		}
		return set(text, append(path, "args"), slicesOf(s.Args))
	case servers != nil:
		return set(text, path, ordered(c.entry(s)))
	}
	return set(text, path[:1], ordered{{ServerName, ordered(c.entry(s))}})
}

// slicesOf is args as it is written where there are none.
func slicesOf(args []string) []string { return append([]string{}, args...) }

// removeJSON returns text without the server; also without what held it, if that is
// empty then.
func removeJSON(text []byte, c *Client) ([]byte, error) {
	text, err := unset(text, []string{c.key, ServerName})
	if err != nil {
		return nil, err
	}
	if servers, err := lookup(text, []string{c.key}); err != nil || len(servers.Value.(*hujson.Object).Members) > 0 {
		return text, err
	}
	return unset(text, []string{c.key})
}

// parseJSON reads JSON that may have comments, as Go has it.
func parseJSON(text []byte) (value map[string]any, err error) {
	standard, err := hujson.Standardize(bytes.Clone(text))
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	d := json.NewDecoder(bytes.NewReader(standard))
	d.UseNumber()
	err = d.Decode(&value)
	return value, err
}

// ordered is an object that keeps its order.
type ordered []member

// indented writes a value with the line ends and the indentation of a file.
func indented(value any, at, unit, nl string) string {
	o, ok := value.(ordered)
	if !ok {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(value) // of strings and numbers it cannot fail
		return strings.ReplaceAll(strings.TrimSpace(b.String()), `","`, `", "`)
	}
	var b strings.Builder
	for i, m := range o {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "%s%s%q: %s", nl, at+unit, m.name, indented(m.value, at+unit, unit, nl))
	}
	return "{" + b.String() + nl + at + "}"
}

// lookup returns the value at path, nil if there is none. What stands above it must be
// objects, as must what is returned, and every name must be there only once.
func lookup(text []byte, path []string) (*hujson.Value, error) {
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	at := &v
	for i := 0; ; i++ {
		o, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("%s is no object", named(path[:i]))
		}
		if i == len(path) {
			return at, nil
		}
		n, err := find(o, path[i])
		if err != nil || n < 0 {
			return nil, err
		}
		at = &o.Members[n].Value
	}
}

func named(path []string) string {
	if len(path) == 0 {
		return "the whole of it"
	}
	return `"` + strings.Join(path, ".") + `"`
}

// find returns the place of a member, -1 if there is none.
func find(o *hujson.Object, name string) (int, error) {
	at := -1
	for i, m := range o.Members {
		if l, ok := m.Name.Value.(hujson.Literal); !ok || l.String() != name {
			continue
		}
		if at >= 0 {
			return 0, fmt.Errorf("%q is in it twice", name)
		}
		at = i
	}
	return at, nil
}

// set returns text with a value at path, whose parent is there.
func set(text []byte, path []string, value any) ([]byte, error) {
	parent, err := lookup(text, path[:len(path)-1])
	if err != nil {
		return nil, err
	}
	o, name := parent.Value.(*hujson.Object), path[len(path)-1]
	n, err := find(o, name)
	if err != nil {
		return nil, err
	}
	nl, unit := lineEnd(text), indentation(text)
	if n >= 0 {
		v := o.Members[n].Value
		if same(text[v.StartOffset:v.EndOffset], value) {
			return text, nil
		}
		return splice(text, v.StartOffset, v.EndOffset, indented(value, lineIndent(text, v.StartOffset), unit, nl)), nil
	}
	at := lineIndent(text, parent.StartOffset)
	made := nl + at + unit + fmt.Sprintf("%q: ", name) + indented(value, at+unit, unit, nl)
	if len(o.Members) == 0 {
		// Comments in the empty object stay before what is new.
		end := parent.EndOffset - 1
		from := parent.StartOffset + 1
		from += len(bytes.TrimRight(text[from:end], " \t\r\n"))
		return splice(text, from, end, made+nl+at), nil
	}
	last := o.Members[len(o.Members)-1].Value
	from, trailing := last.EndOffset, last.AfterExtra != nil
	if trailing {
		from += len(last.AfterExtra) + 1 // behind the comma
	}
	// A comment at the end of the last member's line belongs to that member.
	end := parent.EndOffset - 1
	to := from + len(bytes.TrimRight(text[from:end], " \t\r\n"))
	if first := o.Members[0].Name; !bytes.Contains(text[parent.StartOffset:first.StartOffset], []byte("\n")) {
		made = " " + strings.TrimLeft(made, " \t\r\n") // all in one line
	} else {
		in := lineIndent(text, first.StartOffset)
		made = nl + in + fmt.Sprintf("%q: ", name) + indented(value, in, unit, nl)
	}
	if trailing {
		return splice(text, to, to, made+","), nil
	}
	return splice(splice(text, to, to, made), from, from, ","), nil
}

// unset returns text without the member at path, which is there.
func unset(text []byte, path []string) ([]byte, error) {
	parent, err := lookup(text, path[:len(path)-1])
	if err != nil {
		return nil, err
	}
	o := parent.Value.(*hujson.Object)
	n, err := find(o, path[len(path)-1])
	if err != nil || n < 0 {
		return text, err
	}
	m := o.Members[n]
	from := m.Name.StartOffset - len(m.Name.BeforeExtra)
	from += len(bytes.TrimRight(m.Name.BeforeExtra, " \t\r\n")) // comments before it stay
	to := m.Value.EndOffset
	switch {
	case n+1 < len(o.Members) || m.Value.AfterExtra != nil:
		to += len(m.Value.AfterExtra) + 1
		text = splice(text, from, to, "")
	case n > 0: // the comma before it
		comma := o.Members[n-1].Value.EndOffset + len(o.Members[n-1].Value.AfterExtra)
		text = splice(splice(text, from, to, ""), comma, comma+1, "")
	default:
		text = splice(text, from, to, "")
	}
	if parent, err = lookup(text, path[:len(path)-1]); err != nil {
		return nil, err
	}
	if inside := text[parent.StartOffset+1 : parent.EndOffset-1]; len(bytes.TrimSpace(inside)) == 0 {
		text = splice(text, parent.StartOffset, parent.EndOffset, "{}")
	}
	return text, nil
}

// same reports whether the text of a value, which may have comments, says value.
func same(text []byte, value any) bool {
	standard, err := hujson.Standardize(bytes.Clone(text))
	made, errMade := json.Marshal(value)
	var a, b any
	return err == nil && errMade == nil && json.Unmarshal(standard, &a) == nil && json.Unmarshal(made, &b) == nil && reflect.DeepEqual(a, b)
}

func splice(text []byte, from, to int, by string) []byte {
	return append(append(bytes.Clone(text[:from]), by...), text[to:]...)
}

func lineEnd(text []byte) string {
	if bytes.Contains(text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// lineIndent are the blanks at the beginning of the line of an offset.
func lineIndent(text []byte, offset int) string {
	line := text[bytes.LastIndexByte(text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// indentation is that of the first member, two blanks if there is none.
func indentation(text []byte) string {
	v, err := hujson.Parse(text)
	if err == nil {
		if o, ok := v.Value.(*hujson.Object); ok && len(o.Members) > 0 {
			if in := lineIndent(text, o.Members[0].Name.StartOffset); in != "" {
				return in
			}
		}
	}
	return "  "
}
