package tools

import (
	"os"
	"strings"
	"testing"
	"time"

	"swank-mcp/swank/lisp"
)

// sampled is a profile of 5 ms a sample, with samples of F, which may call G, and SORT.
func sampled(f, g, sort int64) *lisp.Profile {
	return &lisp.Profile{
		Elapsed: time.Duration(f+g+sort) * 5 * time.Millisecond, Samples: f + g + sort,
		Frames: []lisp.ProfileFrame{{Function: "the form"}, {Function: "F"}, {Function: "G"}, {Function: "SORT", Kind: lisp.LispFrame}, {Function: "SB-IMPL::X", Kind: lisp.InternalFrame}},
		Stacks: []lisp.ProfileStack{{Samples: f, Frames: []int{0, 1}}, {Samples: g, Frames: []int{0, 1, 4, 2, 1}}, {Samples: sort, Frames: []int{0, 3}}},
	}
}

func TestProfilesCompared(t *testing.T) {
	var ps Profiles
	step := func(mode, code string, repeat int, p *lisp.Profile, want string) {
		t.Helper()
		if got := ps.Compare(costOf(p, mode, "parse-date g", code, repeat)); got != want {
			t.Errorf("%s %s:\n%s\nwant\n%s", mode, code, got, want)
		}
	}
	step("cpu", "(f 1)", 1, sampled(100, 300, 0), "")
	step("cpu", "(f  1)", 1, sampled(100, 100, 0), "; The run before → this one, each time: all 2,000 → 1,000 ms, F 2,000 → 1,000 ms, G 1,500 → 500 ms")
	// the same, repeated ten times: nothing has changed
	step("cpu", "(f 1)", 10, sampled(1000, 1010, 0), "; The run before → this one, each time: all 1,000 → 1,005 ms; no function has changed by more than chance")
	// another form, another mode: nothing to compare with
	step("cpu", "(f 2)", 1, sampled(100, 100, 0), "")
	step("wall", "(f 1)", 1, sampled(100, 100, 0), "")
	// of a form that waits, most of the time is in no sample
	waiting := sampled(100, 0, 0)
	waiting.Elapsed = 10 * time.Second
	step("cpu", "(f 2)", 1, waiting, "; The run before → this one, each time: all 1,000 → 10,000 ms, F 1,000 → 500 ms, G 500 → 0 ms")

	called := func(us int64) *lisp.Profile {
		return &lisp.Profile{Elapsed: 200 * time.Millisecond, Rows: []lisp.ProfileRow{{Function: "PARSE-DATE", Total: us, Calls: 9}, {Function: "G", Total: 8000}}}
	}
	step("calls", "(f 1)", 1, called(146_000), "")
	step("calls", "(f 1)", 1, called(36_600), "; The run before → this one, each time: all 200 → 200 ms, PARSE-DATE 146 → 37 ms")

	// other functions were watched: those of before are not gone
	if got := ps.Compare(costOf(called(1), "calls", "g", "(f 1)", 1)); got != "" {
		t.Errorf("compared with calls of other functions: %s", got)
	}

	bytes := &lisp.Profile{Samples: 100, Bytes: 3_200_000, Elapsed: time.Second, Frames: sampled(0, 0, 0).Frames, Stacks: []lisp.ProfileStack{{Samples: 100, Frames: []int{1}}}}
	step("alloc", "(f 1)", 1, bytes, "")
	step("alloc", "(f 1)", 1, &lisp.Profile{Elapsed: time.Second}, "; The run before → this one, each time: all 3,200 → 0 kB, F 3,200 → 0 kB")
}

func TestNeighbours(t *testing.T) {
	callers, callees := neighbours(sampled(100, 300, 50))
	for _, c := range []struct {
		of   map[string]int64
		want string
	}{
		{callers["F"], "the form 88.9 %, G 66.7 %"},
		{callees["F"], "G 66.7 %"},
		{callees["the form"], "F 88.9 %, SORT 11.1 %"},
		{callers["the form"], ""},
	} {
		if got := neighbourText(c.of, 450); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestFiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var f Files
	if err := f.Remove(); err != nil {
		t.Error(err)
	}
	f = Files{}
	var paths []string
	for i := range filesKept + 1 {
		path, err := f.Write(strings.Repeat("x", i+1), []byte("text"))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	for i, path := range paths {
		if _, err := os.Stat(path); (err == nil) != (i > 0) {
			t.Errorf("file %d of %d: %v", i, len(paths), err)
		}
	}
	if err := f.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(paths[filesKept]); !os.IsNotExist(err) {
		t.Errorf("a file is left: %v", err)
	}
	if _, err := f.Write("x", nil); err == nil {
		t.Error("a file was written after the end")
	}
}
