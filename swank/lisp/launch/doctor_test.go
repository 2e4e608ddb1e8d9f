package launch

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func find(t *testing.T, r *Report, name string) Check {
	t.Helper()
	for _, c := range r.Checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no check %q in %+v", name, r.Checks)
	return Check{}
}

func TestDoctor(t *testing.T) {
	c := testConfig(t)
	c.NoUserInit, c.NoCore = false, false
	home(t, `(error "in the init file")`)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r := Doctor(ctx, c, testCode(""))
	if !r.OK() {
		t.Errorf("not OK: %+v", r.Checks)
	}
	for name, want := range map[string]string{
		"SBCL": "SBCL ", "Swank": "slime", "cache": c.CacheDir, "core": "", "init file": ".sbclrc", "start": " with Swank ",
	} {
		if got := find(t, r, name); !strings.Contains(got.Found, want) {
			t.Errorf("%+v lacks %q", got, want)
		}
	}
	if got := find(t, r, "start"); !strings.Contains(got.Problem, "in the init file") {
		t.Errorf("the broken init file is not mentioned: %+v", got)
	}
}

func TestDoctorFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho 3.0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	noSBCL := c
	noSBCL.SBCL = filepath.Join(t.TempDir(), "nothing")
	wrong := c
	wrong.SBCL = file
	noSwank := c
	noSwank.SwankDir = t.TempDir()
	noStart := c
	noStart.HeapMB = 1 << 30
	for _, test := range []struct {
		name  string
		c     Config
		check string
	}{{"no SBCL", noSBCL, "SBCL"}, {"not SBCL", wrong, "SBCL"}, {"no Swank", noSwank, "Swank"}, {"heap", noStart, "start"}} {
		r := Doctor(t.Context(), test.c, testCode(""))
		got := find(t, r, test.check)
		if r.OK() || !got.Fatal || got.Problem == "" || got.Advice == "" && test.check != "start" {
			t.Errorf("%s: %+v", test.name, r.Checks)
		}
	}
	noCache := c
	noCache.CacheDir = filepath.Join(file, "cache")
	r := Doctor(t.Context(), noCache, testCode(""))
	if got := find(t, r, "cache"); !r.OK() || got.Problem == "" || got.Advice == "" {
		t.Errorf("no cache: %+v", r.Checks)
	}
}
