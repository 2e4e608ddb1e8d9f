package lisp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"swank-mcp/swank/lisp/launch"
)

// frozenFake is a copy of no image.
type frozenFake struct{ dropped bool }

func (f *frozenFake) Start(context.Context) (*launch.Process, error) {
	return nil, errors.New("no image")
}
func (f *frozenFake) Drop()       { f.dropped = true }
func (f *frozenFake) Alive() bool { return !f.dropped }
func (f *frozenFake) PID() int    { return 0 }

// play does what the words of script say with a new timeline: "take" and "take:name"
// take a checkpoint, "back:n" and "forth:n" go as undo does, "to:name" goes to a
// checkpoint, "dies:number" ends that copy; any other word is a step. It returns where
// each move went, and then the timeline.
func play(script string) (moves []string, t *timeline) {
	t = &timeline{stepped: make(chan struct{}, 1)}
	move := func(c *checkpoint) {
		if c == nil {
			moves = append(moves, "nowhere")
			return
		}
		t.goTo(c, "default")
		moves = append(moves, strconv.Itoa(c.number))
	}
	for _, word := range strings.Fields(script) {
		verb, object, _ := strings.Cut(word, ":")
		n, _ := strconv.Atoi(object)
		switch verb {
		case "take":
			t.add(&checkpoint{name: object, taken: time.Now(), copy: &frozenFake{}})
		case "back":
			move(t.before(t.now() - n))
		case "forth":
			move(t.after(t.now() + n))
		case "to":
			move(t.named(object))
		case "dies":
			t.named(object).copy.Drop()
		default:
			t.step("default", word)
		}
	}
	return moves, t
}

// TestTimeline: where undo and redo lead, what is then done and what can be redone, and
// which checkpoints there still are.
func TestTimeline(t *testing.T) {
	t.Parallel()
	type state struct {
		Moves, Done, Ahead []string
		Checkpoints        []string // number@step
	}
	for _, tt := range []struct {
		name, script string
		want         state
	}{
		{"nothing", "", state{}},
		{"steps", "a b", state{Done: []string{"a", "b"}}},
		{"one back", "a take b take back:1", state{
			Moves: []string{"1"}, Done: []string{"a"}, Ahead: []string{"b"}, Checkpoints: []string{"1@1", "2@2"}}},
		{"forward again", "a take b take back:1 forth:1", state{
			Moves: []string{"1", "2"}, Done: []string{"a", "b"}, Checkpoints: []string{"1@1", "2@2"}}},
		{"further back where none lies between", "a take b c d take back:1", state{
			Moves: []string{"1"}, Done: []string{"a"}, Ahead: []string{"b", "c", "d"}, Checkpoints: []string{"1@1", "2@4"}}},
		{"to the beginning", "take a take back:1", state{
			Moves: []string{"1"}, Ahead: []string{"a"}, Checkpoints: []string{"1@0", "2@1"}}},
		{"none lies before", "a take back:1", state{
			Moves: []string{"nowhere"}, Done: []string{"a"}, Checkpoints: []string{"1@1"}}},
		{"nothing was undone", "a take forth:1", state{
			Moves: []string{"nowhere"}, Done: []string{"a"}, Checkpoints: []string{"1@1"}}},
		{"another step after an undo", "a take b take back:1 c", state{
			Moves: []string{"1"}, Done: []string{"a", "c"}, Checkpoints: []string{"1@1"}}},
		{"a named one of what was undone stays", "a take b take:kept c take back:2 d", state{
			Moves: []string{"1"}, Done: []string{"a", "d"}, Checkpoints: []string{"1@1", "2@2"}}},
		{"a named one, by its name and by its number", "a take:one b take c take to:one to:2", state{
			Moves: []string{"1", "2"}, Done: []string{"a", "b"}, Ahead: []string{"c"}, Checkpoints: []string{"1@1", "2@2", "3@3"}}},
		{"one whose copy has ended", "a take b take c dies:2 back:1", state{
			Moves: []string{"1"}, Done: []string{"a"}, Ahead: []string{"b", "c"}, Checkpoints: []string{"1@1"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got state
			var line *timeline
			got.Moves, line = play(tt.script)
			got.Done, got.Ahead = line.between(0, line.now()), line.between(line.now(), 1000)
			for _, c := range line.usable() {
				got.Checkpoints = append(got.Checkpoints, fmt.Sprintf("%d@%d", c.number, c.at))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.script, diff)
			}
		})
	}
}

// TestTimelineIsBounded: the oldest steps are forgotten, and the numbers of the others
// stay.
func TestTimelineIsBounded(t *testing.T) {
	t.Parallel()
	_, line := play(strings.Repeat("early ", 20) + "take " + strings.Repeat("late ", maxSteps) + "last take")
	if got, want := line.now(), 20+maxSteps+1; got != want {
		t.Errorf("the image is at %d, want %d", got, want)
	}
	all := line.between(0, line.now())
	if diff := cmp.Diff(append(slices.Repeat([]string{"late"}, maxSteps-1), "last"), all); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if c := line.before(line.now() - 1); c == nil || c.number != 1 {
		t.Errorf("the checkpoint before the last step is %+v, want the first", c)
	}
}

