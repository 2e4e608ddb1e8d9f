//go:build unix

package model

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
)

// mixed collects names from replies, for later calls.
type mixed struct {
	handles   []string // of inspected objects, some of them gone
	suspended []string // numbers of evaluations, some of them over
	threads   []string
	before    string // the state of the image before the first call
}

var (
	newHandle    = regexp.MustCompile(`^(obj-\d+): `)
	newSuspended = regexp.MustCompile(`(?m)^; Evaluation (\d+) is suspended here`)
)

// learn keeps what a reply names.
func (m *mixed) learn(reply string) {
	if h := newHandle.FindStringSubmatch(reply); h != nil {
		m.handles = append(m.handles, h[1])
	}
	if s := newSuspended.FindStringSubmatch(reply); s != nil {
		m.suspended = append(m.suspended, s[1])
	}
}

// named returns one of the last names, at times one that never was.
func named(s Step, names []string, never string) string {
	if len(names) == 0 || s.IntN(10) == 0 {
		return never
	}
	return names[len(names)-1-s.IntN(min(len(names), 6))]
}

// mixedCalls are by step the calls of which it is one, with what the reply must match. In what
// they say, $n is a number, $m the next one, $k a small one, $f that of a frame, $s one that no
// other has, $e an evaluation, $h a handle and $t a thread; of a list, one is said.
var mixedCalls = map[string][]Call{
	"add":               {answers("evaluate-lisp", `^=> $m$`, "code", "(+ $n 1)")},
	"recursive":         {answers("evaluate-lisp", `^=> MIX-`, "code", "(defun mix-$k (x) (if (zerop x) $n (mix-$k (1- x))))")},
	"call recursive":    {answers("evaluate-lisp", "", "code", "(mix-$k 2)")},
	"loop":              {answers("evaluate-lisp", `^\[(TIMEOUT|ERROR)\]`, "code", "(loop)", "timeout", 0.1)},
	"err":               {answers("evaluate-lisp", `^\[ERROR\]`, "code", []string{"(car 1)", `(error "mixed")`, "(no-such-function)", "(", "(no:such)"})},
	"suspend":           {answers("evaluate-lisp", `(?s)^\[ERROR\]`, "on-error", "debug", "code", `(let ((x $n)) (restart-case (error "suspended ~d" x) (give (v) (list v x))))`)},
	"backtrace":         {answers("get-backtrace", "", "evaluation", "$e")},
	"frame":             {answers("inspect-frame", "", "evaluation", "$e", "frame", "$f")},
	"evaluate in frame": {answers("evaluate-in-frame", "", "evaluation", "$e", "frame", "$f", "code", []string{"(+ 1 2)", "x", `(error "nested")`})},
	"restart":           {answers("invoke-restart", "", "evaluation", "$e", "restart", []string{"GIVE", "GIVE", "ABORT", "NO-SUCH"}, "values", "42")},
	"abort":             {answers("abort-evaluation", "", "evaluation", "$e")},
	"go on": {answers("return-from-frame", "", "evaluation", "$e", "frame", "$f", "values", "1"), answers("restart-frame", "", "evaluation", "$e", "frame", "$f"),
		answers("step", "", "evaluation", "$e"), answers("describe-last-error", "", "evaluation", "$e")},
	"inspect": {answers("inspect-object", `^(obj-\d+: |\[ERROR\] UNDEFINED-FUNCTION)`, "code",
		[]string{"(list 1 2 3)", "(make-hash-table)", "#'car", "(find-class 'integer)", "(make-list 100)", "(oops)"})},
	"inspect part":     {answers("inspect-object", `^(obj-\d+|\[ERROR\] )`, "handle", "$h", "path", []string{"", "0", "1", "9.9", "name"})},
	"trace":            {answers("trace-function", "", "functions", "mix-$k", "code", "(mix-$k 2)")},
	"profile":          {answers("profile-code", `^\[profile\] `, "code", "(loop repeat 100000 sum 1)", "mode", []string{"cpu", "wall", "alloc"})},
	"threads":          {answers("list-threads", `^\d+ threads`, "backtraces", true), answers("list-threads", `^\d+ threads`, "backtraces", false)},
	"new thread":       {answers("evaluate-lisp", `^=> NIL$`, "code", `(progn (sb-thread:make-thread (lambda () (sleep 1000)) :name "mixed-$s") nil)`)},
	"interrupt thread": {answers("interrupt-thread", "", "thread", "$t", "action", []string{"backtrace", "abort"})},
	"memory":           {answers("memory-report", `^Heap: `)},
	"status":           {answers("session-status", `^Image: `)},
	"list":             {answers("list-definitions", ""), answers("list-packages", "")},
	"describe": {answers("describe-symbol", "", "name", namesOfAll), answers("find-definition", "", "name", namesOfAll),
		answers("cross-reference", "", "name", namesOfAll)},
	"search":   {answers("apropos-search", "(?i)mix", "name", "mix"), answers("complete-symbol", "(?i)mix", "name", "mix")},
	"expand":   {answers("macroexpand-form", `IF`, "form", "(when a b)")},
	"validate": {answers("validate-syntax", "", "code", "(list 1")},
}

