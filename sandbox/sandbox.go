package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"swank-mcp/swank/lisp/launch"
)

// Mode says whether images are confined.
type Mode string

// Off confines nothing. On does what the system can and says what is missing. Strict
// starts no image if something is missing.
const (
	Off    Mode = "off"
	On     Mode = "on"
	Strict Mode = "strict"
)

// Command is the command line argument by which a program that uses this package calls
// [Confine].
const Command = "confine-image"

// Options say what images may do.
type Options struct {
	Mode     Mode
	Ports    []int    // TCP ports to which they may connect, on any machine; none: no network at all
	Reads    []string // files and directories that they may read beside what they must, absolute
	Secret   []string // files and directories, absolute, that nothing of Reads and Writes may hold
	HeapMB   int      // of the images, for what is said of them
	FileMB   int      // of each file that one writes; 0: its heap and 1024
	MemoryMB int      // that all processes of one may have together; 0: as much as one process, its heap and 4096

	Writes func() []string // directories in which they may do anything, absolute: the project's and so on; asked at each start
}

// Sandbox confines images. Its methods may be called from any goroutine.
type Sandbox struct {
	options Options
	able    able
	missing []string
}

// New finds out what the system can do. The error says what is missing for [Strict].
func New(o Options) (*Sandbox, error) {
	s := &Sandbox{options: o, able: whatIsAble()}
	s.missing = s.able.missing(o)
	if o.Mode == Strict && len(s.missing) > 0 {
		return nil, &MissingError{s.missing}
	}
	return s, nil
}

// MissingError says that a system cannot do what [Strict] asks for.
type MissingError struct{ Missing []string } // sentences without a full stop

func (e *MissingError) Error() string {
	return "--sandbox strict: this system cannot do all of it: " + strings.Join(e.Missing, "; ") +
		". --sandbox on does the rest, and says so."
}

// Missing returns what the system cannot do, sentences without a full stop.
func (s *Sandbox) Missing() []string { return s.missing }

// By returns what confines the images: "Landlock 7, seccomp, …".
func (s *Sandbox) By() string { return s.able.by() }

// memoryMB is what all processes of an image with that heap may have together.
func (o Options) memoryMB(heapMB int) uint64 {
	if o.MemoryMB > 0 {
		return uint64(o.MemoryMB)
	}
	return uint64(heapMB) + beside/mib
}

// Limits says which memory images may have, "" where that is not known.
func (s *Sandbox) Limits() string { return s.able.memory(s.options.memoryMB(s.options.HeapMB)) }

// Says is one line about the sandbox: what confines, what network there is, what is missing.
func (s *Sandbox) Says() string {
	text := string(s.options.Mode) + ", by " + s.able.by()
	if s.able.by() == "" {
		text = string(s.options.Mode) + ", by nothing"
	}
	if limits := s.Limits(); limits != "" {
		text += "; " + limits
	}
	if len(s.options.Ports) == 0 {
		text += "; no network"
	} else {
		text += "; TCP to " + strings.Trim(fmt.Sprint(s.options.Ports), "[]")
	}
	if len(s.missing) > 0 {
		text += "; missing: " + strings.Join(s.missing, "; ")
	}
	return text
}

// Launch returns what package launch starts images with, nil for [Off].
func (s *Sandbox) Launch() *launch.Sandbox {
	if s.options.Mode == Off {
		return nil
	}
	return &launch.Sandbox{Says: s.Says(), Writes: s.mayWrite, Wrap: s.wrap}
}

// mayWrite is [launch.Sandbox.Writes].
func (s *Sandbox) mayWrite(path string) bool {
	return s.options.Writes != nil && inAny(path, s.options.Writes())
}

// wrap is [launch.Sandbox.Wrap].
func (s *Sandbox) wrap(cmd *exec.Cmd, c launch.Confined) (*launch.Wrapped, error) {
	p, err := s.policy(c)
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{p.Cache, p.Temp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	cmd.Env = environment(os.Environ(), p)
	w, err := s.able.apply(cmd, p)
	if w != nil && !within(p.Cache, p.Own) {
		w.Disk = []string{p.Cache}
	}
	return w, err
}

// cacheOf is where an image that may write dirs has what it compiles: other Lisps never load
// from there, so nothing that is planted in it runs outside of the sandbox.
func cacheOf(c launch.Confined, dirs []string) string {
	if c.Cache == "" {
		return filepath.Join(c.Own, "cache")
	}
	return filepath.Join(c.Cache, "sandbox", hash(dirs))
}
