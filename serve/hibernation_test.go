package serve

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/await"
)

// An image that nobody uses is put away, and wakes with what was defined, for a connection
// of either era. One that works is left alone.
func TestHibernation(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(o *Options) { o.Hub.Hibernate = 300 * time.Millisecond })
	id, _ := p.handshake(call{})
	p.wants(code("(defun f (x) (* 2 x))").within(id), "=> F")
	p.wants(code("(defun g () 'g)").at("/s/n/mcp"), "=> G")
	pids := []int{p.pid(code("").within(id)), p.pid(code("").at("/s/n/mcp"))}
	for _, pid := range pids {
		await.True(t, "the image is put away", func() bool { return !alive(pid) })
	}
	p.says(code("(f 21)").within(id), "it was put away while nobody used it", "Restored: 1 definition", "=> 42")
	p.says(code("(g)").at("/s/n/mcp"), "Restored: 1 definition", "=> G")

	g := await.NewGate(t)
	p.says(tool("evaluate-lisp", map[string]any{"code": fmt.Sprintf("(progn %s 'done)", g.Wait()), "background": true}).at("/s/n/mcp"), "job-1")
	pid := g.Reached()
	time.Sleep(700 * time.Millisecond)
	if !alive(pid) {
		t.Error("an image with a job was put away")
	}
	g.Open()
	await.True(t, "it is put away when the job has ended", func() bool { return !alive(pid) })
	counts, _ := p.s.hub.Counts()
	if counts.Hibernated < 3 || counts.Woken < 4 {
		t.Errorf("%+v", counts)
	}
}

// A named session that is put away and has no client is left to the disk, whence it comes
// back; one that is ended is not made anew before it has.
func TestLeftToTheDisk(t *testing.T) {
	t.Parallel()
	p := start(t, t.TempDir(), func(o *Options) { o.Hub.Hibernate, o.Hub.Forget = 100*time.Millisecond, 300*time.Millisecond })
	p.wants(code("(defun f (x) (* 2 x))").at("/s/n/mcp"), "=> F")
	await.True(t, "the session is left to the disk", func() bool { return len(p.s.hub.List()) == 0 })
	p.says(code("(f 21)").at("/s/n/mcp"), "This session was brought back", "=> 42")
	for i := range 5 {
		// Each may be told that the image was put away: a tenth of a second is soon over.
		p.says(tool("reset-session", map[string]any{}).at("/s/n/mcp"), "Session reset. All definitions cleared.\nCurrent package: CL-USER")
		p.says(code(fmt.Sprintf("(defun g () %d)", i)).at("/s/n/mcp"), "=> G")
		if r := p.send(call{path: "/sessions/n", method: "DELETE"}); r.status != 204 {
			t.Fatalf("%+v", r)
		}
		p.says(code("(g)").at("/s/n/mcp"), "This session was brought back", fmt.Sprintf("=> %d", i))
	}
}

// A named session is there again with the next server, with what it had defined.
func TestNextServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir, func(*Options) {})
	p.wants(code("(defun f (x) (* 2 x)) (defvar *v* 1)").at("/s/n/mcp"), "=> *V*")
	p.end()
	p = start(t, dir, func(*Options) {})
	p.says(code("(f 21)").at("/s/n/mcp"), "This session was brought back as it was kept", "2 definitions", "=> 42")
	p.wants(code("*v*").at("/s/n/mcp"), "=> 1")
	p.wants(code("(fboundp 'f)").at("/s/n/mcp").by("bert"), "=> NIL")
	if text := p.send(tool("session-status", map[string]any{}).at("/s/n/mcp")).text(); strings.Contains(text, "load-session") {
		t.Errorf("what is back is offered: %s", text)
	}
	p.end()
	p = start(t, dir, func(*Options) {})
	p.says(tool("list-definitions", map[string]any{}).at("/s/n/mcp"), "- F (X)", "- *V* = 1")
}
