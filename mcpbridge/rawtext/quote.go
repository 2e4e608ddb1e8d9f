package rawtext

import "encoding/json"

// Quote is v as JSON; the values here (strings, floats, slices of strings) always have one.
func Quote(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
