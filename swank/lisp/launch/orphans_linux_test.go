package launch

import (
	"os/exec"
	"slices"
	"sync"
	"testing"

	"swank-mcp/internal/await"
	"swank-mcp/swank/lisp/host"
)

// Processes that a program leaves behind are let go of when they have ended; our own
// children wait for those who have started them, however late these are.
func TestOrphans(t *testing.T) {
	t.Parallel()
	end := map[*line]func(){}
	listening := func() *line {
		l := &line{runDir: t.TempDir()}
		if _, err := l.listen(); err != nil {
			t.Fatal(err)
		}
		end[l] = sync.OnceFunc(func() {
			l.calls.hangUp()
			l.calls.end()
		})
		t.Cleanup(end[l])
		return l
	}
	first := listening() // who may be the one that looks for them
	listening()
	end[first]()
	start := func(own bool, program string, args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		if own {
			cmd.SysProcAttr = host.OwnGroup()
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	leader, member := start(true, "true"), start(false, "true")
	defer host.Own(leader.Process.Pid)()
	parent := start(true, "sh", "-c", "sleep 0.2 & sleep 0.2 & setsid sleep 0.2 & exit 0")
	if err := parent.Wait(); err != nil {
		t.Fatal(err)
	}
	await.True(t, "three orphans end", func() bool { return len(endedOrphans()) >= 3 })
	await.True(t, "they are let go of", func() bool { return len(endedOrphans()) == 0 })
	if pids := endedOrphans(); slices.Contains(pids, leader.Process.Pid) || slices.Contains(pids, member.Process.Pid) {
		t.Errorf("%v are taken for orphans", pids)
	}
	for _, cmd := range []*exec.Cmd{leader, member} {
		if err := cmd.Wait(); err != nil {
			t.Errorf("waiting for a process of ours: %v", err)
		}
	}
}
