package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// definitions measures a session with n definitions: listing a section of
// them, evaluating beside them, and undoing them.
func (l lab) definitions(t *table, n int) error {
	b, _, err := l.start("cache")
	if err != nil {
		return err
	}
	defer b.Close(10 * time.Second)
	evaluation := func() (times, error) {
		return repeat(300, func() error { _, err := b.eval("(+ 1 2)", "=> 3"); return err })
	}
	if _, err := evaluation(); err != nil { // warm
		return err
	}
	empty, err := evaluation()
	if err != nil {
		return err
	}
	for i := 0; i < n; i += 100 {
		if _, err := b.eval(manyDefinitions(i, 100), "=> "); err != nil {
			return err
		}
	}
	full, err := evaluation()
	if err != nil {
		return err
	}
	var list times
	for _, section := range []string{"functions", "variables", "macros", "structures"} {
		took, err := repeat(3, func() error {
			return b.expect("list-definitions", map[string]any{"type": section}, "- ")
		})
		if err != nil {
			return err
		}
		list = append(list, took...)
	}
	reset, err := repeat(1, func() error { return b.expect("reset-session", nil, "Session reset.") })
	if err != nil {
		return err
	}
	after, err := evaluation()
	if err != nil {
		return err
	}
	if err := b.expect("list-definitions", nil, "No user definitions."); err != nil {
		return err
	}
	name := func(what string) string { return fmt.Sprintf("%s, %s definitions", what, thousands(n)) }
	t.add(name("slowest list of a section"), "ms", 0, ms(list.at(100))).most(300)
	t.add(name("reset-session"), "ms", 0, ms(reset[0])).most(300)
	t.add("evaluation in an empty session, p50", "ms", 0, ms(empty.at(50)))
	t.add(name("evaluation, p50"), "ms", 0, ms(full.at(50)))
	t.add(name("ratio of evaluations"), "", 0, float64(full.at(50))/float64(empty.at(50))).most(2)
	t.add("ratio of evaluations, after the reset", "", 0, float64(after.at(50))/float64(empty.at(50))).most(2)
	return nil
}

// manyDefinitions are n top level forms, from number i on, of every kind in turn.
func manyDefinitions(i, n int) string {
	kinds := []string{
		"(defun bench-function-%[1]d (x) (+ x %[1]d))", "(defvar *bench-variable-%[1]d* %[1]d)",
		"(defmacro bench-macro-%[1]d (x) (list '+ x %[1]d))", "(defparameter *bench-parameter-%[1]d* %[1]d)",
		"(defconstant +bench-constant-%[1]d+ %[1]d)",
	}
	rare := []string{"(defstruct bench-structure-%[1]d slot)", "(defclass bench-class-%[1]d () (slot))"}
	var b strings.Builder
	for k := range n {
		form := kinds[(i+k)%len(kinds)]
		if k%50 == 0 { // these take a millisecond and more to define
			form = rare[(i+k)/50%2]
		}
		fmt.Fprintf(&b, form+"\n", i+k)
	}
	return b.String()
}

// expect calls a tool, whose reply must be no error and contain want.
func (b bridge) expect(tool string, arguments map[string]any, want string) error {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	r, err := b.Tool(ctx, tool, arguments)
	if err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	if r.IsError || !strings.Contains(r.Text(), want) {
		return fmt.Errorf("%s: got %.300q, want %q", tool, r.Text(), want)
	}
	return nil
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