// TestDue: a checkpoint is due when something was done since the last one, and then not
// before the image has been idle, or the program's functions have rested.
func TestDue(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		script   string
		rest     time.Duration
		due      bool
		from, to time.Duration // how long to wait
	}{
		{script: ""},
		{script: "a", due: true, from: -time.Minute, to: idleTime},
		{script: "a take"},
		{script: "a take b", due: true, from: -time.Minute, to: idleTime},
		{script: "a take b take back:1"},
		{script: "a", rest: time.Hour, due: true, from: time.Hour - time.Minute, to: time.Hour},
	} {
		_, line := play(tt.script)
		line.rest(tt.rest)
		if wait, due := line.due(); due != tt.due || wait < tt.from || wait > tt.to {
			t.Errorf("%q, rest %v: due %v after %v, want %v after %v to %v", tt.script, tt.rest, due, wait, tt.due, tt.from, tt.to)
		}
	}
}

// TestSuperfluous: the newest eight stay, of the older ones the newest of each minute for
// ten minutes and of each ten minutes before; those with names stay.
func TestSuperfluous(t *testing.T) {
	t.Parallel()
	const minute, second = time.Minute, time.Second
	newest := slices.Repeat([]time.Duration{5 * second}, newestCheckpoints)
	var many []time.Duration
	for i := range 60 {
		many = append(many, time.Duration(65-i)*10*minute)
	}
	oldest := slices.Clone(many[:60+newestCheckpoints-mostCheckpoints])
	slices.Reverse(oldest)
	for _, tt := range []struct {
		name  string
		older []time.Duration // ages of those before the newest eight, oldest first
		named int             // index in older of one with a name, or -1
		want  []time.Duration // ages of those that go
	}{
		{"no more than eight", nil, -1, nil},
		{"one a minute", []time.Duration{150 * second, 90 * second, 30 * second}, -1, nil},
		{"two of a minute", []time.Duration{100 * second, 90 * second, 80 * second, 30 * second}, -1, []time.Duration{90 * second, 100 * second}},
		{"one with a name", []time.Duration{100 * second, 90 * second, 80 * second}, 1, []time.Duration{100 * second}},
		{"not too many", many, -1, oldest},
		{"one of ten minutes", []time.Duration{34 * minute, 32 * minute, 18 * minute, 15 * minute, 12 * minute}, -1,
			[]time.Duration{15 * minute, 18 * minute, 34 * minute}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC) // a whole number of ten minutes
			var list []*checkpoint
			for i, age := range append(slices.Clone(tt.older), newest...) {
				c := &checkpoint{taken: now.Add(-age)}
				if i == tt.named {
					c.name = "named"
				}
				list = append(list, c)
			}
			var got []time.Duration
			for _, c := range superfluous(list, now) {
				got = append(got, now.Sub(c.taken))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ages of the superfluous (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoCall: one copy that does not call may be late; if several in a row do not, no more
// are made.
func TestNoCall(t *testing.T) {
	t.Parallel()
	_, line := play("a")
	noCalls := func(n int) (forbidden string) {
		for range n {
			line.hinder(line.noCall(launch.ErrNoCall))
		}
		return line.forbidden()
	}
	if why := noCalls(mostNoCalls - 1); why != "" || line.obstacle == nil {
		t.Errorf("before the last: forbidden %q, obstacle %v", why, line.obstacle)
	}
	line.add(&checkpoint{taken: time.Now(), copy: &frozenFake{}})
	if why := noCalls(mostNoCalls - 1); why != "" {
		t.Errorf("after one that has called: forbidden %q", why)
	}
	if why := noCalls(1); why == "" || line.obstacle == nil || !line.obstacle.Never {
		t.Errorf("after %d in a row: forbidden %q, obstacle %v", mostNoCalls, why, line.obstacle)
	}
}

// TestListThreads: each name once, and no more than a few.
func TestListThreads(t *testing.T) {
	t.Parallel()
	for want, names := range map[string][]string{
		"server":                            {"server"},
		"server, worker (3)":                {"server", "worker", "worker", "worker"},
		"a, b, c, d, e and 2 more":          {"a", "b", "c", "d", "e", "f", "g", "g"},
		"a (2), b (2), c (2), d (2), e (2)": {"a", "b", "c", "d", "e", "a", "b", "c", "d", "e"},
	} {
		if got := listThreads(names); got != want {
			t.Errorf("listThreads(%q) = %q, want %q", names, got, want)
		}
	}
}
