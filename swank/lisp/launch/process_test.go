package launch

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/testenv"
)

// testHelper stands in for the real helper, which these tests do not need.
const testHelper = `(defpackage :swank-mcp (:use :common-lisp))
(in-package :swank-mcp)
(defvar *warm* nil)
(defun warm-up () (setf *warm* t))
`

// testCode is the boot file with testHelper and more Lisp behind it.
func testCode(more string) Code {
	var boot []byte
	for _, name := range []string{"boot", "boot-main", "boot-policy"} {
		text, err := os.ReadFile("../helper/" + name + ".lisp")
		if err != nil {
			panic(err)
		}
		boot = append(append(boot, text...), '\n')
	}
	return Code{Boot: boot, Helper: [][]byte{[]byte(testHelper + more)}}
}

// testCache holds Swank's fasls for all tests, so that only the first of them
// waits for the compiler.
var testCache string

func TestMain(m *testing.M) {
	if os.Getenv("SWANK_MCP_TEST_PARENT") != "" {
		parentMain()
	}
	remove, err := testenv.Isolate()
	if err == nil {
		testCache, err = os.MkdirTemp("", "cache-")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	remove()
	os.Exit(code)
}

// needSBCL fails a test that cannot run for want of SBCL or Swank: a skip
// would look like success.
func needSBCL(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts SBCL")
	}
	for _, err := range []error{second(FindSBCL(Config{})), second(FindSwank(t.Context(), Config{}))} {
		if err != nil {
			t.Fatalf("%v\n(on Debian: apt-get install sbcl cl-swank)", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func testConfig(t *testing.T) Config {
	needSBCL(t)
	return Config{CacheDir: testCache, HeapMB: 512, NoUserInit: true, NoCore: true}
}

func startTest(t *testing.T, c Config) *Process {
	t.Helper()
	goroutines := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	p, err := Start(ctx, c, testCode(""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close(context.Background())
		if _, err := os.Stat(p.runDir); err == nil {
			t.Errorf("%s still exists", p.runDir)
		}
		await.True(t, "the group to end", func() bool { return len(groupOf(t, p.PID())) == 0 })
		if conn, ok := connections.LoadAndDelete(p); ok {
			_ = conn.(net.Conn).Close()
		}
		await.True(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
	})
	return p
}

// eval sends one form through a connection of its own, without Go's Swank
// client: this is a test of what serves, not of the client.
func eval(t *testing.T, p *Process, form string) string {
	t.Helper()
	reply, err := request(p, form)
	if err != nil {
		t.Fatalf("%s: %v", form, err)
	}
	return reply
}

// connections has the connection of each process, which stays open: Swank 2.27
// loses its sentinel thread when a peer goes away before it has read all.
var connections sync.Map // *Process → net.Conn

func request(p *Process, form string) (string, error) {
	var conn net.Conn
	if old, ok := connections.Load(p); ok {
		conn = old.(net.Conn)
	} else {
		network, address := p.Address() // vet 1.26 panics on net.Dial(p.Address())
		dialled, err := net.Dial(network, address)
		if err != nil {
			return "", err
		}
		if secret := p.Secret(); secret != "" {
			if _, err := fmt.Fprintf(dialled, "%06x%s", len(secret), secret); err != nil {
				return "", err
			}
		}
		conn = dialled
		connections.Store(p, conn)
	}
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	message := fmt.Sprintf("(:emacs-rex %s \"COMMON-LISP-USER\" t 1)", form)
	if _, err := fmt.Fprintf(conn, "%06x%s", len(message), message); err != nil {
		return "", err
	}
	for r := io.Reader(conn); ; {
		header := make([]byte, 6)
		if _, err := io.ReadFull(r, header); err != nil {
			return "", err
		}
		n, err := strconv.ParseUint(string(header), 16, 32)
		if err != nil {
			return "", err
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			return "", err
		}
		if text := string(body); strings.HasPrefix(text, "(:return ") || strings.HasPrefix(text, "(:debug ") {
			return text, nil
		}
	}
}

func TestStartReadyExit(t *testing.T) {
	p := startTest(t, testConfig(t))
	if got := p.Background(); !got.Empty() {
		t.Errorf("printed while starting: %q", got.Head)
	}
	if len(p.notes) > 0 {
		t.Errorf("notes %q", p.notes)
	}
	if p.status.PID != p.PID() || p.status.Swank == "" || !strings.HasPrefix(p.status.Implementation, "SBCL ") {
		t.Errorf("status %+v", p.status)
	}
	if p.status.HelperWarnings != "" {
		t.Errorf("warnings: %s", p.status.HelperWarnings)
	}
	if p.status.Network != "unix" {
		t.Errorf("network %q", p.status.Network)
	}
	if got := eval(t, p, "(cl:+ 1 2)"); got != "(:return (:ok 3) 1)" {
		t.Errorf("got %s", got)
	}
	// What a program of the image inherits: 0, 1, 2; 3 is what ls opens itself.
	got := eval(t, p, `(cl:with-output-to-string (s) (sb-ext:run-program "/bin/ls" '("/proc/self/fd") :output s))`)
	if want := "(:return (:ok \"0\n1\n2\n3\n\") 1)"; got != want {
		t.Errorf("descriptors of a child: %s, want %s", got, want)
	}
	_, _ = request(p, "(sb-ext:exit :code 3 :abort t)")
	await.True(t, "exit", p.HasExited)
	if got := p.ExitText(); got != "exit status 3" {
		t.Errorf("exit text %q", got)
	}
}

func TestUserPackageIsClean(t *testing.T) {
	t.Parallel()
	// How many symbols CL-USER has of its own. Its variables are those of CL: reading it interns nothing.
	const count = `(cl:let ((cl:* 0)) (cl:do-symbols (cl:+ :cl-user cl:*) (cl:when (cl:eq :internal (cl:nth-value 1 (cl:find-symbol (cl:symbol-name cl:+) :cl-user))) (cl:incf cl:*))))`
	sbcl, err := exec.LookPath("sbcl")
	if err != nil {
		t.Fatal(err)
	}
	// SBCL 2.5.2 comes with five.
	bare, err := exec.Command(sbcl, "--noinform", "--no-sysinit", "--no-userinit", "--non-interactive",
		"--eval", "(cl:princ "+count+")").Output()
	if err != nil {
		t.Fatal(err)
	}
	p := startTest(t, testConfig(t))
	if got, want := eval(t, p, count), "(:return (:ok "+string(bare)+") 1)"; got != want {
		t.Errorf("symbols of Swank are left in CL-USER: %s, want %s", got, want)
	}
}

func TestExitText(t *testing.T) {
	t.Parallel()
	p := startTest(t, testConfig(t))
	if got := p.ExitText(); got != "still running" {
		t.Errorf("exit text %q", got)
	}
	_ = syscall.Kill(p.PID(), syscall.SIGKILL)
	await.True(t, "exit", p.HasExited)
	if got := p.ExitText(); got != "killed by signal 9 (killed)" {
		t.Errorf("exit text %q", got)
	}
}

func TestGroupKill(t *testing.T) {
	t.Parallel()
	p := startTest(t, testConfig(t))
	// RUN-PROGRAM would give its child a session of its own.
	eval(t, p, `(sb-alien:alien-funcall (sb-alien:extern-alien "system" (cl:function sb-alien:int sb-alien:c-string)) "sleep 1000 &")`)
	if n := len(groupOf(t, p.PID())); n < 2 {
		t.Fatalf("%d processes in the group", n)
	}
	p.Kill()
	await.True(t, "death", p.HasExited)
	await.True(t, "the group to end", func() bool { return len(groupOf(t, p.PID())) == 0 })
}

// groupOf returns the pids of the members of a process group.
func groupOf(t *testing.T, group int) (pids []int) {
	t.Helper()
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		b, err := os.ReadFile(stat)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		if fields[0] != "Z" && fields[2] == strconv.Itoa(group) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentMain is what the test binary does as the parent that is killed.
func parentMain() {
	p, err := Start(context.Background(), Config{CacheDir: os.Getenv("SWANK_MCP_TEST_PARENT"), NoUserInit: true, NoCore: true}, testCode(""))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	loops := os.Getenv("SWANK_MCP_TEST_LOOPS")
	go func() {
		_, _ = request(p, fmt.Sprintf("(sb-sys:without-interrupts (cl:close (cl:open %q :direction :output)) (cl:loop))", loops))
	}()
	for _, err := os.Stat(loops); err != nil; _, err = os.Stat(loops) {
		time.Sleep(2 * time.Millisecond)
	}
	fmt.Println(p.PID(), p.runDir)
	select {}
}

func TestKilledParent(t *testing.T) {
	t.Parallel()
	c := testConfig(t)
	startTest(t, c) // then the fasls are there, too
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SWANK_MCP_TEST_PARENT="+c.CacheDir, "SWANK_MCP_TEST_LOOPS="+filepath.Join(t.TempDir(), "loops"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	var runDir string
	if _, err := fmt.Sscan(line, &pid, &runDir); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("no image: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	await.True(t, "the image to end", func() bool { return len(groupOf(t, pid)) == 0 })
	if _, err := os.Stat(runDir); err == nil {
		t.Errorf("%s is left", runDir)
	}
}

func TestInterruptedMainThread(t *testing.T) {
	t.Parallel()
	p := startTest(t, testConfig(t))
	for i := range 30 {
		_ = syscall.Kill(p.PID(), syscall.SIGINT)
		time.Sleep(time.Duration(i) * time.Millisecond)
	}
	if got := eval(t, p, "(cl:+ 1 2)"); got != "(:return (:ok 3) 1)" {
		t.Errorf("got %s", got)
	}
}
