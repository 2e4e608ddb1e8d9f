package truth

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

var (
	truthSequences = flag.Int("truth.sequences", 6, "how many sequences TestTruthProperty tries")
	truthLength    = flag.Int("truth.steps", 60, "how many steps each of them has")
	truthSeed      = flag.Uint64("truth.seed", 1, "seed of the first of them; each has the next one")
	truthWithout   = flag.String("truth.without", "", "steps that are left out: die,edits and loads")
	truthShrink    = flag.Duration("truth.shrink", time.Minute, "how long a sequence that fails is made shorter")
)

// For all sequences of definitions, of what is none, of edits, loads, resets
// and deaths: what is asked for answers as who defined it last has said, or is
// named as lost, for a reason for which it may be.
func TestTruthProperty(t *testing.T) {
	tier.More(t)
	t.Parallel()
	for i := range *truthSequences {
		seed := *truthSeed + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			steps := truthSteps(rand.New(rand.NewPCG(seed, 0)), *truthLength)
			steps = slices.DeleteFunc(steps, func(s truthStep) bool { return slices.Contains(strings.Split(*truthWithout, ","), s.op) })
			run := func(steps []truthStep) (r truthRun) {
				t.Run("steps", func(t *testing.T) { r.goes(t, steps) })
				return r
			}
			if r := run(steps); r.failure != "" {
				first := r.failure
				r = shrunk(steps, r, run, time.Now().Add(*truthShrink))
				t.Errorf("-truth.seed=%d -truth.sequences=1 -truth.steps=%d fails; at first:\n%s\n\nshortened, this does:\n%s\n\n%s",
					seed, *truthLength, first, &r.script, r.failure)
			}
		})
	}
}

// shrunk drops steps while what is left fails, until the time is up.
func shrunk(steps []truthStep, r truthRun, run func([]truthStep) truthRun, until time.Time) truthRun {
	steps = steps[:r.steps]
	for size := len(steps) / 2; size > 0; size /= 2 {
		for at := 0; at+size <= len(steps); {
			if time.Now().After(until) {
				return r
			}
			less := slices.Delete(slices.Clone(steps), at, at+size)
			if tried := run(less); tried.failure != "" {
				steps, r = less[:tried.steps], tried
			} else {
				at += size
			}
		}
	}
	return r
}

// truthRun is a sequence of steps, as far as it has gone.
type truthRun struct {
	steps   int // until the failure, with the one that failed
	failure string
	script  truthScript

	w *harness.TruthWorld
	o *truthOracle
}

// goes takes the steps and stops at the first disagreement.
func (r *truthRun) goes(t *testing.T, steps []truthStep) {
	r.w, r.o = harness.NewTruthWorld(t), newTruthOracle()
	r.do(t, harness.EvalCall(":begun")) // an image to die
	for _, s := range steps {
		r.steps++
		before := len(r.script.lines)
		if complaint := r.step(t, s); complaint != "" {
			r.failure = fmt.Sprintf("step %d (%s):\n%s\n%s", r.steps, s.op, strings.Join(r.script.lines[before:], "\n"), complaint)
			return
		}
	}
}

func (r *truthRun) do(t *testing.T, c harness.TruthCall) string {
	reply := r.w.Do(t, c)
	r.script.add(c, strings.HasPrefix(reply, "[ERROR]") || strings.HasPrefix(reply, "[TIMEOUT]"))
	return reply
}

// step takes one step, and compares.
func (r *truthRun) step(t *testing.T, s truthStep) string {
	o := r.o
	switch s.op {
	case "die":
		r.do(t, harness.TruthCall{})
		return r.settled(t, o.back(), nil, true)
	case "reset":
		return r.reset(t)
	case "save", "save and bring back":
		wants := o.back()
		file, complaint := r.saved(t, wants)
		if complaint != "" || s.op == "save" || file == "" {
			return complaint
		}
		facts, setups, pair := maps.Clone(o.facts), o.setups, o.pair
		if complaint := r.reset(t); complaint != "" {
			return complaint
		}
		o.facts, o.setups, o.pair = facts, setups, pair
		reply := r.do(t, harness.ToolCall("load-session", harness.Object{"file": file}))
		return r.settled(t, forgiven(wants), &reply, true)
	}
	calls := o.take(s)
	if calls == nil {
		return ""
	}
	var replies []string
	for _, c := range calls {
		replies = append(replies, harness.Clip(r.do(t, c)))
	}
	answers, reply := r.answers(t)
	if complaint := disagrees(o.now(), answers, nil); complaint != "" {
		return "replies:\n" + strings.Join(replies, "\n") + "\n\nin the same image:\n" + complaint + reply
	}
	return ""
}

