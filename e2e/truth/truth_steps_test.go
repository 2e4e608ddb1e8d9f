package truth

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"swank-mcp/e2e/harness"
)

// truthStep is one step: what it does, and the choices that it makes. Which
// call it is also depends on what there is by then.
type truthStep struct {
	op      string
	x, y, z int
	n       int // its number, by which what it defines answers
}

// truthOps are the steps, each as often as it is to be.
var truthOps = func() (ops []string) {
	for op, weight := range map[string]int{
		"define": 36, "live": 5, "nothing": 6, "setup": 2, "call": 3, "pair": 2, "undo": 5,
		"package": 4, "delete": 1, "rename": 1, "unintern": 1,
		"edit": 2, "edit and load": 5, "edits and loads": 1, "load": 2, "test": 2, "file of mini": 1,
		"die": 5, "reset": 2, "save": 2, "save and bring back": 1,
	} {
		ops = append(ops, slices.Repeat([]string{op}, weight)...)
	}
	slices.Sort(ops) // the same for the same seed
	return ops
}()

func truthSteps(random *rand.Rand, n int) []truthStep {
	steps := make([]truthStep, n)
	for i := range steps {
		steps[i] = truthStep{truthOps[random.IntN(len(truthOps))], random.IntN(1 << 16), random.IntN(1 << 16), random.IntN(1 << 16), 100 + i}
	}
	return steps
}

func chosen[T any](of []T, by int) T { return of[by%len(of)] }

// take says what calls the step is, and has the oracle know what they do; none
// if there is nothing that it could be done to.
func (o *truthOracle) take(s truthStep) []harness.TruthCall {
	pkg := chosen([]string{"", "", "", "pa", "pb"}, s.z/64)
	home := func(slot string) truthKey { return truthKey{slot, pkg, truthName(slot, s.z%3)} }
	switch s.op {
	case "define":
		kind := chosen(truthKinds, s.x)
		return o.takeDefinition(kind, chosen(truthWays, s.y), home(kind.slot), s.n)
	case "live":
		kind := chosen(operatorKinds, s.x)
		return o.takeDefinition(kind, chosen(truthWays, s.y), truthKey{"operator", "mini", fmt.Sprint("x", s.z%5)}, s.n)
	case "nothing":
		k := home("operator")
		if f := o.facts[k]; !o.has(pkg) || f != nil && f.macro {
			return nil // SBCL takes a macro away when it compiles a DEFUN of its name
		}
		o.known[k] = true
		if s.x%8 == 0 {
			return []harness.TruthCall{harness.EvalCall(fmt.Sprintf("(ignore-errors (defun %s (x x) %d))", k.symbol(), s.n))}
		}
		return chosen(truthNothings, s.x)(fillIn(chosen(operatorKinds[:3], s.y).define, k.symbol(), s.n), s.n)
	case "setup":
		kind, k := chosen(operatorKinds, s.x), home("operator")
		if f := o.facts[k]; !o.has(pkg) || f != nil && f.macro {
			return nil // as above
		}
		o.setups = append(o.setups, truthSetup{s.n, k, kind})
		return []harness.TruthCall{harness.EvalCall(fmt.Sprintf("(defun cl-user::setup%d () %s)", s.n, fillIn(kind.define, k.symbol(), s.n)))}
	case "call":
		if len(o.setups) == 0 {
			return nil
		}
		setup := chosen(o.setups, s.x)
		if !o.fits(setup.kind, setup.key) {
			return nil
		}
		o.define(setup.key, setup.kind, setup.n, setup.kind.loses || setup.kind.closes())
		return []harness.TruthCall{harness.EvalCall(fmt.Sprintf("(cl-user::setup%d)", setup.n))}
	case "pair": // a macro of the user's, which expands to two definitions
		var calls []harness.TruthCall
		if !o.pair {
			calls = append(calls, harness.EvalCall("(defmacro cl-user::defpair (a b n) `(progn (defun ,a () ,n) (defparameter ,b ,n)))"))
		}
		o.pair = true
		a, b := truthKey{"operator", "", truthName("operator", s.z%3)}, truthKey{"variable", "", truthName("variable", s.z%3)}
		o.define(a, plainDefun, s.n, false)
		o.define(b, plainDefun, s.n, false)
		way := chosen(truthWays, s.y)
		return append(calls, way.callsIn("", fmt.Sprintf("(cl-user::defpair %s %s %d)", a.symbol(), b.symbol(), s.n), s.n)...)
	}
	if calls := o.takeSystem(s); calls != nil {
		return calls
	}
	return o.takeUndoing(s, pkg)
}

// operatorKinds are those of functions and macros.
var operatorKinds = slices.DeleteFunc(slices.Clone(truthKinds), func(k truthKind) bool { return k.slot != "operator" })

// closes reports whether the definition itself does not say all: it needs what is
// around it, or is no defining form.
func (k truthKind) closes() bool {
	return k.slot == "operator" && !strings.Contains(k.define, "(defun $s () $n)") &&
		!strings.Contains(k.define, "(defmacro $s () $n)") && !strings.HasPrefix(k.define, "(eval ")
}

