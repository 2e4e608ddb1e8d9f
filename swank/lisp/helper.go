package lisp

import (
	"bytes"
	"embed"
	"strconv"
	"unicode/utf8"

	"swank-mcp/sexp"
)

// helperFiles are the sources of the Lisp package SWANK-MCP.
//
//go:embed helper/*.lisp
var helperFiles embed.FS

// helperOrder is the order in which the helper's files are loaded.
var helperOrder = []string{
	"package", "wire", "sink", "conditions", "frames", "warnings",
	"session", "kinds", "interrupts", "stop",
	"noting", "definitions", "recording", "settle", "theirs", "kept", "guarded", "journal", "packages", "assign",
	"baseline", "undoing", "work", "stale", "registry", "structures", "systems", "listing",
	"locks", "suspend", "last-error", "inspect-frame", "debugger",
	"names", "advice", "inert", "source", "orphans", "describe", "apropos", "xref", "asdf",
	"reset", "exit", "session-threads", "binding-stack", "perform", "evaluate", "load", "expand", "heap", "guest-watch", "restore-watch", "restore", "owners-hooks", "attach", "joining", "echo", "threads", "status",
	"views", "inspect", "tracing", "leaving", "profiling", "allocation", "memory", "threadlist",
	"notes", "building", "compile", "disassemble", "test-frameworks", "tests",
}

// helperPart is how long a part of the helper is at least, in bytes. SBCL keeps
// what it has made of a file until it has compiled all of it, some 500 bytes for
// each of the source: more than a person's image may have to spare.
const helperPart = 100_000

// helperParts returns the helper as Lisp source texts, to be loaded in that order.
func helperParts() [][]byte {
	var parts [][]byte
	var b bytes.Buffer
	for i, name := range helperOrder {
		text, err := helperFiles.ReadFile("helper/" + name + ".lisp")
		if err != nil {
			panic(err) // the list above names a file that is not there
		}
		b.Write(text)
		b.WriteByte('\n')
		if b.Len() >= helperPart || i == len(helperOrder)-1 {
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
