package lisp

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
	"swank-mcp/swank/lisp/launch"
)

var (
	checkpointsFlag = flag.Int("checkpoints", 12, "checkpoints that TestCheckpointsInARow takes")
	liveFlag        = flag.Int("checkpoints.live", 50, "megabytes of live data in the image of TestCheckpointsInARow")
)

// checkpointNow takes a checkpoint as one that is taken by itself.
func checkpointNow(t *testing.T, im *Image) *checkpoint {
	t.Helper()
	var c *checkpoint
	err := im.Session("default").exclusively(t.Context(), "checkpoint", time.Minute, func() (err error) {
		c, err = im.current(t.Context(), "", time.Second)
		return err
	})
	if err != nil {
		t.Fatalf("taking a checkpoint: %v", err)
	}
	return c
}

// belongings counts what could be left behind by checkpoints: in the bridge, in the
// image and in the directory of the line.
func belongings(t *testing.T, im *Image) string {
	t.Helper()
	im.mu.Lock()
	p := im.cur.proc.(*launch.Process)
	im.mu.Unlock()
	entries := func(dir string) int {
		names, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	children := 0
	for _, stat := range childrenOf(t, os.Getpid()) {
		if state := stat[strings.LastIndexByte(stat, ')')+2]; state == 'Z' {
			children += 1000
		}
		children++
	}
	inImage := mustEval(t, im, `(list (< (length swank/sbcl::*mailboxes*) 20) (sort (mapcar #'sb-thread:thread-name (sb-thread:list-all-threads)) #'string<))`)
	return fmt.Sprintf("%d processes, descriptors %d and %d, %d files, few mailboxes and threads %s", children, entries("/proc/self/fd"),
		entries(fmt.Sprintf("/proc/%d/fd", p.PID())), entries(p.Dir()), inImage)
}

// childrenOf returns the stat of each child, see proc(5).
func childrenOf(t *testing.T, parent int) (stats []string) {
	t.Helper()
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		b, _ := os.ReadFile(file)
		stat := string(b)
		var state string
		var ppid int
		fmt.Sscan(stat[strings.LastIndexByte(stat, ')')+1:], &state, &ppid)
		if ppid == parent {
			stats = append(stats, stat)
		}
	}
	return stats
}

// Any number of checkpoints can be taken and gone back to, and leaves nothing: no
// process, descriptor, file, thread or mailbox.
func TestCheckpointsInARow(t *testing.T) {
	tier.More(t)
	im := testImage(t)
	mustEval(t, im, fmt.Sprintf("(defvar *live* (loop repeat %d collect (let ((v (make-array 131072))) (fill v v))))", *liveFlag))
	mustEval(t, im, "(defvar *n* 0)")
	im.timeline.rest(time.Hour) // none is taken by itself, while belongings evaluates
	only := func(last *checkpoint) {
		im.timeline.mu.Lock()
		im.timeline.drop(func(c *checkpoint) bool { return c != last })
		im.timeline.mu.Unlock()
	}
	s := im.Session("default")
	back := func() time.Duration {
		u, err := s.Undo(t.Context(), 1, "", 10*time.Second)
		if err != nil {
			t.Fatalf("undo: %v", err)
		}
		return u.Took
	}
	checkpointNow(t, im)
	mustEval(t, im, "(incf *n*)")
	checkpointNow(t, im)
	back() // so that the image is one that goes on from a copy
	only(checkpointNow(t, im))
	before := ""
	_ = await.Until(func() bool {
		time.Sleep(100 * time.Millisecond)
		now := belongings(t, im)
		same := now == before
		before = now
		return same
	})

	var pauses, undone []time.Duration
	n := 0
	for i := range *checkpointsFlag {
		mustEval(t, im, fmt.Sprintf("(progn (fill (nth %d *live*) (incf *n*)) *n*)", i%*liveFlag))
		n++
		pauses = append(pauses, checkpointNow(t, im).pause)
		if i%4 == 3 {
			undone = append(undone, back())
			n--
		}
		if got := mustEval(t, im, "*n*"); got != fmt.Sprint(n) {
			t.Fatalf("after %d checkpoints *n* is %s, want %d", i+1, got, n)
		}
	}
	im.timeline.mu.Lock()
	kept := len(im.timeline.checkpoints)
	im.timeline.mu.Unlock()
	if most := newestCheckpoints + 12 + *checkpointsFlag/100; kept > most {
		t.Errorf("%d checkpoints are kept, more than %d", kept, most)
	}
	last := checkpointNow(t, im)
	only(last)
	after := ""
	if await.Until(func() bool { after = belongings(t, im); return after == before }) != nil {
		t.Errorf("afterwards there are\n%s, before\n%s", after, before)
	}

	// Copies of an image that does not change cost little.
	only(nil)
	var copies []*launch.Copy
	for range 8 {
		_ = im.working.lock(t.Context())
		c, err := im.takeCheckpoint(t.Context(), "", true)
		im.working.unlock()
		if err != nil {
			t.Fatal(err)
		}
		copies = append(copies, c.copy.(*launch.Copy))
	}
	im.mu.Lock()
	pid := im.cur.proc.PID()
	im.mu.Unlock()
	memory := launch.Memory(copies, pid)
	if limit := int64(16 << 20); runtime.GOOS == "linux" && memory > limit {
		t.Errorf("8 copies take %d KB, want %d at most", memory>>10, limit>>10)
	}
	slices.Sort(pauses)
	slices.Sort(undone)
	t.Logf("%d checkpoints of %d MB: pause p50 %v, p99 %v; %d undone, p50 %v, slowest %v; 8 copies take %d KB beside the image",
		len(pauses), *liveFlag, pauses[len(pauses)/2], pauses[len(pauses)*99/100], len(undone), undone[len(undone)/2], undone[len(undone)-1], memory>>10)
}

