package lisp

import (
	"bytes"
	"embed"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// helperFiles are the sources of the Lisp package SWANK-MCP, and the definition of
// the system that they are, which has their order.
//
//go:embed helper/swank-mcp.asd helper/*/*.lisp
var helperFiles embed.FS

// helperComponent is one component of the system's definition: a module, which is
// a folder, or a file in the module before it, perhaps one that only SBCL reads, or SBCL
// on Unix.
var helperComponent = regexp.MustCompile(`\(:(module|file) "([a-z-]+)"(?: :if-feature (:sbcl|\(:and :sbcl :unix\)))?`)

// helperOrder returns the names of the helper's files, such as "core/wire", in the
// order in which they are loaded: that of the components in swank-mcp.asd.
func helperOrder() []string {
	order, _ := helperSystem()
	return order
}

// helperSystem returns helperOrder, and for files that not every Lisp reads the feature
// expression for those that do.
func helperSystem() (order []string, features map[string]string) {
	definition, err := helperFiles.ReadFile("helper/swank-mcp.asd")
	if err != nil {
		panic(err) // it is embedded
	}
	definition, _, _ = bytes.Cut(definition, []byte("\n(defsystem \"swank-mcp/tests\""))
	features = map[string]string{}
	var module string
	for _, m := range helperComponent.FindAllSubmatch(definition, -1) {
		if string(m[1]) == "module" {
			module = string(m[2])
		} else {
			name := module + "/" + string(m[2])
			order = append(order, name)
			features[name] = strings.ReplaceAll(string(m[3]), ":", "")
		}
	}
	return order, features
}

// helperPart is how long a part of the helper is at least, in bytes. SBCL keeps
// what it has made of a file until it has compiled all of it, some 500 bytes for
// each of the source: more than a person's image may have to spare.
const helperPart = 100_000

// helperParts returns the helper as Lisp source texts, to be loaded in that order. They are
// made once: each image of a process keeps them, and a process may have many.
var helperParts = sync.OnceValue(func() [][]byte {
	var parts [][]byte
	var b bytes.Buffer
	order, features := helperSystem()
	for i, name := range order {
		if feature := features[name]; feature != "" {
			// A form is read before its own in-package is evaluated.
			fmt.Fprintf(&b, "(cl:in-package #:swank-mcp)\n#+%s (progn\n%s)\n", feature, helperText(name))
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
})

// helperText returns the source of the helper's file of that name, such as "core/wire".
func helperText(name string) []byte {
	text, err := helperFiles.ReadFile("helper/" + name + ".lisp")
	if err != nil {
		panic(err) // swank-mcp.asd names a file that is not there
	}
	return text
}