func (o *truthOracle) takeDefinition(kind truthKind, way truthWay, k truthKey, n int) []harness.TruthCall {
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
func (w truthWay) callsIn(pkg, code string, n int) []harness.TruthCall {
	calls := w.calls(code, n)
	if pkg == "" {
		pkg = "cl-user"
	}
	for _, c := range calls {
		if code, ok := c.Args["code"].(string); ok {
			c.Args["code"] = strings.ReplaceAll(code, "$p", pkg)
		}
	}
	return calls
}

// takeUndoing are the steps that undo, and packages.
func (o *truthOracle) takeUndoing(s truthStep, pkg string) []harness.TruthCall {
	p, q := chosen([]string{"pa", "pb"}, s.x), chosen([]string{"pb", "pa"}, s.x)
	its := truthKey{"package", "", p}
	switch s.op {
	case "package":
		if o.has(p) {
			return nil
		}
		o.define(its, plainDefun, 1, false)
		return []harness.TruthCall{harness.EvalCall(fillIn(chosen(truthPackages, s.y), p, 0))}
	case "delete":
		if !o.has(p) {
			return nil
		}
		o.gone(func(k truthKey) bool { return k.pkg == p || k == its })
		return []harness.TruthCall{harness.EvalCall("(delete-package :" + p + ")")}
	case "rename":
		if !o.has(p) || o.has(q) {
			return nil
		}
		o.rename(p, q)
		return []harness.TruthCall{harness.EvalCall(fmt.Sprintf("(rename-package :%s :%s)", p, q))}
	}
	var there []truthKey // what can be undone; the system's is the system's
	for _, k := range sortedTruths(o.now()) {
		if o.facts[k] != nil && k.pkg != "mini" && k.slot != "package" {
			there = append(there, k)
		}
	}
	if len(there) == 0 {
		return nil
	}
	k := chosen(there, s.x)
	if s.op == "unintern" {
		o.gone(func(other truthKey) bool { return other.pkg == k.pkg && other.name == k.name })
		in := k.pkg
		if in == "" {
			in = "cl-user"
		}
		return []harness.TruthCall{harness.EvalCall(fmt.Sprintf("(unintern '%s :%s)", k.symbol(), in))}
	}
	if code := k.undo(); code != "" && (s.y%2 == 0 || !strings.HasPrefix(k.slot, "method ")) {
		o.gone(func(other truthKey) bool { return other == k })
		return []harness.TruthCall{harness.EvalCall(code)}
	}
	if strings.HasPrefix(k.slot, "method ") {
		o.gone(func(other truthKey) bool { return other.pkg == k.pkg && other.name == k.name })
		return []harness.TruthCall{harness.EvalCall("(fmakunbound '" + k.symbol() + ")")}
	}
	return nil
}

// takeSystem are the steps with mini, nil for others.
func (o *truthOracle) takeSystem(s truthStep) []harness.TruthCall {
	switch s.op {
	case "edit":
		return []harness.TruthCall{o.edit(s, 0)}
	case "edit and load":
		return []harness.TruthCall{o.edit(s, 0), o.loadBy(s.z)}
	case "edits and loads":
		return []harness.TruthCall{o.edit(s, 0), o.loadBy(s.z), o.edit(s, 1), o.loadBy(s.z / 4), o.edit(s, 2), o.loadBy(s.z / 16)}
	case "load":
		return []harness.TruthCall{o.loadBy(s.z)}
	case "test":
		o.load(false)
		return []harness.TruthCall{harness.ToolCall("run-tests", harness.Object{"system": "mini"})}
	case "file of mini": // as one tries a file, without its system
		file := chosen([]string{"a", "b", "c"}, s.x)
		if !o.loaded {
			return nil
		}
		for name, n := range o.disk[file].names {
			o.define(truthKey{"operator", "mini", name}, plainDefun, n, false)
		}
		return []harness.TruthCall{harness.ToolCall(chosen([]string{"load-file", "compile-file"}, s.y), harness.Object{"path": "mini/" + file + ".lisp"})}
	}
	return nil
}

// edit writes a file of mini anew: each of its functions is another one, or as
// it was, or not there.
func (o *truthOracle) edit(s truthStep, again int) harness.TruthCall {
	file := chosen([]string{"a", "b", "c"}, s.x)
	version, names := s.n*10+3*again, map[string]int{}
	text := fmt.Sprintf("; %d\n(in-package :mini)\n", version)
	for i, name := range miniNames[file] {
		n, there := o.disk[file].names[name]
		switch how := (s.y >> (4 * (i + again))) % 8; {
		case how == 0 || how < 3 && !there:
			continue
		case how >= 3:
			n = version + i
		}
		names[name] = n
		o.known[truthKey{"operator", "mini", name}] = true
		text += fmt.Sprintf("(defun %s () %d)\n", name, n)
	}
	o.disk[file] = miniSource{version, names}
	return harness.FileCall("mini/"+file+".lisp", text)
}

func (o *truthOracle) loadBy(how int) harness.TruthCall {
	o.load(how%8 == 0)
	switch {
	case how%8 == 0:
		return harness.ToolCall("load-system", harness.Object{"system": "mini", "force": true})
	case how%2 == 0:
		return harness.ToolCall("load-system", harness.Object{"system": "mini/mini.asd"})
	}
	return harness.LoadMini
}
