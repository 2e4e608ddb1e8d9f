package docs

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
)

// TestDocsComparison: in docs/comparison.md each "yes" of ours links to a test
// that is there, and each "no" or "partly" says why.
func TestDocsComparison(t *testing.T) {
	t.Parallel()
	const file = "docs/comparison.md"
	data, err := os.ReadFile(harness.InTree(file))
	harness.Check(t, err)
	rows := map[string]int{}
	ours := false // in a table whose second column is ours
	for n, line := range strings.Split(string(data), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			ours = false
			continue
		}
		what, cell := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		if cell == "swank-mcp" {
			ours = true
			continue
		}
		if !ours || strings.HasPrefix(cell, "---") {
			continue
		}
		verdict, rest, _ := strings.Cut(cell, ": ")
		rows[verdict]++
		links := markdownLink.FindAllStringSubmatchIndex(rest, -1)
		why := rest
		if len(links) > 0 {
			_, why, _ = strings.Cut(rest, "; ")
		}
		if verdict == "no" {
			why = rest
		}
		if verdict != "yes" && len(strings.Fields(why)) < 3 {
			t.Errorf("%s:%d: %s: %s, and no word why", file, n+1, what, verdict)
		}
		if verdict == "no" {
			continue
		}
		if len(links) == 0 {
			t.Errorf("%s:%d: %s: %s, and no link to the test that shows it", file, n+1, what, verdict)
		}
		for _, l := range links {
			label := rest[strings.LastIndexByte(rest[:l[0]], '[')+1 : l[0]]
			if problem := shownBy(label, path.Join(path.Dir(file), rest[l[2]:l[3]])); problem != "" {
				t.Errorf("%s:%d: %s: %s", file, n+1, what, problem)
			}
		}
	}
	t.Logf("rows: %v", rows)
	for verdict := range rows {
		if !slices.Contains([]string{"yes", "partly", "no"}, verdict) {
			t.Errorf("a row says %q", verdict)
		}
	}
	if rows["yes"] < 40 || rows["no"] == 0 {
		t.Errorf("the tables were not understood: %v", rows)
	}
}

// movedTo says which file has the test, if one has.
func movedTo(test string) string {
	found, _ := filepath.Glob(harness.InTree("*", "*_test.go"))
	deeper, _ := filepath.Glob(harness.InTree("*", "*", "*_test.go"))
	for _, file := range append(found, deeper...) {
		if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), "\nfunc "+test+"(t *testing.T)") {
			return "; it is in " + strings.TrimPrefix(file, harness.InTree()+"/")
		}
	}
	return ""
}

// shownBy says what is wrong with a link to a test, or "". It may lead to a
// test function, named by its label, to a session written down as a script, or
// to a page whose examples are run.
func shownBy(label, target string) string {
	data, err := os.ReadFile(harness.InTree(target))
	switch {
	case err != nil:
		return err.Error()
	case strings.HasSuffix(target, "_test.go"):
		if !strings.Contains(string(data), "\nfunc "+label+"(t *testing.T)") {
			return target + " has no test " + label + movedTo(label)
		}
	case filepath.Ext(target) == ".txtar":
	case filepath.Ext(target) == ".md":
		p, err := readPage(target)
		if err != nil {
			return err.Error()
		}
		if !slices.ContainsFunc(p.items, func(b item) bool { return b.kind == "text" && b.notRun == "" }) {
			return target + " has no examples"
		}
	default:
		return target + " is no test"
	}
	return ""
}
