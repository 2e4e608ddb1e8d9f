package tools

import (
	"testing"

	"swank-mcp/mcpbridge/fake"
	"swank-mcp/swank/lisp"
)

func TestDefinitionsText(t *testing.T) {
	f, _ := new(fake.Image).Session("").Definitions(t.Context(), "")
	for _, tt := range []struct{ kind, want string }{
		{"all", "[Functions]\n- FACTORIAL (N)\n- MINE::F (Y)\n\n[Loaded Systems]\n- ALEXANDRIA\n\n[Generic Functions]\n- AREA (S)\n  - (POINT)"},
		{"functions", "[Functions]\n- FACTORIAL (N)\n- MINE::F (Y)"},
		{"systems", "[Loaded Systems]\n- ALEXANDRIA"},
		{"macros", ""},
	} {
		if got := definitionsText(f, tt.kind); got != tt.want {
			t.Errorf("definitionsText(%q) = %q, want %q", tt.kind, got, tt.want)
		}
	}
}

func TestPackagesText(t *testing.T) {
	all, _ := new(fake.Image).Session("").Packages(t.Context())
	for _, tt := range []struct{ filter, kind, want string }{
		{"", "user", "- COMMON-LISP-USER (CL-USER), current\n- MINE, 1,200 external, made by this session\n; 1 package of the implementation left out; {\"kind\": \"all\"} shows them."},
		{"", "session", "- MINE, 1,200 external, made by this session"},
		{"cl-u", "all", "- COMMON-LISP-USER (CL-USER), current"},
		{"nix", "user", "No package matches \"nix\"."},
	} {
		if got := packagesText(all, tt.filter, tt.kind); got != tt.want {
			t.Errorf("packagesText(%q, %q) = %q, want %q", tt.filter, tt.kind, got, tt.want)
		}
	}
}

func TestLoadText(t *testing.T) {
	r := loadText("alexandria", loadTimeout, &lisp.Result{
		Stdout:   lisp.Text{Head: "; Loading \"alexandria\"\n"},
		Warnings: []lisp.Warning{{Type: "WARNING", Message: "undefined variable: X"}},
	})
	want := "Loading system: alexandria\n; Loading \"alexandria\"\nLoaded: alexandria\n\n[warnings]\nWARNING: undefined variable: X"
	if r.Failed || r.Text != want {
		t.Errorf("got %q, want %q", r.Text, want)
	}
	r = loadText("nix", loadTimeout, &lisp.Result{Failure: &lisp.Failure{Type: "ASDF:MISSING-COMPONENT",
		Message: "Component \"nix\" not found", Frames: []string{"(ASDF:LOAD-SYSTEM)"}}})
	if want := "[ERROR] ASDF:MISSING-COMPONENT\nComponent \"nix\" not found"; !r.Failed || r.Text != want {
		t.Errorf("got %q, want %q", r.Text, want)
	}
}
