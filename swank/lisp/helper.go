package lisp

import (
	"bytes"
	"embed"
	"regexp"
	"strconv"
	"unicode/utf8"

	"swank-mcp/sexp"
)

// helperFiles are the sources of the Lisp package SWANK-MCP, and the definition of
// the system that they are, which has their order.
//
//go:embed helper/swank-mcp.asd helper/*/*.lisp
var helperFiles embed.FS

// helperComponent is one component of the system's definition: a module, which is
// a folder, or a file in the module before it.
var helperComponent = regexp.MustCompile(`\(:(module|file) "([a-z-]+)"`)

// helperOrder returns the names of the helper's files, such as "core/wire", in the
// order in which they are loaded: that of the components in swank-mcp.asd.
func helperOrder() []string {
	definition, err := helperFiles.ReadFile("helper/swank-mcp.asd")
	if err != nil {
		panic(err) // it is embedded
	}
	definition, _, _ = bytes.Cut(definition, []byte("\n(defsystem \"swank-mcp/tests\""))
	var order []string
	var module string
	for _, m := range helperComponent.FindAllSubmatch(definition, -1) {
		if string(m[1]) == "module" {
			module = string(m[2])
		} else {
			order = append(order, module+"/"+string(m[2]))
		}
	}
	return order
}

// helperPart is how long a part of the helper is at least, in bytes. SBCL keeps
// what it has made of a file until it has compiled all of it, some 500 bytes for
// each of the source: more than a person's image may have to spare.
const helperPart = 100_000

// helperParts returns the helper as Lisp source texts, to be loaded in that order.
func helperParts() [][]byte {
	var parts [][]byte
	var b bytes.Buffer
	order := helperOrder()
	for i, name := range order {
		text, err := helperFiles.ReadFile("helper/" + name + ".lisp")
		if err != nil {
			panic(err) // swank-mcp.asd names a file that is not there
		}
		b.Write(text)
		b.WriteByte('\n')
		if b.Len() >= helperPart || i == len(order)-1 {
			parts = append(parts, bytes.Clone(b.Bytes()))
			b.Reset()
		}
	}
	return parts
}

// helperSource returns the helper as one Lisp source text.
func helperSource() []byte { return bytes.Join(helperParts(), nil) }

// A helperCall is the text of a call of a function of SWANK-MCP, to be read in
// the image by eval-and-grab-output. A user may have changed readtable-case or
// *read-base* for everybody, so symbols are written between bars and integers
// with a decimal point.
type helperCall struct {
	text []byte
	long []longArgument // those that are not in text
	err  error
}

// newHelperCall begins a call of the exported function named in upper case.
func newHelperCall(function string) *helperCall {
	c := &helperCall{text: make([]byte, 0, 256)}
	c.text = append(c.text, "(|SWANK-MCP|:|"...)
	c.text = append(c.text, function...)
	c.text = append(c.text, '|')
	return c
}

// str adds a string argument.
func (c *helperCall) str(s string) *helperCall {
	c.text = append(c.text, ' ')
	if len(s) > longText && utf8.ValidString(s) {
		c.long = append(c.long, longArgument{len(c.text), s})
		return c
	}
	text, err := sexp.Append(c.text, s)
	if err != nil {
		c.err = err
		return c
	}
	c.text = text
	return c
}

// num adds an integer argument.
func (c *helperCall) num(n int64) *helperCall {
	c.text = append(c.text, ' ')
	c.text = strconv.AppendInt(c.text, n, 10)
	c.text = append(c.text, '.')
	return c
}

// key adds a keyword argument's name, or a keyword as a value, given in upper case.
func (c *helperCall) key(name string) *helperCall {
	c.text = append(c.text, " :|"...)
	c.text = append(c.text, name...)
	c.text = append(c.text, '|')
	return c
}

// yes adds the argument T.
func (c *helperCall) yes() *helperCall {
	c.text = append(c.text, " |COMMON-LISP|:|T|"...)
	return c
}

// no adds the argument NIL.
func (c *helperCall) no() *helperCall {
	c.text = append(c.text, " |COMMON-LISP|:|NIL|"...)
	return c
}
