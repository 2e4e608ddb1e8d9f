package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"swank-mcp/swank/lisp/host"
)

// Sandbox confines the images that are started. What builds a core that has only Swank
// and the helper is not confined: no code of a session's runs there, and what it writes
// other servers use.
type Sandbox struct {
	// Says returns what session-status tells of it, one line. It waits for the system
	// until ctx ends.
	Says func(ctx context.Context) string

	// Writes reports whether code of a session may write what is at path. What is run
	// outside of the sandbox must not lie there. Nil: it writes nothing.
	Writes func(path string) bool

	// Wrap changes the command that is about to start an image so that the image is
	// confined. Path, Args, Dir and SysProcAttr are set; the process that is started must
	// become the image by exec, as the leader of its group, with the same descriptors 1
	// to 5. It waits for the system until ctx ends.
	Wrap func(ctx context.Context, cmd *exec.Cmd, c Confined) (*Wrapped, error)
}

// Wrapped is one command that was wrapped. Its functions may be nil.
type Wrapped struct {
	Started func(pid int) // the process was started
	End     func()        // the image, its copies and all that came of these have ended, or no process could be started

	CPU   func() (used time.Duration, ok bool) // how long all that came of the command had the processor, if that is counted
	Files func(pids []int, nothing bool) error // has processes that came of it make no file longer, or as long as before
	Disk  []string                             // directories beside its own in which it writes and no other image does
}

func (w *Wrapped) started(pid int) {
	if w != nil && w.Started != nil {
		w.Started(pid)
	}
}

func (w *Wrapped) end() {
	if w != nil && w.End != nil {
		w.End()
	}
}

// Confined is what an image needs in a sandbox.
type Confined struct {
	Own    string   // its own directory, where it serves and copies of it call; it may do anything there
	Cache  string   // our cache, which it reads; "" if there is none
	Reads  []string // files and directories that it is made of
	HeapMB int      // its dynamic space
}

// errRefused is the error of an image that cannot be confined; its text says why.
var errRefused = errors.New("no image is started in the sandbox")

// keepOutside returns an error if what runs outside of the sandbox, to make the core that images
// start from, lies where code of a session may write: that could leave the sandbox by it.
func (s *Sandbox) keepOutside(what, path, flag string) error {
	if s == nil || s.Writes == nil || path == "" || !s.Writes(path) {
		return nil
	}
	return &host.StartError{
		Problem: fmt.Sprintf("%v: %s, %s, lies in the project, where code of the session may change it, and is run outside of the sandbox, too", errRefused, what, path),
		Advice:  "Name another one with " + flag + ", or a smaller directory with --project.",
		Told:    errRefused,
	}
}

// errLongSocket is why an image cannot be confined.
var errLongSocket = fmt.Errorf("%w: an image serves on a Unix socket there, and the path of one would be too long or not of ASCII here: set TMPDIR to a directory with a short name, such as /tmp", errRefused)

// confine has cmd start an image in the sandbox of f, if it has one; else it returns nil.
func (f *imageFiles) confine(ctx context.Context, cmd *exec.Cmd, plan launchPlan, runDir string) (*Wrapped, error) {
	if f.sandbox == nil || plan.trusted {
		return nil, nil
	}
	c := Confined{Own: runDir, HeapMB: f.heapMB, Reads: []string{f.sbcl, f.swank}}
	if f.cacheProblem == "" {
		c.Cache = f.cacheDir
	}
	if core := sbclCore(f.sbcl); core != "" {
		c.Reads = append(c.Reads, core, filepath.Join(filepath.Dir(core), "contrib"))
	}
	if plan.core != "" {
		c.Reads = append(c.Reads, plan.core)
	}
	wrapped, err := f.sandbox.Wrap(ctx, cmd, c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	return wrapped, nil
}

// planConfined has the core built that images in a sandbox start from: nothing that they
// compile others may load. Without one, all is compiled in the image's own directory.
func (f *imageFiles) planConfined(ctx context.Context, plan launchPlan) (launchPlan, error) {
	if f.noCore || plan.scratch {
		plan.scratch = true
		return plan, nil
	}
	err := f.buildCore(ctx, nil, func(work string) error {
		return errors.Join(os.MkdirAll(f.imageDir(), 0o700), os.Rename(filepath.Join(work, coreName), f.corePath()))
	})
	if err != nil {
		plan.scratch = true
		return plan, err
	}
	plan.core, plan.sealed = f.corePath(), true
	return plan, nil
}

// Check refuses a connection to an image in a sandbox that leads to another process: code of
// a session's can put something else in the place of the image's socket.
func (p *Process) Check(conn net.Conn) error {
	unix, ok := conn.(*net.UnixConn)
	if p.image.sandbox == nil || ok && isPeer(unix, p.pid) {
		return nil
	}
	return errors.New("its socket is another process's")
}
