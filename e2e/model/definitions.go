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

// operatorKinds lists the kinds that define a function or a macro.
var operatorKinds = slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return k.slot != "operator" })

func init() {
	maps.Copy(steps, map[string]step{
		"define": func(r *Run, s Step) bool {
			kind := one(s, kinds...)
			return r.defines(s, kind, r.homeOf(kind.slot, s))
		},
		"live": func(r *Run, s Step) bool { // over what a file of mini has
			return r.defines(s, one(s, operatorKinds...), key{"operator", "mini", fmt.Sprint("x", s.IntN(5))})
		},
		"nothing": func(r *Run, s Step) bool { // code that would define something
			k := r.homeOf("operator", s)
			if !r.free(k) {
				return false
			}
			r.known[k] = true
			if s.IntN(8) == 0 {
				return r.eval("(ignore-errors (defun %s (x x) %d))", k.symbol(), s.N)
			}
			return r.run(one(s, nothings...)(fillIn(one(s, operatorKinds[:3]...).define, k.symbol(), s.N), s.N)...)
		},
		"setup": func(r *Run, s Step) bool { // a function that defines when it is called
			kind, k := one(s, operatorKinds...), r.homeOf("operator", s)
			if !r.free(k) {
				return false
			}
			r.setups = append(r.setups, setup{s.N, k, kind})
			return r.eval("(defun cl-user::setup%d () %s)", s.N, fillIn(kind.define, k.symbol(), s.N))
		},
		"call": func(r *Run, s Step) bool {
			if len(r.setups) == 0 {
				return false
			}
			setup := one(s, r.setups...)
			if !r.fits(setup.kind, setup.key) {
				return false
			}
			r.define(setup.key, setup.kind, setup.n, setup.kind.loses || setup.kind.closes())
			return r.eval("(cl-user::setup%d)", setup.n)
		},
		"pair": func(r *Run, s Step) bool { // a macro of the user's, which expands to two definitions
			if !r.pair {
				r.eval("%s", "(defmacro cl-user::defpair (a b n) `(progn (defun ,a () ,n) (defparameter ,b ,n)))")
			}
			which := s.IntN(3)
			a, b := key{"operator", "", nameIn("operator", which)}, key{"variable", "", nameIn("variable", which)}
			r.pair = true
			r.define(a, plainDefun, s.N, false)
			r.define(b, plainDefun, s.N, false)
			return r.run(one(s, ways...).callsIn("", fmt.Sprintf("(cl-user::defpair %s %s %d)", a.symbol(), b.symbol(), s.N), s.N)...)
		},
		"undo definition": func(r *Run, s Step) bool {
			k, ok := r.undoable(s)
			method, code := strings.HasPrefix(k.slot, "method "), ""
			if ok {
				code = k.undo()
			}
			switch {
			case code != "" && (!method || s.IntN(2) == 0):
				r.gone(func(other key) bool { return other == k })
			case method:
				code = "(fmakunbound '" + k.symbol() + ")"
				r.gone(func(other key) bool { return other.pkg == k.pkg && other.name == k.name })
			default:
				return false
			}
			return r.eval("%s", code)
		},
		"unintern": func(r *Run, s Step) bool {
			k, ok := r.undoable(s)
			r.gone(func(other key) bool { return other.pkg == k.pkg && other.name == k.name })
			return ok && r.eval("(unintern '%s :%s)", k.symbol(), cmp.Or(k.pkg, "cl-user"))
		},
	})
}

// free reports whether functions can be at k. SBCL takes a macro away when it compiles a DEFUN
// of its name.
func (o *Session) free(k key) bool {
	f := o.facts[k]
	return o.has(k.pkg) && (f == nil || !f.macro)
}

// closes reports whether the definition itself does not say all: it needs what is
// around it, or is no defining form.
func (k kind) closes() bool {
	return k.slot == "operator" && !strings.Contains(k.define, "(defun $s () $n)") &&
		!strings.Contains(k.define, "(defmacro $s () $n)") && !strings.HasPrefix(k.define, "(eval ")
}

// defines makes a definition of the kind, in one of the ways, where it fits.
func (r *Run) defines(s Step, kind kind, k key) bool {
	way, value, symbol := one(s, ways...), s.N, k.symbol()
	if !r.fits(kind, k) {
		return false
	}
	if k.slot == "constant" && r.facts[k] != nil {
		fmt.Sscan(r.facts[k].answer, &value) // it can have no other
	}
	if way.bare {
		symbol = k.name
	}
	r.define(k, kind, value, kind.loses || way.loses || way.nests && kind.closes())
	return r.run(way.callsIn(k.pkg, fillIn(kind.define, symbol, value), s.N)...)
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

// undoable chooses among what is there. The system's is the system's.
func (o *Session) undoable(s Step) (key, bool) {
	there := slices.DeleteFunc(sorted(o.now()), func(k key) bool { return o.facts[k] == nil || k.pkg == "mini" || k.slot == "package" })
	if len(there) == 0 {
		return key{}, false
	}
	return one(s, there...), true
}
