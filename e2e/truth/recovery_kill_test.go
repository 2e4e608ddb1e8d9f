package truth

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// sessionModel is what a scripted session has been told that it did.
type sessionModel struct {
	functions, macros map[string]int // name to what it returns
	methods           []int
	variables         map[string]int // to the value of the definition
	changed           []string       // names whose value has been changed since the image began
	assigned          []string       // variables that only an assignment has made since then
	effects           []int          // side effects that were acknowledged
	log               string         // the file of side effects
}

// step is the code of one of the steps, and what to note when it was
// acknowledged.
func (m *sessionModel) step(i int) (code string, noted func()) {
	n := i / 8
	switch i % 8 {
	case 0: // the same names again and again
		name := fmt.Sprintf("F%d", n%6)
		return fmt.Sprintf("(defun %s () %d)", name, i), func() { m.functions[name] = i }
	case 1:
		name := fmt.Sprintf("*V%d*", n)
		return fmt.Sprintf("(defvar %s %d)", name, i), func() { m.variables[name] = i }
	case 2:
		name := fmt.Sprintf("M%d", n%4)
		return fmt.Sprintf("(defmacro %s () %d)", name, i), func() { m.macros[name] = i }
	case 3: // a function with what its macro was when it was compiled
		macro := fmt.Sprintf("M%d", n%4)
		name := fmt.Sprintf("U%d", i)
		return fmt.Sprintf("(defun %s () (+ 1 (%s)))", name, macro), func() { m.functions[name] = -n%4 - 1 }
	case 4:
		name := fmt.Sprintf("*V%d*", n)
		return fmt.Sprintf("(incf %s)", name), func() { m.changed = append(m.changed, name) }
	case 5:
		return fmt.Sprintf("(defmethod kind ((x (eql %d))) %d)", i, i), func() { m.methods = append(m.methods, i) }
	case 6:
		return fmt.Sprintf(`(with-open-file (out %q :direction :output :if-exists :append :if-does-not-exist :create) (format out "%d~%%") (finish-output out))`, m.log, i),
			func() { m.effects = append(m.effects, i) }
	}
	name := fmt.Sprintf("LOOSE%d", i)
	return fmt.Sprintf("(setf %s %d)", name, i), func() { m.assigned = append(m.assigned, name) }
}

// look is code that tells all there is to be, and its text.
func (m *sessionModel) look() (code, text string) {
	var forms, values []string
	for _, name := range sortedKeys(m.functions) {
		v := m.functions[name]
		if v < 0 { // uses a macro; the newest one of the name, after recovery
			v = 1 + m.macros[fmt.Sprintf("M%d", -v-1)]
		}
		forms, values = append(forms, "("+name+")"), append(values, fmt.Sprint(v))
	}
	for _, name := range sortedKeys(m.variables) {
		forms, values = append(forms, name), append(values, fmt.Sprint(m.variables[name]))
	}
	for _, i := range m.methods {
		forms, values = append(forms, fmt.Sprintf("(kind %d)", i)), append(values, fmt.Sprint(i))
	}
	return `(format nil "~{~a~^ ~}" (list ` + strings.Join(forms, " ") + "))", `=> "` + strings.Join(values, " ") + `"`
}

func sortedKeys(m map[string]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// listed is the text of list-definitions after a recovery: each name once.
func (m *sessionModel) listed() string {
	var b strings.Builder
	section := func(name string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "[%s]\n- %s\n\n", name, strings.Join(lines, "\n- "))
		}
	}
	with := func(names []string, more func(string) string) (lines []string) {
		for _, n := range names {
			lines = append(lines, n+more(n))
		}
		slices.Sort(lines)
		return lines
	}
	none := func(string) string { return " ()" }
	section("Functions", with(sortedKeys(m.functions), none))
	section("Variables", with(sortedKeys(m.variables), func(n string) string { return fmt.Sprint(" = ", m.variables[n]) }))
	section("Macros", with(sortedKeys(m.macros), none))
	if len(m.methods) > 0 {
		methods := with(nil, nil)
		for _, i := range m.methods {
			methods = append(methods, fmt.Sprintf("  - ((EQL %d))", i))
		}
		slices.Sort(methods)
		b.WriteString("[Generic Functions]\n- KIND (X)\n" + strings.Join(methods, "\n"))
	}
	return strings.TrimRight(b.String(), "\n")
}

