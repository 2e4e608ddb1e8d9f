package lisp

import (
	"regexp"
	"strings"
	"testing"

	"swank-mcp/internal/tier"
)

// testWithoutInternals takes each name that core/sbcl.lisp has of SBCL's own away from an
// SBCL in turn: the helper, compiled below fasls, loads, evaluates and tells what is
// missing. See missing.lisp for how that takes seconds.
func testWithoutInternals(t *testing.T, fasls string, oneIn int) {
	out := runLispScript(t, `
(load-swank)
(load %[1]q)
(check-missing %[2]q %[3]q '(%[4]s) %[5]d %[6]d)`, absolute(t, "testdata/missing.lisp"), absolute(t, "helper")+"/", fasls, quotedOrder(),
		oneIn, tier.Seed(t))
	if !regexp.MustCompile(`(?m)^\d+ of 1\d\d names, 0 failures\n$`).MatchString(out) {
		t.Errorf("the helper in an SBCL that lacks a name:\n%s", out)
	}
}

// Only core/sbcl.lisp names what SBCL keeps for itself.
func TestHelperHasOneDoor(t *testing.T) {
	t.Parallel()
	internal := regexp.MustCompile(`[( '#` + "`" + `,]sb-([a-z0-9-]+::|(kernel|impl|int|c|di|debug|pcl|vm|unix|fasl|walker|eval|alien-internals|assem|disassem):)[a-z*%+]`)
	for _, name := range helperOrder() {
		for i, line := range strings.Split(string(helperText(name)), "\n") {
			code, _, _ := strings.Cut(line, ";")
			if internal.MatchString(" " + code) {
				t.Errorf("%s.lisp:%d: %s: name it in core/sbcl.lisp", name, i+1, line)
			}
		}
	}
}
