package survival

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

var (
	mixedSeed  = flag.Uint64("mixed.seed", 1, "seed of TestMixedCalls")
	mixedCalls = flag.Int("mixed.calls", 500, "how many calls TestMixedCalls makes")
)

// mixer makes up calls, and learns from their replies what later ones can name.
type mixer struct {
	mu        sync.Mutex
	random    *rand.Rand
	left      int
	handles   []string // of inspected objects, some of them gone
	suspended []string // numbers of evaluations, some of them over
	threads   int      // made so far
	counts    map[string]int
}

// mixedCall is one call and what its reply must match; "" is anything.
type mixedCall struct {
	tool string
	args map[string]any
	want string
}

func (m *mixer) pick(of ...string) string { return of[m.random.IntN(len(of))] }

// named is a random one of names, at times one that never was.
func (m *mixer) named(names []string, never string) string {
	if len(names) == 0 || m.random.IntN(10) == 0 {
		return never
	}
	return names[len(names)-1-m.random.IntN(min(len(names), 6))]
}

// next is the next call, nil after the last.
func (m *mixer) next() *mixedCall {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left == 0 {
		return nil
	}
	m.left--
	c := m.makeUp()
	m.counts[c.tool]++
	return c
}

func (m *mixer) makeUp() *mixedCall {
	n := m.random.IntN(1000)
	number := m.named(m.suspended, "999999")
	handle := m.named(m.handles, "obj-999999")
	frame := m.random.IntN(3)
	switch m.random.IntN(34) {
	case 0, 1, 2:
		return &mixedCall{"evaluate-lisp", harness.Object{"code": fmt.Sprintf("(+ %d 1)", n)}, fmt.Sprintf(`^=> %d$`, n+1)}
	case 3:
		return &mixedCall{"evaluate-lisp", harness.Object{"code": fmt.Sprintf("(defun mix-%d (x) (if (zerop x) %d (mix-%d (1- x))))", n%20, n, n%20)}, `^=> MIX-`}
	case 4:
		return &mixedCall{"evaluate-lisp", harness.Object{"code": fmt.Sprintf("(mix-%d 2)", n%20)}, ""}
	case 5:
		return &mixedCall{"evaluate-lisp", harness.Object{"code": "(loop)", "timeout": 0.1}, `^\[(TIMEOUT|ERROR)\]`}
	case 6:
		return &mixedCall{"evaluate-lisp", harness.Object{"code": m.pick("(car 1)", "(error \"mixed\")", "(no-such-function)", "(", "(no:such)")}, `^\[ERROR\]`}
	case 7, 8, 9, 10:
		return &mixedCall{"evaluate-lisp", harness.Object{"on-error": "debug",
			"code": fmt.Sprintf("(let ((x %d)) (restart-case (error \"suspended ~d\" x) (give (v) (list v x))))", n)}, `(?s)^\[ERROR\]`}
	case 11:
		return &mixedCall{"get-backtrace", harness.Object{"evaluation": number}, ""}
	case 12:
		return &mixedCall{"inspect-frame", harness.Object{"evaluation": number, "frame": frame}, ""}
	case 13:
		return &mixedCall{"evaluate-in-frame", harness.Object{"evaluation": number, "frame": frame, "code": m.pick("(+ 1 2)", "x", "(error \"nested\")")}, ""}
	case 14, 15:
		return &mixedCall{"invoke-restart", harness.Object{"evaluation": number, "restart": m.pick("GIVE", "GIVE", "ABORT", "NO-SUCH"), "values": "42"}, ""}
	case 16:
		return &mixedCall{"abort-evaluation", harness.Object{"evaluation": number}, ""}
	case 17:
		switch tool := m.pick("return-from-frame", "restart-frame", "step", "describe-last-error"); tool {
		case "return-from-frame":
			return &mixedCall{tool, harness.Object{"evaluation": number, "frame": frame, "values": "1"}, ""}
		case "restart-frame":
			return &mixedCall{tool, harness.Object{"evaluation": number, "frame": frame}, ""}
		default:
			return &mixedCall{tool, harness.Object{"evaluation": number}, ""}
		}
	case 18, 19:
		return &mixedCall{"inspect-object", harness.Object{"code": m.pick("(list 1 2 3)", "(make-hash-table)", "#'car", "(find-class 'integer)", "(make-list 100)", "(oops)")},
			`^(obj-\d+: |\[ERROR\] UNDEFINED-FUNCTION)`}
	case 20, 21:
		return &mixedCall{"inspect-object", harness.Object{"handle": handle, "path": m.pick("", "0", "1", "9.9", "name")}, `^(obj-\d+|\[ERROR\] )`}
	case 22:
		return &mixedCall{"trace-function", harness.Object{"functions": fmt.Sprintf("mix-%d", n%20), "code": fmt.Sprintf("(mix-%d 2)", n%20)}, ""}
	case 23:
		return &mixedCall{"profile-code", harness.Object{"code": "(loop repeat 100000 sum 1)", "mode": m.pick("cpu", "wall", "alloc")}, `^\[profile\] `}
	case 24:
		return &mixedCall{"list-threads", harness.Object{"backtraces": n%2 == 0}, `^\d+ threads`}
	case 25:
		m.threads++
		return &mixedCall{"evaluate-lisp", harness.Object{"code": fmt.Sprintf("(progn (sb-thread:make-thread (lambda () (sleep 1000)) :name \"mixed-%d\") nil)", m.threads)}, `^=> NIL$`}
	case 26:
		return &mixedCall{"interrupt-thread", harness.Object{"thread": fmt.Sprintf("mixed-%d", 1+m.random.IntN(m.threads+1)), "action": m.pick("backtrace", "abort")}, ""}
	case 27:
		return &mixedCall{"memory-report", nil, `^Heap: `}
	case 28:
		return &mixedCall{"session-status", nil, `^Image: `}
	case 29:
		return &mixedCall{m.pick("list-definitions", "list-packages"), nil, ""}
	case 30:
		return &mixedCall{m.pick("describe-symbol", "find-definition", "cross-reference"),
			harness.Object{"name": m.pick("car", "mix-1", "no-such-name", "cl:nope")}, ""}
	case 31:
		return &mixedCall{m.pick("apropos-search", "complete-symbol"), harness.Object{"name": "mix"}, "(?i)mix"}
	case 32:
		return &mixedCall{"macroexpand-form", harness.Object{"form": "(when a b)"}, `IF`}
	}
	return &mixedCall{"validate-syntax", harness.Object{"code": "(list 1"}, ""}
}

