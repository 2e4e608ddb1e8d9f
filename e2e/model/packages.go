//go:build unix

package model

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"swank-mcp/e2e/harness"
)

// scope is a package with its symbols, as CLHS 11.1 has them.
type scope struct {
	name     string             // "" is CL-USER
	present  map[string]*symbol // that are looked at or exported
	external map[string]bool
	uses     []*scope
}

type symbol struct{ home *scope }

func newScope(name string) *scope {
	return &scope{name: name, present: map[string]*symbol{}, external: map[string]bool{}}
}

// title is the name of the package.
func (p *scope) title() string {
	if p.name == "" {
		return "COMMON-LISP-USER"
	}
	return strings.ToUpper(p.name)
}

// find is FIND-SYMBOL.
func (p *scope) find(name string) (*symbol, string) {
	if s := p.present[name]; s != nil {
		if p.external[name] {
			return s, "EXTERNAL"
		}
		return s, "INTERNAL"
	}
	for _, used := range p.uses {
		if s := used.present[name]; s != nil && used.external[name] {
			return s, "INHERITED"
		}
	}
	return nil, "NIL"
}

func (p *scope) intern(name string) *symbol {
	s, _ := p.find(name)
	if s == nil {
		s = &symbol{p}
		p.present[name] = s
	}
	return s
}

func (o *Session) usedBy(p *scope) []*scope {
	return slices.DeleteFunc(slices.Collect(maps.Values(o.packages)), func(q *scope) bool { return !slices.Contains(q.uses, p) })
}

// export is EXPORT of a symbol that is accessible in p; false is a name conflict.
func (o *Session) export(p *scope, name string) bool {
	s := p.intern(name)
	for _, user := range o.usedBy(p) {
		if other, _ := user.find(name); other != nil && other != s && !p.external[name] {
			return false
		}
	}
	p.present[name], p.external[name] = s, true
	return true
}

func (p *scope) use(used *scope) bool {
	if slices.Contains(p.uses, used) {
		return true
	}
	for name := range used.external {
		if other, _ := p.find(name); other != nil && other != used.present[name] {
			return false
		}
	}
	p.uses = append(p.uses, used)
	return true
}

var (
	packageNames  = []string{"pa", "pb", "pc", "pd"}
	functionNames = []string{"fa", "fb", "fc"}
)

// inPackage returns an evaluation whose reply begins so, and tells of a deleted package only if
// that has it; "" is any value. An argument names a package.
func inPackage(argument, code, begins string) []Call {
	c := Eval(code)
	if c.want = "^=> .*$"; begins != "" {
		c.want = "^" + regexp.QuoteMeta(begins)
	}
	if argument != "" {
		c.Args["package"] = argument
	}
	return []Call{c}
}

// orUnknown is begins, or the error for a package that is not there.
func orUnknown(p *scope, name, begins string) string {
	if p == nil {
		return fmt.Sprintf("[ERROR] PACKAGE-ERROR\nThe name %q does not designate any package.", strings.ToUpper(name))
	}
	return begins
}

const (
	packageError = "[ERROR] PACKAGE-ERROR\n"
	nameConflict = "[ERROR] SB-EXT:NAME-CONFLICT\n"
)

// anywhere chooses a package, perhaps CL-USER, perhaps one that is not there.
func (o *Session) anywhere(s Step) (p *scope, title string) {
	name := one(s, append(packageNames, "")...)
	return o.packages[name], newScope(name).title()
}

// enter has p be the current package, if it is there.
func (o *Session) enter(p *scope) {
	if p != nil {
		o.current = p
	}
}

func (o *Session) takePackage(s Step) []Call {
	p := one(s, packageNames...)
	if o.has(p) {
		return nil
	}
	o.packages[p] = newScope(p)
	o.define(key{"package", "", p}, plainDefun, 1, false)
	return inPackage("", fillIn(one(s, packageWays...), p, 0), "")
}

func (o *Session) takeDelete(s Step) []Call {
	name := one(s, packageNames...)
	p, begins := o.packages[name], ""
	switch {
	case p == nil || len(o.usedBy(p)) > 0:
		begins = packageError
	case p == o.current:
		o.current = o.packages[""]
		begins = fmt.Sprintf("=> T\n; The package %s was deleted; the session is back in COMMON-LISP-USER.", p.title())
		fallthrough
	default:
		delete(o.packages, name)
		o.gone(func(k key) bool { return k.pkg == name || k == key{"package", "", name} })
	}
	return inPackage("", "(delete-package :"+name+")", begins)
}

func (o *Session) takeRename(s Step) []Call {
	p, q := one(s, packageNames...), one(s, packageNames...)
	if !o.has(p) || o.has(q) {
		return nil
	}
	o.packages[p].name = q
	o.packages[q] = o.packages[p]
	delete(o.packages, p)
	o.rename(p, q)
	return inPackage("", fmt.Sprintf("(rename-package :%s :%s)", p, q), "")
}

func (o *Session) takeIn(s Step) []Call {
	p, title := o.anywhere(s)
	o.enter(p)
	return inPackage("", fmt.Sprintf("(in-package #:%s)", title), orUnknown(p, title, ""))
}

