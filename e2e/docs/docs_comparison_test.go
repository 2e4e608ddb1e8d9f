package docs

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
)

const comparison = "docs/comparison.md"

// TestDocsComparison: our column in docs/comparison.md is what the capabilities say, each of
// which names the tests that show it, and these are there.
func TestDocsComparison(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(harness.InTree(comparison))
	harness.Check(t, err)
	lines := strings.Split(string(data), "\n")
	verdicts := map[string]int{}
	seen := map[string]bool{}
	ours := false // in a table whose second column is ours
	for n, line := range lines {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			ours = false
			continue
		}
		what, is := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		if is == "swank-mcp" {
			ours = true
			continue
		}
		if !ours || strings.HasPrefix(is, "---") {
			continue
		}
		seen[what] = true
		i := slices.IndexFunc(capabilities, func(c capability) bool { return c.what == what })
		if i < 0 {
			t.Errorf("%s:%d: %s: no capability of docs_comparison_rows_test.go is called so", comparison, n+1, what)
			continue
		}
		want, err := capabilities[i].cell()
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		verdict, _, _ := strings.Cut(want, ":")
		verdicts[verdict]++
		if is == want {
			continue
		}
		cells[2] = " " + want + " "
		lines[n] = strings.Join(cells, "|")
		if !*harness.Update {
			t.Errorf("%s:%d: %s: the page says %q, and the tests show %q; -update rewrites it", comparison, n+1, what, is, want)
		}
	}
	for _, c := range capabilities {
		if !seen[c.what] {
			t.Errorf("%s has no row %s", comparison, c.what)
		}
	}
	if verdicts["yes"] < 40 || verdicts["no"] == 0 {
		t.Errorf("the tables were not understood: %v", verdicts)
	}
	if *harness.Update && !t.Failed() {
		harness.Check(t, os.WriteFile(harness.InTree(comparison), []byte(strings.Join(lines, "\n")), 0o644))
	}
}

// TestDocsComparisonIsShown: what a test shows cannot be denied, and what none shows cannot be said.
func TestDocsComparisonIsShown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		c             capability
		cell, problem string
	}{
		{capability{shown: []string{"jobs"}}, "yes: [jobs](../e2e/testdata/script/jobs.txtar)", ""},
		{capability{shown: []string{"jobs", "e2e/docs.TestDocs"}, remark: "in turn"}, "yes: [jobs](../e2e/testdata/script/jobs.txtar), [TestDocs](../e2e/docs/docs_test.go); in turn", ""},
		{capability{shown: []string{"jobs"}, lacks: "in no registry yet"}, "partly: [jobs](../e2e/testdata/script/jobs.txtar); in no registry yet", ""},
		{capability{no: "nobody wants it"}, "no: nobody wants it", ""},
		{capability{shown: []string{"jobs"}, no: "nobody wants it"}, "", "tests show it, so it cannot say no"},
		{capability{}, "", "no test shows it, and no word why"},
		{capability{no: "why"}, "", "no test shows it, and no word why"},
		{capability{shown: []string{"no-such-script"}}, "", "no such file"},
		{capability{shown: []string{"e2e/docs.TestNothing"}}, "", "e2e/docs has no test TestNothing"},
	} {
		cell, err := tt.c.cell()
		if cell != tt.cell || (err == nil) != (tt.problem == "") || err != nil && !strings.Contains(err.Error(), tt.problem) {
			t.Errorf("%+v: %q, %v; want %q, %q", tt.c, cell, err, tt.cell, tt.problem)
		}
	}
}

// cell makes our column in the row of c.
func (c capability) cell() (string, error) {
	if len(c.shown) == 0 {
		if len(strings.Fields(c.no)) < 3 {
			return "", errors.New("no test shows it, and no word why")
		}
		return "no: " + c.no, nil
	}
	if c.no != "" {
		return "", errors.New("tests show it, so it cannot say no")
	}
	var links []string
	for _, name := range c.shown {
		label, target, err := shownBy(name)
		if err != nil {
			return "", err
		}
		links = append(links, fmt.Sprintf("[%s](%s)", label, target))
	}
	cell := "yes: " + strings.Join(links, ", ")
	if c.lacks != "" {
		cell = "partly" + strings.TrimPrefix(cell, "yes") + "; " + c.lacks
	}
	if c.remark != "" {
		cell += "; " + c.remark
	}
	return cell, nil
}

// shownBy returns the label of the test called name in a capability, and its file as the page
// names it; the error says why there is none.
func shownBy(name string) (label, target string, err error) {
	if dir, test, ok := strings.Cut(name, ".Test"); ok {
		files, _ := filepath.Glob(harness.InTree(dir, "*_test.go"))
		for _, file := range files {
			if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), "\nfunc Test"+test+"(t *testing.T)") {
				return "Test" + test, "../" + path.Join(dir, filepath.Base(file)), nil
			}
		}
		return "", "", fmt.Errorf("%s has no test Test%s", dir, test)
	}
	if page, ok := strings.CutPrefix(name, "docs/"); ok {
		p, err := readPage(name)
		if err != nil {
			return "", "", err
		}
		if !slices.ContainsFunc(p.items, func(b item) bool { return b.kind == "text" && b.notRun == "" }) {
			return "", "", fmt.Errorf("%s has no examples", name)
		}
		return strings.TrimSuffix(path.Base(page), ".md"), page, nil
	}
	script := path.Join("e2e/testdata/script", name+".txtar")
	_, err = os.Stat(harness.InTree(script))
	return name, "../" + script, err
}
