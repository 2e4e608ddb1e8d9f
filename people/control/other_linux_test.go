package control

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/internal/testenv"
)

// as is set for a child of the test that is another user, and asks the socket that it
// names.
const as = "SWANK_MCP_TEST_AS_OTHER"

func TestMain(m *testing.M) {
	path := os.Getenv(as)
	if path == "" {
		os.Exit(testenv.Main(m))
	}
	c, err := net.DialTimeout("unix", path, 5*time.Second)
	if err != nil {
		os.Stdout.WriteString("refused: " + err.Error())
		return
	}
	c.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = c.Write([]byte("GET /status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")) // it may be closed already
	b := make([]byte, 1000)
	n, _ := c.Read(b)
	os.Stdout.WriteString("got: " + string(b[:n]))
}

// askAsNobody asks the socket as another user.
func askAsNobody(t *testing.T, path string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(filepath.Dir(filepath.Dir(path)), "asker") // where the other one can reach it
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, text, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary)
	cmd.Dir = "/"
	cmd.Env = []string{as + "=" + path}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("as another user: %v; the tests run as root\n%s", err, out)
	}
	return string(out)
}

// Another user of the machine gets nothing, even where the directory and the socket have
// been opened to everybody.
func TestOtherUsers(t *testing.T) {
	base := shortDir(t)
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "run")
	s, _ := serveTest(t, dir)
	path := s.socket.path
	if got := askAsNobody(t, path); !strings.Contains(got, "permission denied") {
		t.Errorf("another user %s", got)
	}
	for file, mode := range map[string]os.FileMode{dir: 0o755, path: 0o666} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	if got := askAsNobody(t, path); got != "got: " {
		t.Errorf("where the socket is open to all, another user %s", got)
	}
	if _, err := newClient(path).Status(t.Context()); err != nil {
		t.Errorf("its own user gets nothing any more: %v", err)
	}
}

// A socket in a directory of another user's is not spoken with.
func TestSocketOfAnotherUser(t *testing.T) {
	base := shortDir(t)
	l, err := net.Listen("unix", filepath.Join(base, "1.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if found := Find([]string{base}); len(found) != 1 {
		t.Errorf("of one's own, %d are found", len(found))
	}
	if err := os.Chown(base, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if found := Find([]string{base}); len(found) != 0 {
		t.Error("a socket in another user's directory is found")
	}
}
