package lisp

import (
	"bytes"
	"embed"
	"fmt"
	"regexp"
)

// helperFiles are the sources of the Lisp package SWANK-MCP, and the definition of
// the system that they are, which has their order.
//
//go:embed helper/swank-mcp.asd helper/*/*.lisp
var helperFiles embed.FS

// helperComponent is one component of the system's definition: a module, which is
// a folder, or a file in the module before it, perhaps one that only SBCL reads.
var helperComponent = regexp.MustCompile(`\(:(module|file) "([a-z-]+)"( :if-feature :sbcl)?`)

// helperOrder returns the names of the helper's files, such as "core/wire", in the
// order in which they are loaded: that of the components in swank-mcp.asd.
func helperOrder() []string {
	order, _ := helperSystem()
	return order
}

// helperSystem returns helperOrder, and which of the files only SBCL reads.
func helperSystem() (order []string, onlySBCL map[string]bool) {
	definition, err := helperFiles.ReadFile("helper/swank-mcp.asd")
	if err != nil {
		panic(err) // it is embedded
	}
	definition, _, _ = bytes.Cut(definition, []byte("\n(defsystem \"swank-mcp/tests\""))
	onlySBCL = map[string]bool{}
	var module string
	for _, m := range helperComponent.FindAllSubmatch(definition, -1) {
		if string(m[1]) == "module" {
			module = string(m[2])
		} else {
			name := module + "/" + string(m[2])
			order = append(order, name)
			onlySBCL[name] = len(m[3]) > 0
		}
	}
	return order, onlySBCL
}

// helperPart is how long a part of the helper is at least, in bytes. SBCL keeps
// what it has made of a file until it has compiled all of it, some 500 bytes for
// each of the source: more than a person's image may have to spare.
const helperPart = 100_000

// helperParts returns the helper as Lisp source texts, to be loaded in that order.
func helperParts() [][]byte {
	var parts [][]byte
	var b bytes.Buffer
	order, onlySBCL := helperSystem()
	for i, name := range order {
		if onlySBCL[name] {
			// A form is read before its own in-package is evaluated.
			fmt.Fprintf(&b, "(cl:in-package #:swank-mcp)\n#+sbcl (progn\n%s)\n", helperText(name))
		} else {
			b.Write(helperText(name))
			b.WriteByte('\n')
		}
		if b.Len() >= helperPart || i == len(order)-1 {
			parts = append(parts, bytes.Clone(b.Bytes()))
			b.Reset()
		}
	}
	return parts
}

// helperText returns the source of the helper's file of that name, such as "core/wire".
func helperText(name string) []byte {
	text, err := helperFiles.ReadFile("helper/" + name + ".lisp")
	if err != nil {
		panic(err) // swank-mcp.asd names a file that is not there
	}
	return text
}
