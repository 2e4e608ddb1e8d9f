//go:build linux

package survival

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// What the server may take over what it has when idle, in MiB.
const (
	budgetOfOne   = 64  // for one call
	budgetOfEight = 128 // for eight at once
)

// longest is the length of the hostile texts. A request over HTTP has at most 4 MiB.
const longest = 3_900_000

// hostileTexts each have much of something, and are as long as a call may be in JSON.
func hostileTexts() map[string]string {
	all := map[string]string{
		"lists that end":    strings.Repeat(strings.Repeat("(", 90_000)+strings.Repeat(")", 90_000), longest/180_000),
		"one missing":       strings.Repeat("(defun f (x) (list x))", longest/22) + "(f",
		"#+ in #+":          strings.Repeat("#+(and #-(or ", 60) + strings.Repeat("a ", longest/3) + strings.Repeat(") x) y", 60),
		"many parameters":   "(defmethod f (" + strings.Repeat("(a b) ", longest/6-10) + "))",
		"one long line":     `(f ` + strings.Repeat("a", longest-10) + "))",
		"an ending missing": "(defun f (x) " + strings.Repeat("(list x)\n", longest/10),
	}
	for _, s := range []string{"(", ")", "()", "'", `"`, `\`, "#|", "|", "`,", "#+", "#+(and ", "\n", "(a)\n", "(\n ", "(a))\n", "#?", "a:", "a ", "\u00a0", "漢",
		"(defun f ())", "\x00", "\u2028"} {
		written := len(fmt.Sprintf("%+q", s)) - 2 // about what JSON takes for it
		all[fmt.Sprintf("%+q", s)] = strings.Repeat(s, longest/max(written, len(s)))
	}
	return all
}

// budget watches the memory of a process.
type budget struct {
	pid  int
	idle int // MiB
}

func budgetOf(t *testing.T, pid int) *budget {
	t.Helper()
	b := &budget{pid: pid}
	b.begin(t)
	b.idle = b.peak(t)
	t.Logf("%d MiB when idle", b.idle)
	return b
}

// begin has the peak begin at what the process has now.
func (b *budget) begin(t *testing.T) {
	t.Helper()
	harness.Check(t, os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", b.pid), []byte("5"), 0))
}

// peak returns the most that the process has had since, in MiB.
func (b *budget) peak(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", b.pid))
	harness.Check(t, err)
	for line := range strings.Lines(string(status)) {
		var kiB int
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kiB); err == nil {
			return kiB >> 10
		}
	}
	t.Fatalf("the system tells no peak:\n%s", status)
	return 0
}

// holds wants the server to have had at most so much over its idle time.
func (b *budget) holds(t *testing.T, most int, what string) int {
	t.Helper()
	over := b.peak(t) - b.idle
	if over > most {
		t.Errorf("%s: %d MiB over idle, want at most %d", what, over, most)
	}
	return over
}

// takes describes a tool as tools/list does.
type takes struct {
	Name        string
	InputSchema struct {
		Properties map[string]struct{}
		Required   []string
	}
}

// Whatever a caller gives for an argument, the server stays small and is there afterwards. The seed
// chooses one in eight of the texts, in four of the arguments for code, and in 24 of the others;
// each night all are tried.
func TestBudgets(t *testing.T) {
	tier.More(t)
	t.Parallel()
	ofTexts, ofCodes, ofOthers := tier.Tries(t, 16, 1), tier.Tries(t, 10, 1), tier.Tries(t, 48, 1)
	n, seed := 0, int(tier.Seed(t))
	chosen := func(oneIn int) bool { n++; return n%oneIn == seed%oneIn }
	s := harness.Start(t, "--toolsets", "all")
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	l := harness.Begin(t, s)
	texts := hostileTexts()
	names := slices.Sorted(maps.Keys(texts))
	var list struct{ Tools []takes }
	harness.Check(t, s.Call(await.Context(t), "tools/list", harness.Object{}, &list))
	dir := t.TempDir()
	b := budgetOf(t, s.PID())
	most := 0
	one := func(tool string, args harness.Object, what string) {
		b.begin(t)
		harness.Call(t, s, tool, args)
		most = max(most, b.holds(t, budgetOfOne, tool+" with "+what))
	}
	for _, name := range names {
		if chosen(ofTexts) {
			one("validate-syntax", harness.Object{"code": texts[name]}, name)
		}
	}
	for i, name := range []string{"(", "\n", "one missing", "(a))\n"} {
		file := filepath.Join(dir, fmt.Sprintf("%d.lisp", i))
		text := texts[name]
		if text == "" {
			text = strings.Repeat(name, 15_000_000/len(name))
		}
		harness.Write(t, file, text)
		one("validate-syntax", harness.Object{"path": file}, fmt.Sprintf("a file of %q", name))
		one("validate-syntax", harness.Object{"path": file, "repair": true}, fmt.Sprintf("a file of %q, to be mended", name))
	}
	// Definitions by the ten thousand, of which the answer tells.
	one("evaluate-lisp", harness.Object{"code": texts["one missing"], "timeout": 5}, "one missing")
	tried := 0
	for _, tool := range list.Tools {
		unknown := strings.Repeat("x", longest)
		for _, argument := range append(slices.Sorted(maps.Keys(tool.InputSchema.Properties)), unknown) {
			args := harness.Object{}
			for _, required := range tool.InputSchema.Required {
				args[required] = "car"
			}
			of := ofOthers
			if slices.Contains(codes, argument) {
				of = ofCodes
			}
			if !chosen(of) {
				continue
			}
			shape := unreadable[tried%len(unreadable)]
			tried++
			text := texts[shape]
			if argument == unknown {
				text = ""
			}
			args[argument] = text
			one(tool.Name, args, fmt.Sprintf("%.20s: %s", argument, shape))
		}
	}
	t.Logf("%d arguments; one call took %d MiB over idle at most", tried, most)
	for i, chunk := range slices.Collect(slices.Chunk(names, 8)) {
		if i > 0 && ofTexts > 1 {
			break
		}
		b.begin(t)
		var calls []*wire.Pending
		for _, name := range chunk {
			calls = append(calls, harness.SendTool(t, s, "validate-syntax", harness.Object{"code": texts[name]}))
		}
		for _, c := range calls {
			harness.Answer(t, c)
		}
		t.Logf("%q: %d MiB over idle", chunk, b.holds(t, budgetOfEight, fmt.Sprint("eight at once: ", chunk)))
	}
	l.GoesOn(t, s)
}

// codes are the arguments that may be as long as a call.
var codes = []string{"code", "form", "input", "values"}

// unreadable are the texts that the image refuses at once where they are given for code: what
// it does with others is the image's.
var unreadable = []string{`")"`, `"#|"`, `"\""`, `"|"`, `"("`, `"'"`}
