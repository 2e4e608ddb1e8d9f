package checkpoints

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

var (
	checkpointKills   = flag.Int("checkpoint.kills", 8, "deaths of the image in TestCheckpointKills")
	checkpointSeed    = flag.Uint64("checkpoint.seed", 1, "seed of the tests that kill")
	checkpointBridges = flag.Int("checkpoint.bridges", 6, "servers that TestCheckpointServerKilled kills")
)

// checkpointDeaths are ways in which an image may end by itself: SBCL survives some of
// them, by its version.
var checkpointDeaths = map[string]string{
	"exit":         `(sb-ext:exit :abort t)`,
	"abort":        `(sb-alien:alien-funcall (sb-alien:extern-alien "abort" (function sb-alien:void)))`,
	"wild pointer": `(sb-alien:alien-funcall (sb-alien:extern-alien "memset" (function sb-alien:void sb-alien:unsigned-long sb-alien:int sb-alien:unsigned-long)) 16 1 64)`,
	"wild jump":    `(sb-alien:alien-funcall (sb-alien:sap-alien (sb-sys:int-sap 4096) (function sb-alien:void)))`,
	// the parser calls itself for each parenthesis
	"foreign stack": `(sb-alien:alien-funcall (sb-alien:extern-alien "regcomp" (function sb-alien:int (* (sb-alien:array sb-alien:char 256)) sb-alien:c-string sb-alien:int))
  (sb-alien:make-alien (sb-alien:array sb-alien:char 256)) (make-string 1000000 :initial-element #\() 1)`,
	"without a handler": `(progn
  (sb-alien:alien-funcall (sb-alien:extern-alien "signal" (function sb-sys:system-area-pointer sb-alien:int sb-sys:system-area-pointer)) 11 (sb-sys:int-sap 0))
  (sb-alien:alien-funcall (sb-alien:extern-alien "memset" (function sb-alien:void sb-alien:unsigned-long sb-alien:int sb-alien:unsigned-long)) 16 1 64))`,
	"full heap": `(let ((all '())) (loop (push (make-array 1000000) all)))`,
	// there is no room for what the collector copies
	"full heap in a collection": `(sb-sys:without-interrupts
  (setf (sb-ext:bytes-consed-between-gcs) (sb-ext:dynamic-space-size))
  (let ((all (loop repeat (floor (* 7/10 (sb-ext:dynamic-space-size)) 1048576) collect (make-list 65536))))
    (sb-ext:gc :full t)
    (length all)))`,
}

// counted is a session in which one value grows.
type counted struct {
	*harness.Server
	n int
}

// newCounted starts one. dir is for temporary files, "" for that of all tests.
func newCounted(t *testing.T, dir string) *counted {
	t.Helper()
	if dir == "" {
		dir = harness.Run.Dir
	}
	c := &counted{Server: harness.StartWith(t, wire.Options{Env: harness.Environ(harness.Run.Dir, "TMPDIR="+dir)})}
	harness.WantRuns(t, c.Server, `(let ((n 0) (table (make-hash-table)))
  (defun next (number) (setf (gethash n table) (list n)) (assert (= number (incf n))) n)
  (defun now () (and (= n (hash-table-count table)) n)))`)
	return c
}

// next changes the value and waits for the time after which the change is kept, a random moment
// more. Beside other tests a machine may be late: then it is waited for. Many kills are made
// with the machine for them alone, and are held to the time.
func (c *counted) next(t *testing.T, r *rand.Rand) {
	t.Helper()
	c.n++
	code := fmt.Sprintf("(next %d)", c.n)
	harness.Want(t, c.Server, code, fmt.Sprint("=> ", c.n))
	time.Sleep(300*time.Millisecond + time.Duration(r.IntN(300))*time.Millisecond)
	if *checkpointKills < 100 && await.Until(func() bool { return strings.Contains(harness.Status(t, c.Server), ", after "+code) }) != nil {
		t.Fatalf("no checkpoint is taken after %s:\n%s", code, harness.Status(t, c.Server))
	}
}

// goesOn wants the value to be there, and returns how long it took until it was told. A
// call that reaches an image that is just dying is sent again.
func (c *counted) goesOn(t *testing.T, began time.Time, after string) time.Duration {
	t.Helper()
	for range 20 {
		text, isErr := harness.Eval(t, c.Server, "(now)")
		took := time.Since(began)
		if isErr && strings.HasPrefix(text, "[ERROR] IMAGE-DIED") {
			continue
		}
		if first, _, _ := strings.Cut(text, "\n"); first != fmt.Sprint("=> ", c.n) {
			t.Fatalf("after %s the value is\n%s\nwant %d", after, text, c.n)
		}
		return took
	}
	t.Fatalf("after %s the image does not come back", after)
	return 0
}

// However and whenever the image ends, 300 ms after what was evaluated last, all values
// are there in the next one.
func TestCheckpointKills(t *testing.T) {
	tier.More(t)
	t.Parallel()
	r := rand.New(rand.NewPCG(*checkpointSeed, 2))
	c := newCounted(t, "")
	var times []time.Duration
	for range *checkpointKills {
		c.next(t, r)
		pid := harness.ImagePID(t, c.Server)
		began := time.Now()
		harness.Check(t, syscall.Kill(pid, syscall.SIGKILL))
		times = append(times, c.goesOn(t, began, "kill -9"))
	}
	slices.Sort(times)
	t.Logf("%d kills: until the next reply p50 %v, p99 %v, slowest %v", len(times), times[len(times)/2], times[len(times)*99/100], times[len(times)-1])
}

