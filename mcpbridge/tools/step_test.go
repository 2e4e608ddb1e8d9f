package tools

import "testing"

// Other debuggers have other words for the same.
func TestStepModes(t *testing.T) {
	for word, want := range map[string]string{
		"over": "next", "STEP_OVER": "next", "step-into": "into", "finish": "out", "resume": "continue",
		"next": "next", "fly": "fly",
	} {
		if got := stepMode(word); got != want {
			t.Errorf("%s is taken for %s, want %s", word, got, want)
		}
	}
}