var namesOfAll = []string{"car", "mix-1", "no-such-name", "cl:nope"}

// answers returns a call with such arguments, names and values by turns.
func answers(tool, want string, arguments ...any) Call {
	c := Call{Tool: tool, Args: harness.Object{}, want: want}
	for i := 0; i < len(arguments); i += 2 {
		c.Args[arguments[i].(string)] = arguments[i+1]
	}
	return c
}

func init() {
	for name, calls := range mixedCalls {
		steps[name] = func(r *Run, s Step) bool { return r.run(r.mixedCall(s, calls)) }
	}
}

// mixedCall is one of the calls.
func (o *mixed) mixedCall(s Step, calls []Call) Call {
	c := one(s, calls...)
	n := s.IntN(1000)
	filled := strings.NewReplacer("$n", fmt.Sprint(n), "$m", fmt.Sprint(n+1), "$k", fmt.Sprint(n%20), "$s", fmt.Sprint(s.N),
		"$e", named(s, o.suspended, "999999"), "$h", named(s, o.handles, "obj-999999"), "$t", named(s, o.threads, "mixed-0"))
	args := harness.Object{}
	for name, value := range c.Args {
		if list, ok := value.([]string); ok {
			value = one(s, list...)
		}
		if text, ok := value.(string); ok {
			value = filled.Replace(text)
		}
		if value == "$f" {
			value = s.IntN(3)
		}
		args[name] = value
	}
	if code, _ := args["code"].(string); strings.Contains(code, "make-thread") {
		o.threads = append(o.threads, fmt.Sprint("mixed-", s.N))
	}
	return Call{Tool: c.Tool, Args: args, want: filled.Replace(c.want)}
}

// Mixes begins a session that notes what the image has.
func (r *Run) Mixes() {
	r.World = NewWorldOf(r.T, "", nil)
	r.do(Eval("(+ 1 2)"))
	r.do(Tool("list-threads", harness.Object{}))
	r.before = r.imageState()
}

// imageState returns the counts of things in the image that a reset restores.
func (r *Run) imageState() string {
	return r.World.Do(r.T, Eval(`(format nil "~D threads, ~D handles, ~D traces, ~D evaluations, ~D mailboxes over"
	   (count "finalizer" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test-not #'equal)
	   (length swank-mcp::*handles*) (length swank-mcp::*traced*) (length swank-mcp::*evaluations*)
	   (max 0 (- (length swank/sbcl::*mailboxes*) (length (sb-thread:list-all-threads)) 10)))`))
}

// LeavesNothing checks that nothing is left of the calls after a reset.
func (r *Run) LeavesNothing() {
	r.T.Logf("%d handles, %d suspended evaluations, %d threads", len(r.handles), len(r.suspended), len(r.threads))
	calls := 0
	for n := range maps.Values(r.taken) {
		calls += n
	}
	if calls >= 500 && (len(r.handles) < 10 || len(r.suspended) < 10 || len(r.threads) < 3) {
		r.fails("the calls are not as mixed as they should be")
	}
	for _, number := range r.suspended {
		r.do(Tool("abort-evaluation", harness.Object{"evaluation": number}))
	}
	r.do(Eval(`(dolist (thread (sb-thread:list-all-threads))
	              (when (eql 0 (search "mixed-" (sb-thread:thread-name thread)))
	                (sb-thread:terminate-thread thread)))`))
	r.do(Call{Tool: "reset-session", want: `^Session reset\.`})
	var after string
	if await.Until(func() bool { after = r.imageState(); return after == r.before }) != nil {
		r.fails("before the calls: %s\nafter the reset: %s", r.before, after)
	}
	r.do(Call{Tool: "evaluate-lisp", Args: harness.Object{"code": "(+ 1 2)"}, want: "^=> 3$"})
}
