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

// What is only like a name is not meant by it.
func TestMisspelled(t *testing.T) {
	for _, tt := range []struct{ written, name, want string }{
		{"%SIMPLE-FUN-SELF", "%SIMPLE-FUN-DOC", ""},
		{"WHEN-LET", "WHEN", ""},
		{"IF-LET", "FLET", ""},
		{"mapcra", "MAPCAR", "MAPCAR"},
		{"rows", "ROW", "ROW"},
		{"classes", "class", "class"},
		{"QL", "CL", ""},
		{"zap", "zip", ""},
		{"cra", "CAR", "CAR"},
		{"a.lisp", "b.lisp", ""},
		{"shpo.lisp", "shop.lisp", "shop.lisp"},
		{"m22.lisp", "m2.lisp", ""},
	} {
		if got := Misspelled(tt.written, []string{tt.name}); got != tt.want {
			t.Errorf("Misspelled(%q, %q) is %q, not %q", tt.written, tt.name, got, tt.want)
		}
	}
}
