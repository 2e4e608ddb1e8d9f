//go:build unix

package harness

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/testenv"
)

var (
	binaryFlag = flag.String("binary", "", "test this swank-mcp instead of building one")
	raceFlag   = flag.Bool("racebinary", false, "build the binary under test with the race detector")
)

// suite holds what all tests of one run share: the binary, a home of their own, and a cache
// that runs share and nobody else, so that nothing of the person who runs the tests takes part.
type suite struct {
	Dir, Binary, Cache string
	Warm               func() error // builds what a server finds in the cache, once
	WarmGuest          func() error // the same for servers in a person's image
}

// Run is the run of this process.
var Run suite

// Main runs the tests of a package: what every TestMain calls. It returns the status with which
// the process ends.
func Main(m *testing.M) (status int) {
	if to := os.Getenv(ForwardTo); to != "" {
		fmt.Fprintln(os.Stderr, "e2e:", serveForward(to))
		return 1
	}
	flag.Parse()
	dir, err := os.MkdirTemp("", "swe") // short: Unix socket paths end at 107 bytes
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := setUp(dir); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	var warming sync.WaitGroup
	if flag.Lookup("test.run").Value.String() == "" { // both will be wanted, and there are two processors
		warming.Go(func() { Run.Warm() })
		warming.Go(func() {
			Run.WarmGuest()
			WarmLibraries()
		})
	}
	status = m.Run()
	warming.Wait()
	if endChromium != nil {
		endChromium()
	}
	if left := leftOf(Run.Dir); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "e2e: processes of the tests are left: %q\n", left)
		status = max(status, 1)
	}
	dropGone()
	if files := compiledAnew(); len(files) > 0 {
		fmt.Fprintf(os.Stderr, "e2e: tests have compiled libraries of all others anew: %q\n", files)
		status = max(status, 1)
	}
	return status
}

// setUp makes what all tests of a run share, in dir.
func setUp(dir string) (err error) {
	Run = suite{Dir: dir, Binary: *binaryFlag}
	if Run.Cache, err = testenv.Cache(); err != nil {
		return err
	}
	Run.Warm, Run.WarmGuest = made("warm", warm), made("warm-guest", warmGuest)
	if *AttachedFlag {
		Run.Warm = Run.WarmGuest
	}
	if Run.Binary == "" {
		Run.Binary, err = build(dir)
	} else {
		Run.Binary, err = filepath.Abs(Run.Binary)
	}
	return err
}

// OfRun begins the variable of the environment by which the processes of a run are known.
const OfRun = "SWANK_MCP_TEST_RUN="

// leftOf ends the processes that the tests of dir have left, and describes them. What they
// have ended may still be on its way. A system without /proc tells of none.
func leftOf(dir string) (left []string) {
	var pids []int
	look := func() bool {
		left, pids = nil, nil
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range files {
			if b, _ := os.ReadFile(file); strings.Contains(string(b), OfRun+dir) {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
				left, pids = append(left, fmt.Sprintf("%d %s", pid, Command(pid))), append(pids, pid)
			}
		}
		return len(left) == 0
	}
	if await.Until(look) != nil {
		for _, pid := range pids {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return left
}

// warm starts one server and waits until its image has a core, or has written one.
func warm() error {
	began := time.Now()
	return firstServer(func(c *wire.Client) error {
		if err := await.Until(func() bool { return Cores(filepath.Join(Run.Cache, "swank-mcp"), began) > 0 }, c); err != nil {
			return fmt.Errorf("a core in %s: %w\n%s", Run.Cache, err, c.Said())
		}
		return nil
	})
}

// warmGuest has the helper compiled in a person's image.
func warmGuest() error {
	p, err := QuickPerson(0, "", Environ(Run.Dir), "")
	if err != nil {
		return err
	}
	defer p.End()
	return firstServer(nil, "--attach", p.Address)
}

// firstServer starts a server on the cold cache, evaluates, and calls more, if that is not nil,
// before the server's end. The start may take longer than a call waits for it.
func firstServer(more func(*wire.Client) error, args ...string) error {
	c, err := wire.Start(wire.Options{Env: Environ(Run.Dir)}, Run.Binary, args...)
	if err != nil {
		return err
	}
	defer c.Kill()
	ctx, stop := await.Limited(context.Background())
	defer stop()
	if _, err := c.Open(ctx); err != nil {
		return fmt.Errorf("opening the first server: %w\n%s", err, c.Said())
	}
	evaluate := func() (wire.Result, error) { return c.Tool(ctx, "evaluate-lisp", Object{"code": "(+ 1 2)"}) }
	r, err := evaluate()
	for err == nil && strings.Contains(strings.ToLower(r.Text()), "send the call again") {
		r, err = evaluate()
	}
	if err != nil || r.Text() != "=> 3" {
		return fmt.Errorf("first evaluation: %v, %q\n%s", err, r.Text(), c.Said())
	}
	// Tests that run beside each other would each compile them. A missing one is told
	// by those that need it.
	for _, system := range []string{"alexandria", "cl-ppcre", "fiveam"} {
		if _, err := c.Tool(ctx, "load-system", Object{"system": system}); err != nil {
			return fmt.Errorf("loading %s: %w", system, err)
		}
	}
	if more != nil {
		if err := more(c); err != nil {
			return err
		}
	}
	return c.Close(await.Ceiling)
}

// Environ is the whole environment of a server under test. The C locale is the
// least that a host gives its servers; text must pass unharmed all the same.
func Environ(home string, more ...string) []string {
	env := append([]string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"XDG_CACHE_HOME=" + Run.Cache,
		"TMPDIR=" + Run.Dir,
		OfRun + Run.Dir,
		"LC_ALL=C",
		"SWANK_MCP_TOOLSETS=all",    // TestToolsets tests the default
		"SWANK_MCP_NO_JOURNAL=true", // kept-session.txtar tests it
	}, more...)
	return append(env, RunDirVariable+"="+lookup(env, "TMPDIR"))
}

// RunDirVariable names the directory of sockets that a server and its user's programs look
// into, and no other: so tests and the servers that their user runs do not meet.
const RunDirVariable = "SWANK_MCP_RUN_DIR"

// lookup returns the last value of a variable in an environment, "" if there is none.
func lookup(env []string, name string) (value string) {
	for _, v := range env {
		if rest, ok := strings.CutPrefix(v, name+"="); ok {
			value = rest
		}
	}
	return value
}
