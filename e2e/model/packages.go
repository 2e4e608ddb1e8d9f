//go:build unix

package model

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
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

// in evaluates code, whose reply begins so, and tells of a deleted package only if that has it;
// "" is any value. An argument names a package.
func (r *Run) in(argument, begins, code string, args ...any) bool {
	c := Eval(fmt.Sprintf(code, args...))
	if c.want = "^=> .*$"; begins != "" {
		c.want = "^" + regexp.QuoteMeta(begins)
	}
	if argument != "" {
		c.Args["package"] = argument
	}
	return r.run(c)
}

const (
	unknown      = "[ERROR] PACKAGE-ERROR\nThe name %q does not designate any package."
	packageError = "[ERROR] PACKAGE-ERROR\n"
	nameConflict = "[ERROR] SB-EXT:NAME-CONFLICT\n"
	typeError    = "[ERROR] TYPE-ERROR\n"
	simpleError  = "[ERROR] SIMPLE-ERROR\n"
)

// inPackage is code that names a package, and may be evaluated in another one.
type inPackage struct {
	code     string // $a is the argument, $b any package
	argument bool
	enters   bool   // it goes to $b
	fails    string // how, after that
	unknown  string // how it fails if $b is not there; "" if it does not come to it
}

var inPackages = map[string]inPackage{
	"in":                 {code: "(in-package #:$b)", enters: true, unknown: unknown},
	"set package":        {code: `(setf *package* (find-package "$b"))`, enters: true, unknown: typeError},
	"in and back":        {code: `(let ((*package* *package*)) (setf *package* (find-package "$b")))`, unknown: typeError},
	"in, then error":     {code: `(in-package #:$b) (cl:error "after")`, enters: true, unknown: unknown, fails: simpleError + "after"},
	"error, then in":     {code: `(error "before") (in-package #:$b)`, fails: simpleError + "before"},
	"argument":           {code: `(cl:assert (cl:string= "$a" (cl:package-name cl:*package*)))`, argument: true},
	"argument and in":    {code: "(cl:in-package #:$b)", argument: true, enters: true, unknown: unknown},
	"argument and error": {code: `(cl:error "with an argument")`, argument: true, fails: simpleError + "with an argument"},
}

func (c inPackage) take(r *Run, s Step) bool {
	argument, name := one(s, packageNames...), one(s, append(packageNames, "")...)
	p, title, begins := r.packages[name], newScope(name).title(), c.fails
	switch {
	case c.argument && !r.has(argument):
		begins = fmt.Sprintf(unknown, strings.ToUpper(argument))
	case c.unknown != "" && p == nil:
		begins = strings.ReplaceAll(c.unknown, "%q", strconv.Quote(title))
	case c.enters:
		r.current = p
	}
	code := strings.NewReplacer("$a", strings.ToUpper(argument), "$b", title).Replace(c.code)
	if !c.argument {
		argument = ""
	}
	return r.in(argument, begins, "%s", code)
}

// function defines a function whose name is read in p.
func (r *Run) function(s Step, argument string, p *scope) bool {
	f := one(s, functionNames...)
	if p == nil {
		return r.in(argument, fmt.Sprintf(unknown, strings.ToUpper(argument)), "(cl:defun %s () 0)", f)
	}
	r.define(key{"operator", p.intern(f).home.name, f}, plainDefun, s.N, false)
	return r.in(argument, "", "(cl:defun %s () %d)", f, s.N)
}

func init() {
	for name, c := range inPackages {
		steps[name] = c.take
	}
	maps.Copy(steps, map[string]step{
		"package": func(r *Run, s Step) bool {
			p := one(s, packageNames...)
			if r.has(p) {
				return false
			}
			r.packages[p] = newScope(p)
			r.define(key{"package", "", p}, plainDefun, 1, false)
			return r.in("", "", "%s", fillIn(one(s, packageWays...), p, 0))
		},
		"delete": func(r *Run, s Step) bool {
			name := one(s, packageNames...)
			p, begins := r.packages[name], ""
			switch {
			case p == nil || len(r.usedBy(p)) > 0:
				return r.in("", packageError, "(delete-package :%s)", name)
			case p == r.current:
				r.current = r.packages[""]
				begins = fmt.Sprintf("=> T\n; The package %s was deleted; the session is back in COMMON-LISP-USER.", p.title())
			}
			delete(r.packages, name)
			r.gone(func(k key) bool { return k.pkg == name || k == key{"package", "", name} })
			return r.in("", begins, "(delete-package :%s)", name)
		},
		"rename": func(r *Run, s Step) bool {
			p, q := one(s, packageNames...), one(s, packageNames...)
			if !r.has(p) || r.has(q) {
				return false
			}
			r.packages[p].name = q
			r.packages[q] = r.packages[p]
			delete(r.packages, p)
			r.rename(p, q)
			return r.in("", "", "(rename-package :%s :%s)", p, q)
		},
		"use": func(r *Run, s Step) bool {
			name := one(s, packageNames...)
			p, begins := r.packages[name], ""
			if p == nil || p == r.current {
				return false
			}
			if !r.current.use(p) {
				begins = nameConflict
			}
			return r.in("", begins, "(use-package :%s)", name)
		},
		"export": func(r *Run, s Step) bool {
			f, begins := one(s, functionNames...), ""
			if !r.export(r.current, f) {
				begins = nameConflict
			}
			return r.in("", begins, "(export (intern %q))", strings.ToUpper(f))
		},
		"function": func(r *Run, s Step) bool { return r.function(s, "", r.current) },
		"function in": func(r *Run, s Step) bool {
			name := one(s, packageNames...)
			return r.function(s, name, r.packages[name])
		},
	})
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
