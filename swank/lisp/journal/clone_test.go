package journal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// define makes entries of words such as "f" or "f+g": the definition of a function, or
// of two by one form, whose text is the word with a number that grows.
func define(j *Journal, words string) {
	for _, word := range strings.Fields(words) {
		var keys []string
		for _, name := range strings.Split(word, "+") {
			keys = append(keys, "(:FUNCTION . "+name+")")
		}
		j.add(keys, word+strings.Repeat("'", int(j.added)), "P")
	}
}

// TestCloneStays: what becomes of a journal does not touch its clone, nor the other way.
func TestCloneStays(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(j *Journal){
		"a redefinition": func(j *Journal) { define(j, "f") },
		"one of two":     func(j *Journal) { define(j, "g"); define(j, "h") },
		"undefining":     func(j *Journal) { j.Undefine("(:FUNCTION . g)") },
		"a loss":         func(j *Journal) { j.Lose("(:FUNCTION . f)", "computed") },
		"a system":       func(j *Journal) { j.AddSystem("alexandria") },
		"a reset":        (*Journal).Reset,
		"the package":    func(j *Journal) { j.Package = "OTHER" },
	} {
		t.Run(name, func(t *testing.T) {
			first := func() *Journal {
				j := &Journal{Package: "P"}
				define(j, "f g+h k f")
				j.Lose("(:FUNCTION . lost)", "computed")
				return j
			}
			j := first()
			clone := j.Clone()
			change(j)
			if diff := cmp.Diff(shape(first()), shape(clone)); diff != "" {
				t.Errorf("the clone, after a change of the journal (-want +got):\n%s", diff)
			}
			j = first()
			change(j.Clone())
			if diff := cmp.Diff(shape(first()), shape(j)); diff != "" {
				t.Errorf("the journal, after a change of its clone (-want +got):\n%s", diff)
			}
		})
	}
}

// shape is what can be seen of a journal.
func shape(j *Journal) map[string]any {
	var keys [][]string
	for _, e := range j.All() {
		keys = append(keys, append([]string{e.Text, e.Package}, e.Keys...))
	}
	return map[string]any{"entries": keys, "without source": j.lost(), "package": j.Package, "live": j.live, "bytes": j.bytes, "summary": j.Summary()}
}

// TestSince: what is evaluated again in an image as it was at a checkpoint, and what the
// journal is then.
func TestSince(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, then, later string
		since, all        string
	}{
		{"nothing since", "f g", "", "", "f g'"},
		{"all since", "", "f g", "f g'", "f g'"},
		{"another one", "f", "g", "g'", "f g'"},
		{"in the order of their evaluation", "f g", "h f", "h'' f'''", "f''' g' h'' f'''"},
		{"redefined twice: the newest", "f", "f f", "f''", "f''"},
		{"one of two that a form defines", "f+g", "f", "f'", "f+g f'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := &Journal{Package: "P"}
			define(j, tt.then)
			then := j.Clone()
			define(j, tt.later)
			j.Package = "LATER"
			since := j.Since(then)
			if got := texts(since); got != tt.since {
				t.Errorf("since then: %q, want %q", got, tt.since)
			}
			if since.Package != "LATER" {
				t.Errorf("the package is %q", since.Package)
			}
			now := then.Clone()
			now.Append(since)
			if got := texts(now); got != tt.all || now.Package != "LATER" {
				t.Errorf("then and since: %q in %s, want %q", got, now.Package, tt.all)
			}
		})
	}
}

// What is newer than a clone is so as often as it is asked for.
func TestNewer(t *testing.T) {
	t.Parallel()
	j := &Journal{}
	define(j, "f g")
	clone := j.Clone()
	if j.Newer(clone) || !j.Newer(&Journal{}) {
		t.Error("nothing was added since")
	}
	define(j, "g h")
	for range 3 {
		if !j.Newer(clone) || len(j.Since(clone).All()) != 2 {
			t.Error("g and h were added since")
		}
	}
}
