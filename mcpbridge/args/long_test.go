package args

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Names, paths and patterns have a limit, and code has none; of many arguments that a tool
// does not have only some are remembered.
func TestLongArguments(t *testing.T) {
	t.Parallel()
	spec := Spec{Tool: "look", Example: `{"name": "car"}`, Params: []Param{
		{Name: "name", Kind: Text, Required: true}, {Name: "code", Kind: Text}, {Name: "kind", Kind: Text, Enum: []string{"a"}}, {Name: "n", Kind: Integer, Max: 9},
	}}
	for _, c := range []struct{ name, code, problem, next string }{
		{strings.Repeat("é", MaxName/2), "", "", ""},
		{strings.Repeat("\n", MaxName), "", "", ""}, // twice as long as it is written
		{strings.Repeat("é", MaxName/2) + "a", "", "name has 20001 bytes; it may have 20000. Only code and input may be longer.", `Next: look {"name": "car"}`},
		{strings.Repeat("a", MaxName+1), "(f)", "name has 20001 bytes; it may have 20000. Only code and input may be longer.", `Next: look {"name": "car", "code": "(f)"}`},
		{"car", strings.Repeat("a", 10*MaxName), "", ""},
	} {
		raw, err := json.Marshal(map[string]any{"name": c.name, "code": c.code})
		if c.code == "" {
			raw, err = json.Marshal(map[string]any{"name": c.name})
		}
		if err != nil {
			t.Fatal(err)
		}
		switch a := Parse(spec, raw); {
		case c.problem == "" && a.Err != nil:
			t.Errorf("%.20s… is refused: %v", raw, a.Err)
		case c.problem == "":
		case a.Err == nil || a.Err.Problem != c.problem:
			t.Errorf("%.20s…: %v", raw, a.Err)
		case !sameCall(a.Next(), c.next):
			t.Errorf("%.20s…: %s", raw, a.Next())
		}
	}
	var many strings.Builder
	many.WriteString(`{"name": "car"`)
	for i := range 100_000 {
		fmt.Fprintf(&many, `,"qwertyuiop%d":1`, i)
	}
	a := Parse(spec, []byte(many.String()+"}"))
	if want := `look has no argument "qwertyuiop0". Valid: name, code, kind, n.`; a.Err == nil || a.Err.Problem != want || len(a.strange) != maxStrange {
		t.Errorf("%d are remembered: %v", len(a.strange), a.Err)
	}
	if next := a.Next(); next != `Next: look {"name": "car"}` {
		t.Error(next)
	}
}

// sameCall reports whether two calls have the same arguments, in any order.
func sameCall(a, b string) bool {
	var x, y map[string]any
	_, first, _ := strings.Cut(a, "{")
	_, second, _ := strings.Cut(b, "{")
	if json.Unmarshal([]byte("{"+first), &x) != nil || json.Unmarshal([]byte("{"+second), &y) != nil {
		return false
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}
