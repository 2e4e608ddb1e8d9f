package e2e

import (
	"regexp"
	"strings"
	"testing"
)

// listPackages returns the text of list-packages.
func listPackages(t *testing.T, s *server, args object) string {
	t.Helper()
	return good(t, s, "list-packages", args)
}

func TestListPackages(t *testing.T) {
	t.Parallel()
	s := start(t)
	leftOut := regexp.MustCompile(`\n; \d+ packages of the implementation left out; \{"kind": "all"\} shows them\.$`)
	externals := regexp.MustCompile(`[\d,]+ external`)
	plain := func(args map[string]any) string {
		return externals.ReplaceAllString(listPackages(t, s, args), "N external")
	}

	got := plain(object{})
	if !leftOut.MatchString(got) {
		t.Errorf("nothing says what was left out:\n%s", got)
	}
	says(t, "\n"+got+"\n", "\n- COMMON-LISP (CL), N external\n", "\n- COMMON-LISP-USER (CL-USER), current\n", "\n- KEYWORD, N external\n")
	saysNot(t, got, "- SB-", "- SWANK", "SWANK-MCP")

	want(t, s, "(defpackage :zoo (:use :cl) (:nicknames :menagerie) (:export #:cage #:door)) (defpackage :ark (:use :cl)) (in-package :zoo) 1", "=> 1")
	two := "- ARK, made by this session\n- COMMON-LISP (CL), N external\n- COMMON-LISP-USER (CL-USER)\n- KEYWORD, N external\n" +
		"- ZOO (MENAGERIE), N external, made by this session, current"
	if got := leftOut.ReplaceAllString(plain(object{}), ""); got != two {
		t.Errorf("after two packages\n got:\n%s\nwant:\n%s", got, two)
	}

	for _, c := range []struct {
		args map[string]any
		text string
	}{
		{object{"kind": "session"}, "- ARK, made by this session\n- ZOO (MENAGERIE), N external, made by this session, current"},
		{object{"kind": "session", "filter": "z"}, "- ZOO (MENAGERIE), N external, made by this session, current"},
		{object{"filter": "menag"}, "- ZOO (MENAGERIE), N external, made by this session, current"},
		{object{"filter": "ARK"}, "- ARK, made by this session"},
		{object{"filter": "no-such"}, `No package matches "no-such".`},
	} {
		if got := plain(c.args); got != c.text {
			t.Errorf("list-packages %v\n got:\n%s\nwant:\n%s", c.args, got, c.text)
		}
	}

	// All of them, each once.
	all := plain(object{"kind": "all"})
	n, isErr := eval(t, s, "(cl:length (cl:list-all-packages))")
	if count := strings.Count(all, "- ") - strings.Count(all, "\n; "); isErr || n != "=> "+itoa(strings.Count("\n"+all, "\n- ")) {
		t.Errorf("kind all shows %d of %s packages", count, n)
	}
	if strings.Contains(all, "left out") || !strings.Contains(all, "- SB-EXT, ") {
		t.Errorf("kind all leaves some out:\n%s", all)
	}
	says(t, bad(t, s, "list-packages", object{"kind": "mine"}), `kind is "mine"; valid: user, session, all.`)

	wantReset(t, s)
	saysNot(t, plain(object{"kind": "session"}), "ZOO", "ARK")
	if got := plain(object{"filter": "cl-user"}); got != "- COMMON-LISP-USER (CL-USER), current" {
		t.Errorf("after reset-session:\n%s", got)
	}
}