func (o *Session) takeSetPackage(s Step) []Call {
	p, title := o.anywhere(s)
	o.enter(p)
	begins := ""
	if p == nil {
		begins = "[ERROR] TYPE-ERROR\n"
	}
	return inPackage("", fmt.Sprintf("(setf *package* (find-package %q))", title), begins)
}

func (o *Session) takeInAndError(s Step) []Call {
	p, title := o.anywhere(s)
	o.enter(p)
	return inPackage("", fmt.Sprintf(`(in-package #:%s) (cl:error "after")`, title), orUnknown(p, title, "[ERROR] SIMPLE-ERROR\nafter"))
}

// takeErrorAndIn never comes to the package.
func (o *Session) takeErrorAndIn(s Step) []Call {
	_, title := o.anywhere(s)
	return inPackage("", fmt.Sprintf(`(error "before") (in-package #:%s)`, title), "[ERROR] SIMPLE-ERROR\nbefore")
}

func (o *Session) takeInAndBack(s Step) []Call {
	name := one(s, packageNames...)
	if !o.has(name) {
		return nil
	}
	return inPackage("", fmt.Sprintf("(let ((*package* *package*)) (setf *package* (find-package :%s)))", name), "")
}

// takeArgument has one evaluation be in another package.
func (o *Session) takeArgument(s Step) []Call {
	name := one(s, packageNames...)
	code := fmt.Sprintf("(cl:assert (cl:string= %q (cl:package-name cl:*package*)))", strings.ToUpper(name))
	return inPackage(name, code, orUnknown(o.packages[name], name, ""))
}

func (o *Session) takeArgumentAndIn(s Step) []Call {
	name := one(s, packageNames...)
	p, title := o.anywhere(s)
	if o.packages[name] == p { // TestInPackageOfTheArgument
		return nil
	}
	begins := orUnknown(o.packages[name], name, orUnknown(p, title, ""))
	if o.packages[name] != nil {
		o.enter(p)
	}
	return inPackage(name, fmt.Sprintf("(cl:in-package #:%s)", title), begins)
}

func (o *Session) takeArgumentAndError(s Step) []Call {
	name := one(s, packageNames...)
	return inPackage(name, `(cl:error "with an argument")`, orUnknown(o.packages[name], name, "[ERROR] SIMPLE-ERROR\nwith an argument"))
}

func (o *Session) takeUse(s Step) []Call {
	name := one(s, packageNames...)
	p := o.packages[name]
	if p == nil || p == o.current {
		return nil
	}
	begins := ""
	if !o.current.use(p) {
		begins = nameConflict
	}
	return inPackage("", "(use-package :"+name+")", begins)
}

func (o *Session) takeExport(s Step) []Call {
	f, begins := one(s, functionNames...), ""
	if !o.export(o.current, f) {
		begins = nameConflict
	}
	return inPackage("", fmt.Sprintf("(export (intern %q))", strings.ToUpper(f)), begins)
}

// function defines a function whose name is read in p.
func (o *Session) function(p *scope, f string, n int) string {
	o.define(key{"operator", p.intern(f).home.name, f}, plainDefun, n, false)
	return fmt.Sprintf("(cl:defun %s () %d)", f, n)
}

func (o *Session) takeFunction(s Step) []Call {
	return inPackage("", o.function(o.current, one(s, functionNames...), s.N), "")
}

func (o *Session) takeFunctionIn(s Step) []Call {
	name := one(s, packageNames...)
	p := o.packages[name]
	if p == nil {
		return inPackage(name, "(cl:defun fa () 0)", orUnknown(p, name, ""))
	}
	return inPackage(name, o.function(p, one(s, functionNames...), s.N), "")
}

// Symbols checks the current package, how it sees some symbols, and which packages there are,
// without interning anything.
func (r *Run) Symbols() {
	code, want := `(cl:format cl:nil "~@{~A~^ ~}" (cl:package-name cl:*package*)`, r.current.title()
	for _, f := range functionNames {
		code += fmt.Sprintf(` (cl:string (cl:nth-value 1 (cl:find-symbol %[1]q)))
 (cl:package-name (cl:symbol-package (cl:or (cl:find-symbol %[1]q) :none)))
 (cl:if (cl:fboundp (cl:or (cl:find-symbol %[1]q) :none)) (cl:funcall (cl:find-symbol %[1]q)) "-")`, strings.ToUpper(f))
		sym, status := r.current.find(f)
		home, value := "KEYWORD", "-"
		if sym != nil {
			home = sym.home.title()
			if fact := r.facts[key{"operator", sym.home.name, f}]; fact != nil {
				value = fact.answer
			}
		}
		want += " " + status + " " + home + " " + value
	}
	for _, name := range packageNames {
		title := strings.ToUpper(name)
		code += fmt.Sprintf(` (cl:if (cl:find-package %[1]q) %[1]q "-")`, title)
		if r.packages[name] == nil {
			title = "-"
		}
		want += " " + title
	}
	if got := r.World.Do(r.T, Tool("evaluate-lisp", harness.Object{"code": code + ")"})); got != `=> "`+want+`"` {
		r.fails("the state is\n got: %s\nwant: %s", got, want)
	}
}
