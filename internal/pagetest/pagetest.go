// Package pagetest holds parts of the documentation equal to what the code says.
package pagetest

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Check compares the part of the page in file between the lines <!-- name -->
// and <!-- /name --> with what want makes of it as it is, and rewrites it if
// update says so.
func Check(t testing.TB, file, name string, update bool, want func(is string) string) {
	t.Helper()
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := strings.Cut(string(page), begin)
	is, tail, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s has no place for the %s, between %q and %q", file, name, begin, end)
	}
	made := want(is)
	if is == made {
		return
	}
	if !update {
		t.Fatalf("%s is not what the code says; -update rewrites it (-code +page):\n%s", file, cmp.Diff(made, is))
	}
	if err := os.WriteFile(file, []byte(head+begin+made+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
