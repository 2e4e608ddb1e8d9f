package args

import "testing"

func TestUnfenced(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"```lisp\n(+ 1 2)\n```", "\n(+ 1 2)\n"},
		{" \n```common-lisp\r\n(f)\r\n(g)\r\n```\n", "\n\n(f)\r\n(g)\r\n"},
		{"```\n(f)\n```", "\n(f)\n"},
		{"(f)", "(f)"},
		{"`(f ,x)", "`(f ,x)"},
		{"```(f ,,,x)\n", "```(f ,,,x)\n"},
		{"```lisp\n(f)", "```lisp\n(f)"},
		{"```lisp\n(f)\n```\nand\n```lisp\n(g)\n```", "```lisp\n(f)\n```\nand\n```lisp\n(g)\n```"},
		{"", ""},
	} {
		if got := Unfenced(c.code); got != c.want {
			t.Errorf("%q became %q, want %q", c.code, got, c.want)
		}
	}
}
