package rawtext

import (
	"encoding/json"
	"testing"
)

// TestExact: what package json gives back as it was.
func TestExact(t *testing.T) {
	for raw, want := range map[string]bool{
		`0`: true, `7`: true, `-7`: true, `9007199254740991`: true, `-9007199254740991`: true,
		`""`: true, `"x"`: true, `"λ"`: true, `"\ud83d\ude00"`: true, `"\\ud800"`: true, `"1.5"`: true,
		`-0`: false, `1.5`: false, `1.0`: false, `1e3`: false, `1E+3`: false, `9007199254740992`: false, `9007199254740993`: false,
		`-9007199254740992`: false, `123456789012345678901234567890`: false, `"\ud800"`: false, "\"\xff\"": false,
		`null`: false, `true`: false, `{}`: false, `[1]`: false,
	} {
		if got := Exact([]byte(raw)); got != want {
			t.Errorf("%s: %v", raw, got)
		}
		var v any
		if err := json.Unmarshal([]byte(raw), &v); err != nil {
			t.Fatal(err)
		}
		if _, number := v.(float64); number && want {
			if back, err := json.Marshal(v); err != nil || string(back) != raw {
				t.Errorf("%s comes back as %s, %v", raw, back, err)
			}
		}
	}
}