// The same holds for the ways in which code ends its image.
func TestCheckpointDeaths(t *testing.T) {
	tier.More(t)
	t.Parallel()
	r := rand.New(rand.NewPCG(*checkpointSeed, 2))
	c := newCounted(t, "")
	for _, how := range sortedKeysOf(checkpointDeaths) {
		if strings.HasPrefix(how, "full heap") && *checkpointKills < 100 {
			continue // it takes 10 s and 4 GB; TestSurvives fills the heap
		}
		c.next(t, r)
		pid := harness.ImagePID(t, c.Server)
		text, isErr := harness.Eval(t, c.Server, checkpointDeaths[how])
		if !isErr {
			t.Errorf("%s is no error:\n%s", how, harness.Clip(text))
		}
		took := c.goesOn(t, time.Now(), how)
		if now := harness.ImagePID(t, c.Server); strings.HasPrefix(text, "[ERROR] IMAGE-DIED") == (now == pid) {
			t.Errorf("%s: the image was process %d and is %d", how, pid, now)
		}
		first, _, _ := strings.Cut(text, "\n")
		t.Logf("%s: %s; the next reply after %v", how, first, took)
	}
}

func sortedKeysOf[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// A server that is killed leaves no process, whatever it was doing, and no directory, a
// second later; if its image was killed just before, the directory is there until the next
// server starts.
func TestCheckpointServerKilled(t *testing.T) {
	tier.More(t)
	t.Parallel()
	r := rand.New(rand.NewPCG(*checkpointSeed, 3))
	// A server that builds the core beside it has a process that yields to all others.
	if await.Until(func() bool {
		s := harness.Start(t)
		harness.Begin(t, s)
		return strings.Contains(harness.Status(t, s), "from the cached core")
	}) != nil {
		t.Fatal("there is no cached core")
	}
	for i := range *checkpointBridges {
		base := t.TempDir() // of the directories of this server alone
		c := newCounted(t, base)
		for range r.IntN(3) {
			c.next(t, r)
		}
		doing := []string{"nothing", "checkpoint", "undo", "trial", "recovery"}[i%5]
		switch doing {
		case "checkpoint":
			harness.SendTool(t, c.Server, "checkpoint", harness.Object{"name": "now"})
		case "undo":
			harness.SendTool(t, c.Server, "undo", harness.Object{"steps": 1})
		case "trial":
			harness.SendTool(t, c.Server, "evaluate-lisp", harness.Object{"code": fmt.Sprintf("(next %d)", c.n+1), "trial": true})
		case "recovery":
			harness.Check(t, syscall.Kill(harness.ImagePID(t, c.Server), syscall.SIGKILL))
		}
		time.Sleep(time.Duration(r.IntN(60000)) * time.Microsecond)
		c.Kill()
		left := func() []string {
			// Not the one directory of all servers' sockets, in which the next one removes that of the dead.
			dirs, err := filepath.Glob(filepath.Join(base, "swank-mcp.*"))
			harness.Check(t, err)
			return append(dirs, processesIn(t, base)...)
		}
		// One that is just being made is not seen yet, and of one look nothing follows.
		none := func(look func() []string) bool {
			if len(look()) > 0 {
				return false
			}
			time.Sleep(20 * time.Millisecond)
			return len(look()) == 0
		}
		// Where the image was killed, too, nobody may be left who could remove the directory.
		dead := func() bool {
			return doing == "recovery" && none(func() []string { return processesIn(t, base) })
		}
		ended := time.Now()
		_ = await.Until(func() bool { return none(left) || dead() })
		took := time.Since(ended)
		if len(left()) > 0 && dead() {
			next := harness.StartWith(t, wire.Options{Env: harness.Environ(harness.Run.Dir, "TMPDIR="+base)})
			harness.Want(t, next, "(+ 1 2)", "=> 3")
			harness.Check(t, next.Close(await.Ceiling))
			t.Logf("run %d: the next server has removed the directory", i)
			ended = time.Now()
			_ = await.Until(func() bool { return none(left) })
			took = max(took, time.Since(ended))
		}
		t.Logf("run %d: what was killed during %s was gone after %v", i, doing, took)
		if there := left(); len(there) > 0 {
			t.Errorf("run %d: long after a server was killed during %s there are %q", i, doing, there)
		}
	}
	t.Logf("%d servers killed", *checkpointBridges)
}

// processesIn describes the processes whose directory for temporary files is dir.
func processesIn(t *testing.T, dir string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	harness.Check(t, err)
	for _, file := range files {
		b, _ := os.ReadFile(file)
		if slices.Contains(strings.Split(string(b), "\x00"), "TMPDIR="+dir) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			found = append(found, fmt.Sprintf("%d %s", pid, harness.Command(pid)))
		}
	}
	return found
}
