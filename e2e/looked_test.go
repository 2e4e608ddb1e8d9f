package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/internal/await"
)

// Look-ups are in the transcript, in one line each, with why they have found nothing. What
// evaluates is not taken for one.
func TestTranscriptHasLookUps(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.server("ledger")
	w, lines := d.watches(), d.watches("--json")
	want(t, s, "(defun half (x) (/ x 2))", "=> HALF")
	good(t, s, "describe-symbol", object{"name": "half"})
	call(t, s, "find-definition", object{"name": "no-such-name"})
	says(t, good(t, s, "inspect-object", object{"code": "(list\n1\n2)"}), "obj-1")
	good(t, s, "inspect-object", object{"handle": "obj-1"})
	good(t, s, "session-status", object{})
	good(t, s, "validate-syntax", object{"code": "(list " + strings.Repeat("λ ", 5000) + ")"})
	w.shows(t, ` default, describe-symbol, wire 1 looks {"name":"half"}`+"\n",
		` default, find-definition, wire 1 looks {"name":"no-such-name"}: `,
		", inspect-object, wire 1\n(list\n1\n2)\n", ` default, inspect-object, wire 1 looks {"handle":"obj-1"}`+"\n",
		" default, session-status, wire 1 looks {}\n", `validate-syntax, wire 1 looks {"code":"(list λ`)
	lines.shows(t, `"kind":"looked","session":"default","client":"wire 1","tool":"validate-syntax"`)
	kinds := func(text string) string {
		var all []string
		for line := range strings.Lines(text) {
			var e struct{ Kind, Tool, Text string }
			check(t, json.Unmarshal([]byte(line), &e))
			if e.Tool != "" {
				all = append(all, e.Kind+" "+e.Tool)
			}
			if len(e.Text) > 300 {
				t.Errorf("the text of a look-up is long: %s", e.Text)
			}
		}
		return strings.Join(all, ", ")
	}
	const expected = "begun evaluate-lisp, ended evaluate-lisp, looked describe-symbol, looked find-definition, begun inspect-object, ended inspect-object, " +
		"looked inspect-object, looked session-status, looked validate-syntax"
	if got := kinds(lines.out.String()); got != expected {
		t.Errorf("watched:\n%s\nwant\n%s", got, expected)
	}
	check(t, s.Close(await.Ceiling))
	files, err := filepath.Glob(filepath.Join(d.home, "state", "swank-mcp", "transcripts", "*-default.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files of the transcript: %v, %v", files, err)
	}
	kept, err := os.ReadFile(files[0])
	check(t, err)
	if got := kinds(string(kept)); got != expected {
		t.Errorf("in the file:\n%s\nwant\n%s", got, expected)
	}
}
