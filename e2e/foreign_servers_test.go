package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// A test neither sees, nor sweeps, nor stops the servers that the user runs meanwhile: these
// have their sockets and images in the places of every user's.
func TestForeignServers(t *testing.T) {
	t.Parallel()
	type theirs struct {
		*server
		life
	}
	var foreign []theirs
	for range 5 {
		home := t.TempDir()
		s := startWith(t, wire.Options{Dir: home, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home,
			"XDG_CACHE_HOME=" + run.cache, "SWANK_MCP_NO_JOURNAL=true", ofRun + run.dir, "LC_ALL=C"}})
		foreign = append(foreign, theirs{s, begin(t, s)})
	}
	d := newDesk(t)
	if out, status := d.types("ps"); status != 0 || out != "No server runs.\n" {
		t.Errorf("ps says (%d):\n%s", status, out)
	}
	own := d.server("own")
	begin(t, own) // the first image of a server sweeps what others have left
	if st := d.statuses(); len(st) != 1 || st[0]["pid"] != float64(own.PID()) {
		t.Errorf("beside foreign servers ps shows %v", st)
	}
	for _, command := range []string{"stop", "pause", "resume"} {
		if out, status := d.types(command, fmt.Sprint(foreign[0].PID())); status != 1 || !strings.Contains(out, fmt.Sprintf("no server has the ID %d", foreign[0].PID())) {
			t.Errorf("%s of a foreign server says (%d):\n%s", command, status, out)
		}
	}
	check(t, own.Close(await.Ceiling))
	for _, s := range foreign {
		s.goesOn(t, s.server)
	}
	if left, _ := filepath.Glob(filepath.Join(d.dir, "*.sock")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
