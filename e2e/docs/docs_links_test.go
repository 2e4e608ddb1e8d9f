package docs

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
)

var (
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading      = regexp.MustCompile(`(?m)^#+ (.*)$`)
	anchorNoise  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestDocsLinks: what the pages link to within the repository is there, and so
// is the heading behind a #.
func TestDocsLinks(t *testing.T) {
	t.Parallel()
	for _, p := range append(userPages(t), pagesWithoutExamples...) {
		data, err := os.ReadFile(harness.InTree(p))
		if os.IsNotExist(err) && slices.Contains(pagesWithoutExamples, p) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		for _, m := range markdownLink.FindAllStringSubmatch(string(data), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, anchor, _ := strings.Cut(m[1], "#")
			target := p
			if file != "" {
				target = path.Join(path.Dir(p), file)
			}
			text, err := os.ReadFile(harness.InTree(target))
			if info, e := os.Stat(harness.InTree(target)); e != nil {
				t.Errorf("%s links to %s, which is not there", p, m[1])
				continue
			} else if info.IsDir() {
				continue
			}
			if err != nil || anchor != "" && !anchors(string(text))[anchor] {
				t.Errorf("%s links to %s, which has no such heading (%v)", p, m[1], err)
			}
		}
	}
}

// anchors are the names that headings can be linked to by.
func anchors(text string) map[string]bool {
	m := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		m[strings.ReplaceAll(anchorNoise.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-")] = true
	}
	return m
}
