package syntax

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDefinitions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"(defun f (x) x)": "1:1 function F",
		"(in-package :a) (cl:defvar *x* 1)\n(defmacro b:m ())":                                                                      "1:17 variable *X* in A; 2:1 function M in A",
		"(in-package #:a)(defun (setf f) (v) v)(in-package \"b\")(defstruct (s (:copier nil)) a)":                                   "1:17 function (setf F) in A; 1:55 class S in b",
		"(defmethod |f| :around ((x my:integer) (y (eql 'Z)) z &key a) x)":                                                          "1:1 method |f| AROUND (INTEGER (EQL 'Z) T)",
		"(eval-when (:load-toplevel)\n  (progn\n    (defun f () 1)))":                                                               "3:5 function F",
		"(let ((default 0) (defun 1))\n  (defun f () default))":                                                                     "2:3 function F",
		"(macrolet ((m () `(defun g ()))) (defun f ()))":                                                                            "1:34 function F",
		"#+sbcl (defun f () 1)\n#-sbcl (defun f () 2)":                                                                              "1:8 function F",
		"#+(and sbcl (not x)) (defun f ()) #+(or x) #-sbcl (defun g ()) (defun h ()) (defun i ())":                                  "1:22 function F; 1:77 function I",
		"'(defun f ()) `(defun ,f ()) (quote (defun f ())) #(defun f ()) (defun) \"(defun f ())\" ; (defun f ())\n#|(defun f ())|#": "",
		"(defun é () 1) (defvar |é:| 1) (defvar a\\b 1)":                                                                            "1:1 function É; 1:16 variable |é:|; 1:32 variable |Ab|",
		"(define-thing f 1) (deftest (g :x) 1)":                                                                                     "1:1  F; 1:20  G",
		"(defun f () (flet ((g ())) (defun h ())))":                                                                                 "1:1 function F",
		"(handler-bind ((error #'f)) (when t (deftype g () t) (define-condition h () ())))":                                         "1:37 class G; 1:54 class H",
	} {
		all, _, ok := Definitions(t.Context(), text, Reading{Has: func(feature string) bool { return feature == "SBCL" }})
		var said []string
		for _, d := range all {
			s := fmt.Sprintf("%d:%d %s %s", d.Line, d.Column, d.Kind(), d.Name)
			if strings.ToUpper(d.Name) != d.Name {
				s = fmt.Sprintf("%d:%d %s |%s|", d.Line, d.Column, d.Kind(), d.Name)
			}
			if d.Setf {
				s = strings.Replace(s, d.Name, "(setf "+d.Name+")", 1)
			}
			if d.Kind() == "method" {
				s += fmt.Sprintf(" %s (%s)", strings.Join(d.Qualifiers, " "), strings.Join(d.Specializers, " "))
			}
			if d.Package != "" {
				s += " in " + d.Package
			}
			if text[d.Start] != '(' || text[d.End-1] != ')' {
				t.Errorf("%s: %d to %d is no list", text, d.Start, d.End)
			}
			said = append(said, s)
		}
		if got := strings.Join(said, "; "); !ok || got != want {
			t.Errorf("%s\nhas %q\nnot %q", text, got, want)
		}
	}
	for _, text := range []string{"(defun f ()", "(defun f ()))", `"`} {
		if _, _, ok := Definitions(t.Context(), text, Reading{}); ok {
			t.Errorf("%s is taken for well-formed", text)
		}
	}
	for _, prefix := range []string{"'", "#+ ", "#+a "} {
		if all, _, _ := Definitions(t.Context(), strings.Repeat(prefix, 1_000_000)+strings.Repeat("a ", 1_000_001), Reading{}); all != nil {
			t.Errorf("%s very often: %v", prefix, all)
		}
	}
	deep := strings.Repeat("(progn ", 100_000) + "(defun f ())" + strings.Repeat(")", 100_000) + "(defun g ())"
	if all, _, ok := Definitions(t.Context(), deep, Reading{}); !ok || len(all) != 1 || all[0].Name != "G" {
		t.Errorf("very deep: %v, %v", all, ok)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, form, want string }{
		{"; a\n(defun f ()\n  1) ; b\n", "(defun f ()\n  2)", "; a\n(defun f ()\n  2) ; b\n"},
		{"(progn\n  #+x\n  (defun f ()\n    1) 2)", "(defun f ()\n  \"a\nb\"\n  (g\n   2))", "(progn\n  #+x\n  (defun f ()\n    \"a\nb\"\n    (g\n     2)) 2)"},
		{"(progn\n  (defun f ()\n    1))", "(defun f ()\n    2)", "(progn\n  (defun f ()\n    2))"}, // cut out of there
		{"(defun f ()\r\n  1)\r\n", "(defun f ()\n  2)", "(defun f ()\r\n  2)\r\n"},
		{"(defun f ()\r\n  1)\r\n", "(defun f ()\n  1)", "(defun f ()\r\n  1)\r\n"},
		{"(defun f ()\n\t1)\n", "(defun f ()\n\t2)", "(defun f ()\n\t2)\n"},
	} {
		all, _, _ := Definitions(t.Context(), c.text, Reading{})
		if got := Replace(c.text, all[0].Extent, c.form, 1); got != c.want {
			t.Errorf("%q with %q is %q, not %q", c.text, c.form, got, c.want)
		}
	}
	for text, want := range map[string]string{
		"":               "(f\n 1)\n",
		"(a)":            "(a)\n\n(f\n 1)\n",
		"(a)\n":          "(a)\n\n(f\n 1)\n",
		"(a)\n\n\n":      "(a)\n\n\n(f\n 1)\n",
		"(a)\r\n; b\r\n": "(a)\r\n; b\r\n\r\n(f\r\n 1)\r\n",
	} {
		if got := Append(text, "(f\n   1)", 3); got != want {
			t.Errorf("%q became %q, not %q", text, got, want)
		}
	}
}