func (r *truthRun) reset(t *testing.T) string {
	r.do(t, harness.ToolCall("reset-session", harness.Object{}))
	wants := r.o.afterReset()
	r.o.setups, r.o.pair = nil, false
	return r.settled(t, wants, nil, false)
}

// settled compares where the session was brought back or reset; report is where
// losses are told, nil the next reply.
func (r *truthRun) settled(t *testing.T, wants map[truthKey]truthWant, report *string, back bool) string {
	answers, reply := r.answers(t)
	if report == nil {
		report = &reply
	}
	if complaint := disagrees(wants, answers, report); complaint != "" {
		return complaint + "\nthe reply:\n" + harness.Clip(*report)
	}
	r.o.settle(answers, back)
	return ""
}

// saved saves the session and compares what a plain SBCL makes of the file.
func (r *truthRun) saved(t *testing.T, wants map[truthKey]truthWant) (file, complaint string) {
	file, told := r.w.Save(t)
	r.script.add(harness.ToolCall("save-session", harness.Object{"file": file}), false)
	r.script.lines = append(r.script.lines, "exec sbcl "+strings.Join(harness.PlainSBCL, " ")+" --load "+file)
	keys := sortedTruths(wants)
	answers := answersOf(keys, r.w.InPlainSBCL(t, file, askAll(keys)))
	if complaint := disagrees(quiet(wants), answers, &told); complaint != "" {
		return file, "in a plain sbcl that loads " + file + ":\n" + complaint + "\nsave-session said:\n" + harness.Clip(told)
	}
	if strings.HasPrefix(told, "Nothing to save") {
		file = ""
	}
	return file, ""
}

// answers asks for all that is known.
func (r *truthRun) answers(t *testing.T) (map[truthKey]string, string) {
	keys := sortedTruths(r.o.now())
	line, reply := r.w.Ask(t, askAll(keys))
	return answersOf(keys, line), reply
}

// askAll is code for the answers to all keys, as one string.
func askAll(keys []truthKey) string {
	var texts strings.Builder
	for _, k := range keys {
		texts.WriteString(" " + harness.LispString(k.ask()))
	}
	return `(flet ((answer (text) (handler-case (or (eval (read-from-string text)) :none) (error () :none))))
  (format nil "~{~A~^ ~}" (mapcar #'answer '(` + texts.String() + `))))`
}

// answersOf gives each key its answer; the whole line where there are not as many.
func answersOf(keys []truthKey, line string) map[truthKey]string {
	parts := strings.Fields(strings.Trim(line, `"`))
	answers := map[truthKey]string{}
	for i, k := range keys {
		answers[k] = line
		if len(parts) == len(keys) {
			answers[k] = parts[i]
		}
	}
	return answers
}

// quiet are wants of a saved file, which says in general that later values are
// not in it.
func quiet(wants map[truthKey]truthWant) map[truthKey]truthWant {
	wants = maps.Clone(wants)
	for k, w := range wants {
		w.told = false
		wants[k] = w
	}
	return wants
}

// forgiven are wants where save-session has told of the losses, in the image in
// which a reset may have taken away a function of the system.
func forgiven(wants map[truthKey]truthWant) map[truthKey]truthWant {
	wants = quiet(wants)
	for k, w := range wants {
		w.answers = append(slices.Clone(w.answers), w.lost...)
		if k.pkg == "mini" {
			w.answers = append(w.answers, none)
		}
		wants[k] = w
	}
	return wants
}