var (
	newHandle    = regexp.MustCompile(`^(obj-\d+): `)
	newSuspended = regexp.MustCompile(`(?m)^; Evaluation (\d+) is suspended here`)
)

// learn keeps what a reply names for later calls.
func (m *mixer) learn(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h := newHandle.FindStringSubmatch(text); h != nil {
		m.handles = append(m.handles, h[1])
	}
	if s := newSuspended.FindStringSubmatch(text); s != nil {
		m.suspended = append(m.suspended, s[1])
	}
}

// TestMixedCalls makes several hundred calls of all kinds, eight at a time:
// debugger levels, handles, threads and evaluations of one session get into
// each other's way. Each must be answered in time, and nothing may be left of
// them after a reset.
func TestMixedCalls(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.Start(t)
	harness.Eval(t, s, "(+ 1 2)")
	harness.Call(t, s, "list-threads", harness.Object{})
	before := imageState(t, s)
	m := &mixer{random: rand.New(rand.NewPCG(*mixedSeed, 0)), left: *mixedCalls, counts: map[string]int{}}
	var workers sync.WaitGroup
	var whose sync.Once // of the first failure
	for range 8 {
		workers.Go(func() {
			for c := m.next(); c != nil && !t.Failed(); c = m.next() {
				ctx, stop := await.Limited(t.Context())
				if c.args == nil {
					c.args = harness.Object{}
				}
				r, err := s.Tool(ctx, c.tool, c.args)
				stop()
				text := r.Text()
				if err != nil || text == "" || !regexp.MustCompile(c.want).MatchString(text) {
					t.Errorf("-mixed.seed=%d: %s %v: %v, want %q, got:\n%s", *mixedSeed, c.tool, c.args, err, c.want, harness.Clip(text))
					whose.Do(func() { t.Log(harness.Call(t, s, "list-threads", harness.Object{"backtraces": true}).Text()) })
				}
				m.learn(text)
			}
		})
	}
	workers.Wait()
	for _, tool := range slices.Sorted(maps.Keys(m.counts)) {
		t.Logf("%4d %s", m.counts[tool], tool)
	}
	t.Logf("%d handles, %d suspended evaluations, %d threads", len(m.handles), len(m.suspended), m.threads)
	if *mixedCalls >= 500 && (len(m.handles) < 10 || len(m.suspended) < 10 || m.threads < 3) {
		t.Error("the calls are not as mixed as they should be")
	}
	for _, number := range m.suspended {
		harness.Call(t, s, "abort-evaluation", harness.Object{"evaluation": number})
	}
	harness.Eval(t, s, `(dolist (thread (sb-thread:list-all-threads))
	              (when (eql 0 (search "mixed-" (sb-thread:thread-name thread)))
	                (sb-thread:terminate-thread thread)))`)
	if text := harness.Call(t, s, "reset-session", harness.Object{}).Text(); !strings.HasPrefix(text, "Session reset.") {
		t.Errorf("reset-session: %s", text)
	}
	var after string
	if await.Until(func() bool { after = imageState(t, s); return after == before }) != nil {
		t.Errorf("before the calls: %s\nafter the reset: %s\n%s", before, after, harness.Call(t, s, "list-threads", harness.Object{"backtraces": true}).Text())
	}
	harness.Want(t, s, "(+ 1 2)", "=> 3")
}

// imageState is what of the image must be the same again after a reset.
func imageState(t *testing.T, s *harness.Server) string {
	t.Helper()
	text, failed := harness.Eval(t, s, `(format nil "~D threads, ~D handles, ~D traces, ~D evaluations, ~D mailboxes over"
	   (count "finalizer" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test-not #'equal)
	   (length swank-mcp::*handles*) (length swank-mcp::*traced*) (length swank-mcp::*evaluations*)
	   (max 0 (- (length swank/sbcl::*mailboxes*) (length (sb-thread:list-all-threads)) 10)))`)
	if failed {
		t.Fatal(text)
	}
	return text
}
