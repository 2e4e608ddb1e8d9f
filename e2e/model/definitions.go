//go:build unix

package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// homeOf returns a place of the slot, in CL-USER or a package that is made.
func (o *Session) homeOf(slot string, s Step) key {
	made := slices.Sorted(maps.Keys(o.packages)) // CL-USER is the first
	return key{slot, one(s, "", "", one(s, made...), one(s, made...)), nameIn(slot, s.IntN(3))}
}

// operatorKinds are those of functions and macros.
var operatorKinds = slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return k.slot != "operator" })

func (o *Session) takeDefine(s Step) []Call {
	kind := one(s, kinds...)
	return o.defined(kind, one(s, ways...), o.homeOf(kind.slot, s), s.N)
}

// takeLive defines over what a file of mini has.
func (o *Session) takeLive(s Step) []Call {
	return o.defined(one(s, operatorKinds...), one(s, ways...), key{"operator", "mini", fmt.Sprint("x", s.IntN(5))}, s.N)
}

// takeNothing has code that would define something, and does not.
func (o *Session) takeNothing(s Step) []Call {
	k := o.homeOf("operator", s)
	if !o.free(k) {
		return nil
	}
	o.known[k] = true
	if s.IntN(8) == 0 {
		return []Call{Eval(fmt.Sprintf("(ignore-errors (defun %s (x x) %d))", k.symbol(), s.N))}
	}
	return one(s, nothings...)(fillIn(one(s, operatorKinds[:3]...).define, k.symbol(), s.N), s.N)
}

// free reports whether functions can be at k. SBCL takes a macro away when it compiles a DEFUN
// of its name.
func (o *Session) free(k key) bool {
	f := o.facts[k]
	return o.has(k.pkg) && (f == nil || !f.macro)
}

// takeSetup defines a function that defines when it is called.
func (o *Session) takeSetup(s Step) []Call {
	kind, k := one(s, operatorKinds...), o.homeOf("operator", s)
	if !o.free(k) {
		return nil
	}
	o.setups = append(o.setups, setup{s.N, k, kind})
	return []Call{Eval(fmt.Sprintf("(defun cl-user::setup%d () %s)", s.N, fillIn(kind.define, k.symbol(), s.N)))}
}

func (o *Session) takeCall(s Step) []Call {
	if len(o.setups) == 0 {
		return nil
	}
	setup := one(s, o.setups...)
	if !o.fits(setup.kind, setup.key) {
		return nil
	}
	o.define(setup.key, setup.kind, setup.n, setup.kind.loses || setup.kind.closes())
	return []Call{Eval(fmt.Sprintf("(cl-user::setup%d)", setup.n))}
}

// takePair uses a macro of the user's, which expands to two definitions.
func (o *Session) takePair(s Step) (calls []Call) {
	if !o.pair {
		calls = append(calls, Eval("(defmacro cl-user::defpair (a b n) `(progn (defun ,a () ,n) (defparameter ,b ,n)))"))
	}
	o.pair = true
	which := s.IntN(3)
	a, b := key{"operator", "", nameIn("operator", which)}, key{"variable", "", nameIn("variable", which)}
	o.define(a, plainDefun, s.N, false)
	o.define(b, plainDefun, s.N, false)
	return append(calls, one(s, ways...).callsIn("", fmt.Sprintf("(cl-user::defpair %s %s %d)", a.symbol(), b.symbol(), s.N), s.N)...)
}

// closes reports whether the definition itself does not say all: it needs what is
// around it, or is no defining form.
func (k kind) closes() bool {
	return k.slot == "operator" && !strings.Contains(k.define, "(defun $s () $n)") &&
		!strings.Contains(k.define, "(defmacro $s () $n)") && !strings.HasPrefix(k.define, "(eval ")
}

func (o *Session) defined(kind kind, way way, k key, n int) []Call {
	if !o.fits(kind, k) {
		return nil
	}
	value := n
	if k.slot == "constant" && o.facts[k] != nil {
		fmt.Sscan(o.facts[k].answer, &value) // it can have no other
	}
	symbol := k.symbol()
	if way.bare {
		symbol = k.name
	}
	o.define(k, kind, value, kind.loses || way.loses || way.nests && kind.closes())
	return way.callsIn(k.pkg, fillIn(kind.define, symbol, value), n)
}

// callsIn are the calls of the way for code that defines something in pkg.
func (w way) callsIn(pkg, code string, n int) []Call {
	calls := w.calls(code, n)
	for _, c := range calls {
		if code, ok := c.Args["code"].(string); ok {
			c.Args["code"] = strings.ReplaceAll(code, "$p", cmp.Or(pkg, "cl-user"))
		}
	}
	return calls
}

// takeUndo undoes a definition; the system's are the system's.
func (o *Session) takeUndo(s Step) []Call {
	k, ok := o.undoable(s)
	if !ok {
		return nil
	}
	method := strings.HasPrefix(k.slot, "method ")
	code := k.undo()
	switch {
	case code != "" && (!method || s.IntN(2) == 0):
		o.gone(func(other key) bool { return other == k })
	case method:
		code = "(fmakunbound '" + k.symbol() + ")"
		o.gone(func(other key) bool { return other.pkg == k.pkg && other.name == k.name })
	default:
		return nil
	}
	return []Call{Eval(code)}
}

func (o *Session) takeUnintern(s Step) []Call {
	k, ok := o.undoable(s)
	if !ok {
		return nil
	}
	o.gone(func(other key) bool { return other.pkg == k.pkg && other.name == k.name })
	return []Call{Eval(fmt.Sprintf("(unintern '%s :%s)", k.symbol(), cmp.Or(k.pkg, "cl-user")))}
}

// undoable chooses among what is there.
func (o *Session) undoable(s Step) (key, bool) {
	there := slices.DeleteFunc(sorted(o.now()), func(k key) bool { return o.facts[k] == nil || k.pkg == "mini" || k.slot == "package" })
	if len(there) == 0 {
		return key{}, false
	}
	return one(s, there...), true
}
