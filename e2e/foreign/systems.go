package main

import (
	"fmt"
	"strings"
)

const (
	beginMark = ":::begin"
	endMark   = ":::end "
)

// publicType is the name of a condition's type as replies show it: of what SBCL has
// for itself, the class that a program may name.
const publicType = `(find-if (lambda (name)
	(not (or (eq name 'simple-condition) (eql 0 (search "SB-" (package-name (symbol-package name)))))))
	(mapcar #'class-name (sb-mop:class-precedence-list (class-of condition))))`

// forms load the system and run its tests, and tell how that ended.
func (s system) forms() []string {
	forms := []string{`(require :asdf)`, fmt.Sprintf(`(asdf:load-system %q)`, s.name)}
	test := s.test
	if test == "" {
		test = fmt.Sprintf(`(asdf:test-system %q)`, s.name)
	}
	if s.load != "" {
		forms = append(forms, s.load)
	}
	return append(forms, fmt.Sprintf(`(progn
		   (format t "~&%s~%%")
		   (let ((outcome (handler-case (progn %s "returned")
		                    (error (condition) %s))))
		     (format t "~&%s~A~%%" outcome)))`, beginMark, test, publicType, endMark))
}

// marked is what forms have told in text.
func marked(text string) answer {
	_, text, began := strings.Cut(text, beginMark+"\n")
	said, rest, ended := strings.Cut(text, endMark)
	if !began || !ended {
		return answer{outcome: "did not come to its end", said: strings.Split(text, "\n")}
	}
	outcome, _, _ := strings.Cut(rest, "\n")
	return newAnswer(outcome, said)
}

// runSystem runs the tests of a system in a plain sbcl, by evaluate-lisp and, where
// ASDF's TEST-OP runs them, by run-tests.
func (l lab) runSystem(s system) ([]row, error) {
	// one after the other, in the same directory: tests print the names of their files
	dir, err := l.work("system")
	if err != nil {
		return nil, err
	}
	out, err := l.plain(dir, s.forms())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	if dir, err = l.work("system"); err != nil {
		return nil, err
	}
	text, err := l.evaluate(dir, s.forms())
	if err != nil {
		return nil, fmt.Errorf("%s in a session: %w", s.name, err)
	}
	plain, session := marked(out), marked(text)
	if s.countsOnly {
		plain.said, session.said = nil, nil
	}
	evaluated := row{suite: s.name, how: "evaluate-lisp", plain: plain, session: session}
	if s.test != "" {
		return []row{evaluated}, nil
	}
	if dir, err = l.work("system"); err != nil {
		return nil, err
	}
	reply, err := l.session(dir, "run-tests", map[string]any{"system": s.name, "verbose": true})
	if err != nil {
		return nil, fmt.Errorf("run-tests of %s: %w", s.name, err)
	}
	tested := row{suite: s.name, how: "run-tests", plain: plain, session: runTestsAnswer(reply.Text(), reply.IsError)}
	if s.countsOnly {
		tested.session.said = nil
	}
	if plain.fiveAM != nil { // run-tests tells these instead of what FiveAM prints
		tested.plain.said, tested.session.said = nil, nil
		tested.plain.counts, tested.session.counts = plain.fiveAM.String(), tested.session.fiveAM.String()
	}
	return []row{evaluated, tested}, nil
}