// TestReplaceByItself: a thousand definitions of the helper, found by their names and replaced by themselves, leave their files as they were.
func TestReplaceByItself(t *testing.T) {
	t.Parallel()
	type found struct {
		file, text string
		d          Definition
	}
	var all []found
	refused := 0
	for _, file := range sources(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		defs, _, ok := Definitions(t.Context(), string(data), Reading{})
		if !ok {
			refused++
		}
		for _, d := range defs {
			all = append(all, found{file, string(data), d})
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	twice, tries := 0, 0
	for _, i := range random.Perm(len(all)) {
		if tries == 1000 {
			break
		}
		f := all[i]
		form := f.text[f.d.Start:f.d.End]
		in, _, ok := Definitions(t.Context(), form, Reading{})
		if !ok || len(in) != 1 || !in[0].Same(&f.d) {
			t.Fatalf("%s: read alone, %q has %v", f.file, form, in)
		}
		var same []Definition
		defs, _, _ := Definitions(t.Context(), f.text, Reading{})
		for _, d := range defs {
			if d.Same(&in[0]) && d.Package == f.d.Package {
				same = append(same, d)
			}
		}
		if len(same) != 1 {
			twice++ // for other implementations, for example
			continue
		}
		tries++
		// by itself, and by something else and then by itself
		if got := Replace(f.text, same[0].Extent, form, 1); got != f.text {
			t.Errorf("%s:%d: replaced by itself the file is another", f.file, f.d.Line)
		}
		other := strings.Replace(form, "(", "( ", 1)
		changed := Replace(f.text, same[0].Extent, other, same[0].Column)
		if want := f.text[:f.d.Start] + other + f.text[f.d.End:]; unixLines(changed) != unixLines(want) {
			t.Errorf("%s:%d: more than the form has changed", f.file, f.d.Line)
		}
		again := same[0]
		again.End++
		if got := Replace(changed, again.Extent, form, same[0].Column); unixLines(got) != unixLines(f.text) {
			t.Errorf("%s:%d: put back, the file is another", f.file, f.d.Line)
		}
	}
	if tries < 1000 {
		t.Errorf("there are only %d definitions", tries)
	}
	t.Logf("%d definitions in all; of %d files %d are not well-formed; %d tries of names with two definitions", len(all), len(sources(t)), refused, twice)
}

// sources returns the helper's files.
func sources(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../swank/lisp/helper/*/*.lisp")
	if err != nil || len(files) == 0 {
		t.Fatalf("no Lisp files of the helper (%v)", err)
	}
	return files
}

func FuzzDefinitions(f *testing.F) {
	f.Add("(in-package :a) #+x (defun f () 1) #-(or x) 'a (defmethod |f| :b ((x (eql 'y))) #1=(z))")
	f.Add("(progn (let ((a #(1))) (defvar *x*)) `(defun ,f ())) #?(defun g ()) (defstruct (s))")
	f.Fuzz(func(t *testing.T, text string) {
		all, _, ok := Definitions(t.Context(), text, Reading{Has: func(feature string) bool { return len(feature)%2 == 0 }})
		matches := func(text string) bool { return len(scan(text, workOn(t.Context(), text)).report.Problems) == 0 }
		if ok && !matches(text) {
			t.Fatalf("%q is taken for well-formed", text)
		}
		for _, d := range all {
			form := text[d.Start:d.End]
			if form[0] != '(' || form[len(form)-1] != ')' || !matches(form) {
				t.Fatalf("%q: %q is no list", text, form)
			}
			if got := Replace(text, d.Extent, form, d.Column); got != text {
				t.Fatalf("%q: replaced by itself %q is %q", text, form, got)
			}
		}
	})
}
