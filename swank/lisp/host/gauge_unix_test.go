//go:build unix

package host

import (
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// A process that spins has a chance while it runs, one that sleeps all the time, and one that
// is stopped none.
func TestGauge(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		if c := func() time.Duration { g := NewGauge(1); time.Sleep(time.Millisecond); return g.Chance() }(); c < time.Millisecond {
			t.Errorf("where nothing is known, %v of a millisecond count", c)
		}
		return
	}
	start := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return cmd
	}
	measured := func(g *Gauge) (chance, passed time.Duration) {
		began := time.Now()
		g.Chance()
		time.Sleep(200 * time.Millisecond)
		return g.Chance(), time.Since(began)
	}
	spins := start("sh", "-c", "while :; do :; done")
	sleeps := start("sleep", "1000")
	g := NewGauge(spins.Process.Pid)
	for chance := time.Duration(0); chance == 0; { // it gets a processor some time
		chance, _ = measured(g)
	}
	for cmd, most := range map[*exec.Cmd]time.Duration{spins: 1000 / ticks * time.Millisecond, sleeps: 0} {
		g, thread := NewGauge(cmd.Process.Pid), NewGauge(cmd.Process.Pid)
		thread.Follow(cmd.Process.Pid)
		cmd.Process.Signal(syscall.SIGSTOP)
		for stopped := false; !stopped; time.Sleep(time.Millisecond) {
			_, state := stat(g.dir)
			stopped = state == 'T'
		}
		for _, g := range []*Gauge{g, thread} {
			g.Chance()
			if chance, passed := measured(g); chance > most {
				t.Errorf("stopped for %v, it had %v", passed, chance)
			}
		}
		cmd.Process.Signal(syscall.SIGCONT)
	}
	g = NewGauge(sleeps.Process.Pid)
	for idle := false; !idle; { // once it has run on
		chance, passed := measured(g)
		idle = chance > 190*time.Millisecond && chance <= passed
	}
	sleeps.Process.Kill()
	sleeps.Wait()
	if chance, _ := measured(g); chance < 200*time.Millisecond {
		t.Errorf("of a process that is gone nothing is known: all time counts, not %v", chance)
	}
}
