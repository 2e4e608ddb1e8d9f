package people

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
)

// Look-ups are in the transcript, in one line each, with why they have found nothing. What
// evaluates is not taken for one.
func TestTranscriptHasLookUps(t *testing.T) {
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("ledger")
	w, lines := d.Watches(), d.Watches("--json")
	harness.Want(t, s, "(defun half (x) (/ x 2))", "=> HALF")
	harness.Good(t, s, "describe-symbol", harness.Object{"name": "half"})
	harness.Call(t, s, "find-definition", harness.Object{"name": "no-such-name"})
	harness.Says(t, harness.Good(t, s, "inspect-object", harness.Object{"code": "(list\n1\n2)"}), "obj-1")
	harness.Good(t, s, "inspect-object", harness.Object{"handle": "obj-1"})
	harness.Good(t, s, "session-status", harness.Object{})
	harness.Good(t, s, "validate-syntax", harness.Object{"code": "(list " + strings.Repeat("λ ", 5000) + ")"})
	w.Shows(t, ` default, describe-symbol, wire 1 looks {"name":"half"}`+"\n",
		` default, find-definition, wire 1 looks {"name":"no-such-name"}: `,
		", inspect-object, wire 1\n(list\n1\n2)\n", ` default, inspect-object, wire 1 looks {"handle":"obj-1"}`+"\n",
		" default, session-status, wire 1 looks {}\n", `validate-syntax, wire 1 looks {"code":"(list λ`)
	lines.Shows(t, `"kind":"looked","session":"default","client":"wire 1","tool":"validate-syntax"`)
	kinds := func(text string) string {
		var all []string
		for line := range strings.Lines(text) {
			var e struct{ Kind, Tool, Text string }
			harness.Check(t, json.Unmarshal([]byte(line), &e))
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
	if got := kinds(lines.Out.String()); got != expected {
		t.Errorf("watched:\n%s\nwant\n%s", got, expected)
	}
	harness.Check(t, s.Close(await.Ceiling))
	files, err := filepath.Glob(filepath.Join(d.Home, "state", "swank-mcp", "transcripts", "*-default.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files of the transcript: %v, %v", files, err)
	}
	kept, err := os.ReadFile(files[0])
	harness.Check(t, err)
	if got := kinds(string(kept)); got != expected {
		t.Errorf("in the file:\n%s\nwant\n%s", got, expected)
	}
}