// 50 deaths by kill -9 at random points of a session of 200 definitions and
// evaluations, some between two of them and some while one runs. What was
// acknowledged is there afterwards, once, in its newest form; nothing but
// definitions is evaluated again; and the report names the values that were lost.
func TestKilledAtRandomPoints(t *testing.T) {
	tier.More(t)
	t.Parallel()
	deaths := tier.Tries(t, 15, 50)
	steps := 4 * deaths
	s := harness.Start(t)
	r := rand.New(rand.NewPCG(1, tier.Seed(t)))
	points := map[int]bool{}
	for _, p := range r.Perm(steps - 2)[:deaths] {
		points[p+2] = true
	}
	m := &sessionModel{functions: map[string]int{}, macros: map[string]int{}, variables: map[string]int{}, log: filepath.Join(t.TempDir(), "effects")}
	var recoveries []time.Duration
	inFlight, unacknowledged := 0, 0
	for i := range steps {
		code, noted := m.step(i)
		if !points[i] {
			harness.WantRuns(t, s, code)
			noted()
			continue
		}
		meanwhile, acknowledged := r.IntN(2) == 0, false
		if meanwhile {
			inFlight++
			text, ok := killedMeanwhile(t, s, code, time.Duration(r.IntN(800))*time.Microsecond)
			if _, report, next := strings.Cut(text, "\n; "); ok && next { // it was evaluated in the next image
				m.wantLosses(t, report)
				noted()
				continue
			}
			if acknowledged = ok; ok {
				noted()
			} else {
				unacknowledged++
			}
		} else {
			harness.Kill9(t, s)
		}
		look, want := m.look()
		began := time.Now()
		text, isErr := harness.Eval(t, s, look)
		took := time.Since(began)
		recoveries = append(recoveries, took)
		value, report, _ := strings.Cut(text, "\n; ")
		if isErr || value != want {
			t.Fatalf("after the death at step %d (%s, in flight: %v):\n%s\nwant\n%s", i, code, meanwhile, text, want)
		}
		m.wantLosses(t, report)
		if got := harness.List(t, s, harness.Object{}); got != m.listed() {
			t.Fatalf("definitions after the death at step %d (%s):\n%s\nwant\n%s", i, code, got, m.listed())
		}
		// Once more, as an agent would, unless it may have been done.
		if acknowledged || meanwhile && i%8 == 6 {
			continue
		}
		harness.WantRuns(t, s, code)
		noted()
	}
	slices.Sort(recoveries)
	t.Logf("%d deaths, %d while an evaluation ran, of which %d were not acknowledged; recoveries took %v, the slowest %v",
		deaths, inFlight, unacknowledged, recoveries[len(recoveries)/2], recoveries[len(recoveries)-1])
	data, err := os.ReadFile(m.log)
	harness.Check(t, err)
	done := map[string]int{}
	for _, l := range strings.Fields(string(data)) {
		if done[l]++; done[l] > 1 {
			t.Errorf("the evaluation of step %s was done twice", l)
		}
	}
	for _, i := range m.effects {
		if done[fmt.Sprint(i)] != 1 {
			t.Errorf("the evaluation of step %d was acknowledged and not done", i)
		}
	}
}

// wantLosses wants the report of a recovery to name the values that were lost with
// the image.
func (m *sessionModel) wantLosses(t *testing.T, report string) {
	t.Helper()
	for _, name := range append(m.changed, m.assigned...) {
		if !strings.Contains(report, name) {
			t.Errorf("the report does not name %s:\n%s", name, report)
		}
	}
	m.changed, m.assigned = nil, nil
}

// killedMeanwhile kills the image some time after code was sent, and returns the
// reply, and whether the code was acknowledged all the same.
func killedMeanwhile(t *testing.T, s *harness.Server, code string, after time.Duration) (string, bool) {
	t.Helper()
	pid := harness.ImagePID(t, s)
	p := harness.SendCall(t, s, code)
	time.Sleep(after)
	harness.Check(t, syscall.Kill(pid, syscall.SIGKILL))
	r := harness.Answer(t, p)
	if r.IsError && !strings.HasPrefix(r.Text(), "[ERROR] IMAGE-DIED") {
		t.Fatalf("%s answered\n%s", code, r.Text())
	}
	s.Loses(t, pid)
	return r.Text(), !r.IsError
}
