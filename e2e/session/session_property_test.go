package session

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// The model: packages with the symbols of three names, as CLHS 11.1 has them.

type modelSymbol struct {
	home  *modelPackage
	value string // what its function returns; "" if it has none
}

type modelPackage struct {
	name     string
	present  map[string]*modelSymbol
	external map[string]bool
	uses     []*modelPackage
}

type model struct {
	packages map[string]*modelPackage
	user     *modelPackage
	current  *modelPackage
	values   int
}

func newModel() *model {
	user := newModelPackage("COMMON-LISP-USER")
	return &model{map[string]*modelPackage{user.name: user}, user, user, 0}
}

func newModelPackage(name string) *modelPackage {
	return &modelPackage{name: name, present: map[string]*modelSymbol{}, external: map[string]bool{}}
}

// find is FIND-SYMBOL.
func (p *modelPackage) find(name string) (*modelSymbol, string) {
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

func (p *modelPackage) intern(name string) *modelSymbol {
	s, _ := p.find(name)
	if s == nil {
		s = &modelSymbol{home: p}
		p.present[name] = s
	}
	return s
}

func (m *model) usedBy(p *modelPackage) (users []*modelPackage) {
	for _, q := range m.packages {
		if slices.Contains(q.uses, p) {
			users = append(users, q)
		}
	}
	return users
}

// export is EXPORT of a symbol that is accessible in p; false is a name conflict.
func (m *model) export(p *modelPackage, name string) bool {
	s := p.intern(name)
	if !p.external[name] {
		for _, user := range m.usedBy(p) {
			if other, _ := user.find(name); other != nil && other != s {
				return false
			}
		}
	}
	p.present[name] = s
	p.external[name] = true
	return true
}

func (m *model) use(p, used *modelPackage) bool {
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
	modelNames   = []string{"WA", "WB", "WC", "WD"} // of packages
	modelSymbols = []string{"FA", "FB", "FC"}
)

// pkgStep is one call: what it does, and to what.
type pkgStep struct {
	op   string
	a, b string // packages
	f    string // a symbol
}

func (s pkgStep) String() string { return fmt.Sprintf("%s %s %s %s", s.op, s.a, s.b, s.f) }

var pkgOps = []string{"define", "define", "define", "define", "in", "in", "setf", "argument", "argument and in", "argument and error", "in, then error", "error, then in",
	"delete", "rename", "rename", "use", "use", "export", "export", "fun", "fun", "fun in", "in and back", "reset"}

var genStep = rapid.Custom(func(t *rapid.T) pkgStep {
	return pkgStep{
		rapid.SampledFrom(pkgOps).Draw(t, "op"),
		rapid.SampledFrom(modelNames).Draw(t, "a"),
		rapid.SampledFrom(append([]string{"CL-USER"}, modelNames...)).Draw(t, "b"),
		rapid.SampledFrom(modelSymbols).Draw(t, "f"),
	}
})

func (m *model) pkg(name string) *modelPackage {
	if name == "CL-USER" {
		return m.user
	}
	return m.packages[name]
}

func (m *model) fun(p *modelPackage, f string) string {
	m.values++
	v := fmt.Sprintf("v%d", m.values)
	p.intern(f).value = v
	return v
}

// outcome is what the model says of a call.
type outcome struct {
	code, argument string
	fails          string // the text begins so; "" succeeds
	note           string // the text contains it
	skip, reset    bool
}

const noPackage = "[ERROR] PACKAGE-ERROR\nThe name %q does not designate any package."

// step applies one step to the model and says what to call.
func (m *model) step(s pkgStep) (o outcome) {
	a, b := m.pkg(s.a), m.pkg(s.b)
	unknown := fmt.Sprintf(noPackage, s.a)
	switch s.op {
	case "define":
		if a != nil {
			return outcome{skip: true}
		}
		m.packages[s.a] = newModelPackage(s.a)
		o.code = fmt.Sprintf("(cl:defpackage #:%s (:use #:cl))", s.a)
	case "in":
		o.code = fmt.Sprintf("(cl:in-package #:%s)", s.b)
		if b == nil {
			o.fails = fmt.Sprintf(noPackage, s.b)
			break
		}
		m.current = b
	case "setf":
		o.code = fmt.Sprintf("(cl:setf cl:*package* (cl:find-package %q))", s.b)
		if b == nil {
			o.fails = "[ERROR] TYPE-ERROR\n"
			break
		}
		m.current = b
	case "argument":
		o.argument = strings.ToLower(s.a)
		o.code = fmt.Sprintf("(cl:assert (cl:string= %q (cl:package-name cl:*package*)))", s.a)
		if a == nil {
			o.fails = unknown
		}
	case "argument and in":
		if a == b { // TestInPackageOfTheArgument
			return outcome{skip: true}
		}
		o.argument, o.code = s.a, fmt.Sprintf("(cl:in-package #:%s)", s.b)
		if a == nil {
			o.fails = unknown
		} else if b == nil {
			o.fails = fmt.Sprintf(noPackage, s.b)
		} else {
			m.current = b
		}
	case "argument and error":
		o.argument, o.code, o.fails = s.a, `(cl:error "with an argument")`, "[ERROR] SIMPLE-ERROR\nwith an argument"
		if a == nil {
			o.fails = unknown
		}
	case "in, then error":
		o.code = fmt.Sprintf(`(cl:in-package #:%s) (cl:error "after")`, s.b)
		o.fails = "[ERROR] SIMPLE-ERROR\nafter"
		if b == nil {
			o.fails = fmt.Sprintf(noPackage, s.b)
			break
		}
		m.current = b
	case "error, then in":
		o.code = fmt.Sprintf(`(cl:error "before") (cl:in-package #:%s)`, s.b)
		o.fails = "[ERROR] SIMPLE-ERROR\nbefore"
	case "in and back":
		if a == nil {
			return outcome{skip: true}
		}
		o.code = fmt.Sprintf(`(cl:let ((cl:*package* cl:*package*)) (cl:setf cl:*package* (cl:find-package %q)))`, s.a)
	case "delete":
		o.code = fmt.Sprintf("(cl:delete-package %q)", s.a)
		if a == nil || len(m.usedBy(a)) > 0 {
			o.fails = "[ERROR] PACKAGE-ERROR\n"
			break
		}
		delete(m.packages, s.a)
		if m.current == a {
			m.current = m.user
			o.note = fmt.Sprintf("; The package %s was deleted; the session is back in COMMON-LISP-USER.", s.a)
		}
	case "rename":
		if a == nil || b != nil {
			return outcome{skip: true}
		}
		o.code = fmt.Sprintf("(cl:rename-package %q %q)", s.a, s.b)
		delete(m.packages, s.a)
		a.name = s.b
		m.packages[s.b] = a
	case "use":
		if a == nil || a == m.current {
			return outcome{skip: true}
		}
		o.code = fmt.Sprintf("(cl:use-package %q)", s.a)
		if !m.use(m.current, a) {
			o.fails = "[ERROR] PACKAGE-ERROR\n"
		}
	case "export":
		o.code = fmt.Sprintf("(cl:export (cl:intern %q))", s.f)
		if !m.export(m.current, s.f) {
			o.fails = "[ERROR] PACKAGE-ERROR\n"
		}
	case "fun":
		o.code = fmt.Sprintf("(cl:defun %s () %q)", s.f, m.fun(m.current, s.f))
	case "fun in":
		o.argument = s.a
		if a == nil {
			o.code, o.fails = fmt.Sprintf("(cl:defun %s () 0)", s.f), unknown
			break
		}
		o.code = fmt.Sprintf("(cl:defun %s () %q)", s.f, m.fun(a, s.f))
	case "reset":
		*m = *newModel()
		o.reset = true
	}
	return o
}

// look is code that tells the state without interning anything, and text what
// the model says that it is.
func (m *model) look() (code, text string) {
	code, text = "(cl:format cl:nil \"~@{~A~^ ~}\" (cl:package-name cl:*package*)", m.current.name
	for _, f := range modelSymbols {
		code += fmt.Sprintf(` (cl:string (cl:nth-value 1 (cl:find-symbol %[1]q)))
 (cl:package-name (cl:symbol-package (cl:or (cl:find-symbol %[1]q) :none)))
 (cl:if (cl:fboundp (cl:or (cl:find-symbol %[1]q) :none)) (cl:funcall (cl:find-symbol %[1]q)) "-")`, f)
		sym, status := m.current.find(f)
		home, value := "KEYWORD", "-"
		if sym != nil {
			home = sym.home.name
			if sym.value != "" {
				value = sym.value
			}
		}
		text += " " + status + " " + home + " " + value
	}
	names := []string{}
	for _, n := range modelNames {
		code += fmt.Sprintf(" (cl:if (cl:find-package %q) %q \"-\")", n, n)
		if m.packages[n] != nil {
			names = append(names, n)
		} else {
			names = append(names, "-")
		}
	}
	return code + ")", `=> "` + text + " " + strings.Join(names, " ") + `"`
}

// For all sequences of calls, what changes the package changes it for the next
// call, and nothing else does; symbols resolve as the standard says.
func TestPackageContextProperty(t *testing.T) {
	tier.More(t)
	t.Parallel()
	set := func(name, value string) {
		old := flag.Lookup(name).Value.String()
		flag.Set(name, value)
		t.Cleanup(func() { flag.Set(name, old) })
	}
	set("rapid.checks", "120")
	set("rapid.nofailfile", "true")
	set("rapid.shrinktime", "10s")
	s := harness.Start(t)
	seen := map[string]int{}
	property := func(rt *rapid.T) {
		tool := func(name string, args map[string]any) (string, bool) {
			ctx := await.Context(t)
			r, err := s.Tool(ctx, name, args)
			if err != nil {
				rt.Fatalf("%s %v: %v", name, args, err)
			}
			return r.Text(), r.IsError
		}
		reset := func() {
			if text, isErr := tool("reset-session", harness.Object{}); isErr || text != harness.ResetText {
				rt.Fatalf("reset-session answered:\n%s", text)
			}
		}
		check := func(m *model, after string) {
			code, text := m.look()
			if got, isErr := tool("evaluate-lisp", harness.Object{"code": code}); isErr || got != text {
				rt.Fatalf("after %s the state is (isError %v)\n got: %s\nwant: %s", after, isErr, got, text)
			}
		}
		reset()
		m := newModel()
		for _, step := range rapid.SliceOfN(genStep, 1, 12).Draw(rt, "steps") {
			o := m.step(step)
			if o.skip {
				continue
			}
			seen[step.op]++
			if o.reset {
				reset()
				check(m, "reset")
				continue
			}
			args := harness.Object{"code": o.code}
			if o.argument != "" {
				args["package"] = o.argument
			}
			got, isErr := tool("evaluate-lisp", args)
			if isErr != (o.fails != "") || !strings.HasPrefix(got, o.fails) || strings.Count(got, "was deleted") != strings.Count(o.note, "was deleted") || !strings.Contains(got, o.note) {
				rt.Fatalf("%v\n got (isError %v):\n%s\nwant an error that begins with %q, and the note %q", args, isErr, got, o.fails, o.note)
			}
			check(m, fmt.Sprint(args))
		}
	}
	missed := func(op string) bool { return seen[op] == 0 }
	// Some steps seldom come to where they can be taken.
	for i := range 4 {
		harness.Check(t, flag.Set("rapid.seed", fmt.Sprint(tier.Seed(t)+uint64(i))))
		if rapid.Check(t, property); !slices.ContainsFunc(pkgOps, missed) {
			return
		}
	}
	t.Errorf("steps taken: %v; all of %v are wanted", seen, pkgOps)
}

// An evaluation that contains (in-package p) changes the package to p, also
// when its argument says p already.
func TestInPackageOfTheArgument(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, "(defpackage :same (:use :cl)) :ok", "=> :OK")
	harness.WantReply(t, s, "evaluate-lisp", harness.Object{"code": "(in-package :same) :in", "package": "same"}, "=> :IN")
	harness.Want(t, s, "(package-name *package*)", `=> "SAME"`)
}
