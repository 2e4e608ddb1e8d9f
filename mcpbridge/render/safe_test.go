package render

import "testing"

func FuzzSafe(f *testing.F) {
	f.Add("plain\tx\n")
	f.Add("\x00\x1b\u202e\xff😀\u0080")
	f.Fuzz(func(t *testing.T, s string) {
		got := Safe(s)
		if firstUnsafe(got) >= 0 {
			t.Fatalf("sanitize(%q) = %q is unsafe", s, got)
		}
		if Safe(got) != got {
			t.Fatalf("sanitize is not idempotent on %q", s)
		}
	})
}
