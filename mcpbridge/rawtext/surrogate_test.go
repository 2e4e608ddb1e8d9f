package rawtext

import "testing"

func TestLoneSurrogate(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{`"plain"`, ""},
		{`"λ😀"`, ""},
		{`"\ud83d\ude00"`, ""},
		{`"x\ud83d\ude00y\ud83d\ude00"`, ""},
		{`"\\ud800"`, ""}, // a backslash and letters
		{`"\\\ud800"`, `\ud800`},
		{`"\ud800"`, `\ud800`},
		{`"\uD800 x"`, `\uD800`},
		{`"\udc00\ud800"`, `\udc00`},
		{`"\ud800\ud800"`, `\ud800`},
		{`"\ud800\n\udc00"`, `\ud800`},
		{`"\ud83d\ude00\ud800"`, `\ud800`},
		{`"\ud8`, ""},
		{`"\`, ""},
		{``, ""},
	} {
		if got := LoneSurrogate([]byte(tt.text)); got != tt.want {
			t.Errorf("loneSurrogate(%s) = %q, want %q", tt.text, got, tt.want)
		}
	}
}
