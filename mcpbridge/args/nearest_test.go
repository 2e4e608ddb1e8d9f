package args

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"code", "package", "timeout"}
	for in, want := range map[string]string{"cod": "code", "pkg": "", "pack": "package", "time-out": "timeout", "xyzzy": "", "": ""} {
		if got := Nearest(in, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", in, got, want)
		}
	}
}
