package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What is said after an edit is told, missed, or said though the edit does not bring it about.
func TestHolds(t *testing.T) {
	t.Parallel()
	const want = `^- a\.lisp has changed since it was loaded: MINE differs$`
	for _, c := range []struct {
		lines   []string
		want    string
		verdict string
	}{
		{nil, "", "told"},
		{[]string{"- a.lisp has changed since it was loaded: MINE differs"}, want, "told"},
		{nil, want, "missed: loaded: " + want},
		{[]string{"- a.lisp has changed since it was loaded: MINE, OTHER differ"}, want, "missed: loaded: " + want},
		{[]string{"- USER, OTHER were compiled before MINE, TOO changed; a fresh image compiles them otherwise"}, "", "told"},
		{[]string{"- MINE was compiled before OTHER changed; a fresh image compiles it otherwise"}, "",
			"also: loaded: - MINE was compiled before OTHER changed; a fresh image compiles it otherwise"},
		{[]string{"What else may differ is not known: MINE"}, "", "also: loaded: What else may differ is not known: MINE"},
	} {
		e := edit{Kind: "edited", Name: "MINE"}
		e.holds("loaded", c.lines, c.want)
		if got := e.verdict(); got != c.verdict || e.wrong() != (c.verdict != "told") {
			t.Errorf("%q: %s, expected %s", c.lines, got, c.verdict)
		}
	}
}

// A run that was stopped goes on where it was, even within a line; one of another build begins anew.
func TestRecord(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "libraries.jsonl")
	open := func(build string) *record {
		f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		r := &record{File: f}
		if err := r.read(build); err != nil {
			t.Fatal(err)
		}
		return r
	}
	add := func(r *record, o *outcome) {
		if err := r.add(o); err != nil {
			t.Fatal(err)
		}
	}
	r := open("one")
	add(r, &outcome{Library: "a", Files: "2", Definitions: "1,234", Edits: []edit{{Kind: "edited", Name: "F"}, {Kind: "live"}}})
	add(r, &outcome{Library: "b", Ended: noPlain})
	if _, err := r.WriteString(`{"Library":"c","Cla`); err != nil {
		t.Fatal(err)
	}
	r = open("one")
	if r.of("a") == nil || r.of("b") == nil || r.of("c") != nil {
		t.Fatalf("%d outcomes", len(r.outcomes))
	}
	add(r, &outcome{Library: "c", Claimed: []string{"project-status: - x", "project-status: - y"}})
	r = open("one")
	var names []string
	for _, o := range r.outcomes {
		names = append(names, o.Library)
	}
	if !slices.Equal(names, []string{"a", "b", "c"}) {
		t.Fatal(names)
	}
	got := r.section([]library{{name: "a"}, {name: "b"}, {name: "c"}})
	want := librariesHead + "| a | 2 | 1,234 | 0 | told |  |  | none to choose |\n| c |  |  | 2 |  |  |  |  |\n\nNot loaded by a plain `sbcl`, and so not tried: b.\n"
	if got != want {
		t.Errorf("%s\nexpected %s", got, want)
	}
	if r = open("two"); len(r.outcomes) != 0 {
		t.Errorf("%d outcomes of another build", len(r.outcomes))
	}
}

func TestWriteInto(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("a\n<!-- foreign -->\nold\n<!-- /foreign -->\n<!-- libraries -->\n<!-- /libraries -->\nz\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeInto(page, "libraries", "new\n"); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(page); err != nil || string(data) != "a\n<!-- foreign -->\nold\n<!-- /foreign -->\n<!-- libraries -->\nnew\n<!-- /libraries -->\nz\n" {
		t.Errorf("%s, %v", data, err)
	}
	if err := writeInto(page, "other", ""); err == nil || !strings.Contains(err.Error(), "<!-- other -->") {
		t.Errorf("%v", err)
	}
}