// A checkpoint that is taken before a session was brought back into an image has nothing
// of what the session has defined last, and says so.
func TestCheckpointOfAnotherSession(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	die := func() {
		im.mu.Lock()
		inst := im.cur
		im.mu.Unlock()
		inst.kill("killed by the test")
		<-inst.proc.Exited()
	}
	in(t, im, "a", "(defvar *a* 1)")
	in(t, im, "b", "(defun early () 1)")
	checkpointNow(t, im)
	in(t, im, "b", "(defun late () 2)")
	die()
	in(t, im, "a", "(setf *a* 2)") // b is not brought back yet
	checkpointNow(t, im)
	die()
	if got := in(t, im, "b", "(list *a* (early) (late))"); got != "(2 1 2)" {
		t.Errorf("b has %s", got)
	}
}

// TestNoCheckpointKeepsImage: whatever keeps a checkpoint from being taken while the image
// serves, the image goes on, and the next one is taken when that has gone.
func TestNoCheckpointKeepsImage(t *testing.T) {
	tier.More(t)
	defer func(d time.Duration) { copyTimeout = d }(copyTimeout)
	copyTimeout = time.Second
	once := func(body string) string {
		return fmt.Sprintf(`(let ((old (fdefinition 'swank-mcp::passing-obstacle)) (done nil))
(defun swank-mcp::passing-obstacle () (if (shiftf done t) (funcall old) %s)))`, body)
	}
	for _, tt := range []struct{ name, code, why string }{
		{"an answered error", once("(invoke-restart 'abort)"), "abort"},
		{"no answer", once("(sleep 1000)"), "did not answer within 1s"},
		{"a late answer", once("(progn (sleep 1.5) \"the bridge has work in it\")"), "the bridge has work"},
		{"no directory for the socket", "", "no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			im := testImage(t)
			im.timeline.rest(time.Hour) // none is taken by itself
			mustEval(t, im, "(defvar *kept* 1)")
			im.mu.Lock()
			inst := im.cur
			im.mu.Unlock()
			if tt.code == "" {
				os.RemoveAll(inst.proc.(*launch.Process).Dir())
			} else {
				mustEval(t, im, tt.code)
			}
			_ = im.working.lock(t.Context())
			_, err := im.takeCheckpoint(t.Context(), "", true)
			im.working.unlock()
			var obstacle *ObstacleError
			if !errors.As(err, &obstacle) || !strings.Contains(obstacle.Why, tt.why) {
				t.Errorf("taking a checkpoint: %v, want an obstacle: %s", err, tt.why)
			}
			if got := mustEval(t, im, "(incf *kept*)"); got != "2" || inst.over() {
				t.Errorf("afterwards *kept* is %s, and the image has ended: %v", got, inst.over())
			}
			if tt.code != "" {
				checkpointNow(t, im)
			}
		})
	}
}

// frozenSlow is a copy from which the first image does not start.
type frozenSlow struct {
	frozen
	tried bool
}

func (f *frozenSlow) Start(ctx context.Context) (*launch.Process, error) {
	if !f.tried {
		f.tried = true
		return nil, errors.New("too slow")
	}
	return f.frozen.Start(ctx)
}

// A copy from which no image starts at once is not given up: no older one takes its place.
func TestCheckpointTriedAgain(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	mustEval(t, im, "(defvar *n* 1)")
	checkpointNow(t, im)
	mustEval(t, im, "(setf *n* 2)")
	c := checkpointNow(t, im)
	im.timeline.mu.Lock()
	c.copy = &frozenSlow{frozen: c.copy}
	im.timeline.mu.Unlock()
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	inst.kill("killed by the test")
	<-inst.proc.Exited()
	if got := mustEval(t, im, "*n*"); got != "2" {
		t.Errorf("*n* is %s afterwards", got)
	}
}

// Of older checkpoints one a minute stays, however often they are thinned out.
func TestSuperfluousCheckpoints(t *testing.T) {
	t.Parallel()
	began := time.Now().Truncate(10 * time.Minute)
	var list []*checkpoint
	for i := range 240 { // an hour
		now := began.Add(time.Duration(i) * 15 * time.Second)
		list = append(list, &checkpoint{number: i, taken: now})
		out := superfluous(list, now)
		list = slices.DeleteFunc(list, func(c *checkpoint) bool { return slices.Contains(out, c) })
	}
	now := list[len(list)-1].taken
	minutes, older := 0, 0
	for _, c := range list[:len(list)-newestCheckpoints] {
		if now.Sub(c.taken) <= 10*time.Minute {
			minutes++
		} else {
			older++
		}
	}
	if minutes < 7 || minutes > 10 || older < 4 || older > 7 {
		t.Errorf("beside the newest there are %d of the last ten minutes and %d older ones", minutes, older)
	}
}
