//go:build unix

package model

import (
	"fmt"
	"strings"

	"swank-mcp/e2e/harness"
)

// way is a way to have code evaluated.
type way struct {
	calls func(code string, n int) []Call // $p in it is the package of what is defined
	bare  bool                            // it goes there, and the code names no package
	// What it defines may have no source: of all kinds, or of those that close
	// over something.
	loses, nests bool
}

func inCode(format string) func(string, int) []Call {
	return func(code string, _ int) []Call {
		return []Call{Eval(strings.ReplaceAll(format, "$c", code))}
	}
}

func byTool(name string, args harness.Object, format string) func(string, int) []Call {
	return func(code string, _ int) []Call {
		with := harness.Object{"code": strings.ReplaceAll(format, "$c", code)}
		for k, v := range args {
			with[k] = v
		}
		return []Call{Tool(name, with)}
	}
}

// inFile has the code in a file, of its own for each step.
func inFile(call func(file string) Call) func(string, int) []Call {
	return func(code string, n int) []Call {
		file := fmt.Sprintf("f%d.lisp", n)
		return []Call{File(file, code+"\n"), call(file)}
	}
}

func byPath(name string) func(string) Call {
	return func(file string) Call { return Tool(name, harness.Object{"path": file}) }
}

func followed(calls func(string, int) []Call, more Call) func(string, int) []Call {
	return func(code string, n int) []Call { return append(calls(code, n), more) }
}

const neverDefined = "(defun cl-user::op-never () 0)"

var ways = []way{
	{calls: inCode("$c")}, {calls: inCode("$c")}, {calls: inCode("$c")}, {calls: inCode("$c")},
	{calls: inCode("(progn 1 $c)")},
	{calls: byTool("evaluate-lisp", harness.Object{"debug": 0}, "$c")}, // keeps no forms
	{calls: inCode("(let () $c)"), nests: true},
	{calls: inCode("(eval '$c)"), nests: true},
	{calls: inCode("(in-package :$p) $c (in-package :cl-user)"), bare: true},
	{calls: inCode("(when (find-package :cl) $c)"), nests: true},
	{calls: inCode("(ignore-errors $c (error \"x\") " + neverDefined + ")"), nests: true},
	{calls: inCode("(funcall (compile nil '(lambda () $c)))"), nests: true},
	{calls: inCode("(sb-thread:join-thread (sb-thread:make-thread (lambda () $c)))"), nests: true},
	// forms that end abnormally
	{calls: inCode("(progn $c (error \"x\") " + neverDefined + ")")},
	{calls: inCode("$c (error \"x\") " + neverDefined)},
	{calls: byTool("evaluate-lisp", harness.Object{"timeout": 2}, "(progn $c (loop (sleep 0.01)) "+neverDefined+")")},
	{calls: followed(byTool("evaluate-lisp", harness.Object{"on-error": "debug"}, "(progn $c (error \"x\") "+neverDefined+")"), Tool("abort-evaluation", harness.Object{}))},
	{calls: followed(byTool("evaluate-lisp", harness.Object{"on-error": "debug"}, "(progn (cerror \"Go on.\" \"x\") $c)"), Tool("invoke-restart", harness.Object{"restart": "CONTINUE"}))},
	{calls: followed(byTool("evaluate-lisp", harness.Object{"on-error": "debug"}, "(progn $c (cerror \"Go on.\" \"x\") 1)"), Tool("invoke-restart", harness.Object{"restart": "CONTINUE"}))},
	// other tools
	{calls: byTool("compile-form", nil, "$c")},
	{calls: byTool("inspect-object", nil, "(progn $c (list 1))")},
	{calls: byTool("profile-code", nil, "(progn $c)")},
	{calls: func(code string, n int) []Call {
		return []Call{Eval("(defun cl-user::traced () 1)"),
			Tool("trace-function", harness.Object{"functions": "cl-user::traced", "code": "(progn (cl-user::traced) " + code + ")"})}
	}},
	{calls: inFile(byPath("load-file"))}, {calls: inFile(byPath("load-file"))},
	{calls: inFile(byPath("compile-file"))}, {calls: inFile(byPath("compile-file"))},
	{calls: inFile(func(file string) Call {
		return Tool("load-session", harness.Object{"file": file})
	})},
	{calls: inFile(func(file string) Call { return Eval(fmt.Sprintf("(load %q)", file)) })},
	{calls: inFile(func(file string) Call {
		return Eval(fmt.Sprintf("(load (compile-file %q))", file))
	}), loses: true},
}

// nothings are ways to have code that do not evaluate it.
var nothings = []func(code string, n int) []Call{
	inCode("(macroexpand-1 '$c)"),
	inCode("(macroexpand '$c)"),
	inCode("(compile nil '(lambda () $c))"),
	inCode("(if nil $c 3)"),
	inCode("(let ((x nil)) (when x $c))"),
	inCode("(list '$c)"),
	inCode("(flet ((f () $c)) #'f)"),
	inCode("(progn (error \"x\") $c)"),
	inCode("(error \"x\") $c"),
	inCode("(handler-case (progn (error \"x\") $c) (error () 1))"),
	inCode("(ignore-errors (error \"x\") $c)"),
	func(code string, n int) []Call {
		return []Call{Eval(fmt.Sprintf("(defun cl-user::uncalled%d () %s)", n, code))}
	},
	func(code string, _ int) []Call {
		return []Call{Tool("macroexpand-form", harness.Object{"form": code})}
	},
	byTool("validate-syntax", nil, "$c"),
	byTool("compile-form", harness.Object{"load": false}, "(progn 1 (let () $c))"),
	byTool("disassemble-function", harness.Object{}, "$c"),
}
