package lisp

import (
	"bytes"
	"embed"
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
