package session

import (
	"regexp"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
)

func TestListPackages(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	leftOut := regexp.MustCompile(`\n; \d+ packages of the implementation left out; \{"kind": "all"\} shows them\.$`)
	externals := regexp.MustCompile(`[\d,]+ external`)
	plain := func(args map[string]any) string {
		return externals.ReplaceAllString(harness.ListPackages(t, s, args), "N external")
	}

	got := plain(harness.Object{})
	if !leftOut.MatchString(got) {
		t.Errorf("nothing says what was left out:\n%s", got)
	}
	harness.Says(t, "\n"+got+"\n", "\n- COMMON-LISP (CL), N external\n", "\n- COMMON-LISP-USER (CL-USER), current\n", "\n- KEYWORD, N external\n")
	harness.SaysNot(t, got, "- SB-", "- SWANK", "SWANK-MCP")

	harness.Want(t, s, "(defpackage :zoo (:use :cl) (:nicknames :menagerie) (:export #:cage #:door)) (defpackage :ark (:use :cl)) (in-package :zoo) 1", "=> 1")
	two := "- ARK, made by this session\n- COMMON-LISP (CL), N external\n- COMMON-LISP-USER (CL-USER)\n- KEYWORD, N external\n" +
		"- ZOO (MENAGERIE), N external, made by this session, current"
	if got := leftOut.ReplaceAllString(plain(harness.Object{}), ""); got != two {
		t.Errorf("after two packages\n got:\n%s\nwant:\n%s", got, two)
	}

	for _, c := range []struct {
		args map[string]any
		text string
	}{
		{harness.Object{"kind": "session"}, "- ARK, made by this session\n- ZOO (MENAGERIE), N external, made by this session, current"},
		{harness.Object{"kind": "session", "filter": "z"}, "- ZOO (MENAGERIE), N external, made by this session, current"},
		{harness.Object{"filter": "menag"}, "- ZOO (MENAGERIE), N external, made by this session, current"},
		{harness.Object{"filter": "ARK"}, "- ARK, made by this session"},
		{harness.Object{"filter": "no-such"}, `No package matches "no-such".`},
	} {
		if got := plain(c.args); got != c.text {
			t.Errorf("list-packages %v\n got:\n%s\nwant:\n%s", c.args, got, c.text)
		}
	}

	// All of them, each once.
	all := plain(harness.Object{"kind": "all"})
	n, isErr := harness.Eval(t, s, "(cl:length (cl:list-all-packages))")
	if count := strings.Count(all, "- ") - strings.Count(all, "\n; "); isErr || n != "=> "+itoa(strings.Count("\n"+all, "\n- ")) {
		t.Errorf("kind all shows %d of %s packages", count, n)
	}
	if strings.Contains(all, "left out") || !strings.Contains(all, "- SB-EXT, ") {
		t.Errorf("kind all leaves some out:\n%s", all)
	}
	harness.Says(t, harness.Bad(t, s, "list-packages", harness.Object{"kind": "mine"}), `kind is "mine"; valid: user, session, all.`)

	wantReset(t, s)
	harness.SaysNot(t, plain(harness.Object{"kind": "session"}), "ZOO", "ARK")
	if got := plain(harness.Object{"filter": "cl-user"}); got != "- COMMON-LISP-USER (CL-USER), current" {
		t.Errorf("after reset-session:\n%s", got)
	}
}
