package people

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// A test neither sees, nor sweeps, nor stops the servers that the user runs meanwhile: these
// have their sockets and images in the places of every user's.
func TestForeignServers(t *testing.T) {
	t.Parallel()
	type theirs struct {
		*harness.Server
		harness.Life
	}
	var foreign []theirs
	for range 5 {
		home := t.TempDir()
		s := harness.StartWith(t, wire.Options{Dir: home, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home,
			"XDG_CACHE_HOME=" + harness.Run.Cache, "SWANK_MCP_NO_JOURNAL=true", harness.OfRun + harness.Run.Dir, "LC_ALL=C"}})
		foreign = append(foreign, theirs{s, harness.Begin(t, s)})
	}
	d := harness.NewDesk(t)
	if out, status := d.Types("ps"); status != 0 || out != "No server runs.\n" {
		t.Errorf("ps says (%d):\n%s", status, out)
	}
	own := d.Server("own")
	harness.Begin(t, own) // the first image of a server sweeps what others have left
	if st := d.Statuses(); len(st) != 1 || st[0]["pid"] != float64(own.PID()) {
		t.Errorf("beside foreign servers ps shows %v", st)
	}
	for _, command := range []string{"stop", "pause", "resume"} {
		if out, status := d.Types(command, fmt.Sprint(foreign[0].PID())); status != 1 || !strings.Contains(out, fmt.Sprintf("no server has the ID %d", foreign[0].PID())) {
			t.Errorf("%s of a foreign server says (%d):\n%s", command, status, out)
		}
	}
	harness.Check(t, own.Close(await.Ceiling))
	for _, s := range foreign {
		s.GoesOn(t, s.Server)
	}
	if left, _ := filepath.Glob(filepath.Join(d.Dir, "*.sock")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
