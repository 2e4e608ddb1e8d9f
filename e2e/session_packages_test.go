package e2e

import (
	"regexp"
	"strings"
	"testing"
)

func listPackages(t *testing.T, s *server, args map[string]any) string {
	t.Helper()
	r := call(t, s, patience, "list-packages", args)
	if r.IsError {
		t.Errorf("list-packages %v failed:\n%s", args, r.Text())
	}
	return r.Text()
}

func TestListPackages(t *testing.T) {
	s := start(t)
	leftOut := regexp.MustCompile(`\n; \d+ packages of the implementation left out; \{"kind": "all"\} shows them\.$`)
	externals := regexp.MustCompile(`[\d,]+ external`)
	plain := func(args map[string]any) string {
		return externals.ReplaceAllString(listPackages(t, s, args), "N external")
	}

	got := plain(map[string]any{})
	if !leftOut.MatchString(got) {
		t.Errorf("nothing says what was left out:\n%s", got)
	}
	for _, line := range []string{"- COMMON-LISP (CL), N external", "- COMMON-LISP-USER (CL-USER), current", "- KEYWORD, N external"} {
		if !strings.Contains("\n"+got+"\n", "\n"+line+"\n") {
			t.Errorf("no line %q:\n%s", line, got)
		}
	}
	for _, hidden := range []string{"- SB-", "- SWANK", "SWANK-MCP"} {
		if strings.Contains(got, hidden) {
			t.Errorf("%q is shown:\n%s", hidden, got)
		}
	}

	want(t, s, "(defpackage :zoo (:use :cl) (:nicknames :menagerie) (:export #:cage #:door)) (defpackage :ark (:use :cl)) (in-package :zoo) 1", "=> 1")
	got = plain(map[string]any{})
	lines := strings.Split(leftOut.ReplaceAllString(got, ""), "\n")
	wantLines := []string{"- ARK, made by this session", "- COMMON-LISP (CL), N external", "- COMMON-LISP-USER (CL-USER)", "- KEYWORD, N external",
		"- ZOO (MENAGERIE), N external, made by this session, current"}
	for _, line := range lines {
		if !strings.HasPrefix(line, "- ") {
			t.Errorf("odd line %q", line)
		}
	}
	if joined := strings.Join(lines, "\n"); joined != strings.Join(wantLines, "\n") {
		t.Errorf("after two packages\n got:\n%s\nwant:\n%s", joined, strings.Join(wantLines, "\n"))
	}

	for _, c := range []struct {
		args map[string]any
		text string
	}{
		{map[string]any{"kind": "session"}, "- ARK, made by this session\n- ZOO (MENAGERIE), N external, made by this session, current"},
		{map[string]any{"kind": "session", "filter": "z"}, "- ZOO (MENAGERIE), N external, made by this session, current"},
		{map[string]any{"filter": "menag"}, "- ZOO (MENAGERIE), N external, made by this session, current"},
		{map[string]any{"filter": "ARK"}, "- ARK, made by this session"},
		{map[string]any{"filter": "no-such"}, `No package matches "no-such".`},
	} {
		if got := plain(c.args); got != c.text {
			t.Errorf("list-packages %v\n got:\n%s\nwant:\n%s", c.args, got, c.text)
		}
	}

	// All of them, each once.
	all := plain(map[string]any{"kind": "all"})
	n, isErr := eval(t, s, "(cl:length (cl:list-all-packages))")
	if count := strings.Count(all, "- ") - strings.Count(all, "\n; "); isErr || n != "=> "+itoa(strings.Count("\n"+all, "\n- ")) {
		t.Errorf("kind all shows %d of %s packages", count, n)
	}
	if strings.Contains(all, "left out") || !strings.Contains(all, "- SB-EXT, ") {
		t.Errorf("kind all leaves some out:\n%s", all)
	}
	r := call(t, s, patience, "list-packages", map[string]any{"kind": "mine"})
	if !r.IsError || !strings.Contains(r.Text(), `kind is "mine"; valid: user, session, all.`) {
		t.Errorf("a wrong kind answered (isError %v):\n%s", r.IsError, r.Text())
	}

	wantReset(t, s)
	if got := plain(map[string]any{"kind": "session"}); strings.Contains(got, "ZOO") || strings.Contains(got, "ARK") {
		t.Errorf("after reset-session:\n%s", got)
	}
	if got := plain(map[string]any{"filter": "cl-user"}); got != "- COMMON-LISP-USER (CL-USER), current" {
		t.Errorf("after reset-session:\n%s", got)
	}
}
