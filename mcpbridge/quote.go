package mcpbridge

import "encoding/json"

// quote is v as JSON; the values here (strings, floats, slices of strings) always have one.
func quote(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
