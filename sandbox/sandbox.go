package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

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
	Apart    []Apart  // what nothing of Writes may hold or lie in, and nothing of Reads unless it is Readable
	Session  string   // the directory of a session, which the server has made, "" for none: writable as Writes, wherever it lies
	HeapMB   int      // of the images, for what is said of them
	FileMB   int      // of each file that one writes; 0: its heap and 1024
	MemoryMB int      // that all processes of one may have together; 0: as much as one process, its heap and 4096

	Tell   func(missing string) // is told once of each thing that the system cannot do, before an image starts; may be nil
	Writes func() []string      // directories in which they may do anything, absolute: the project's and so on; asked at each start
}

// Apart names files or directories that the server believes: no code of a session may write
// there, or serve at a socket there.
type Apart struct {
	What   string // as "the sockets of servers"
	Path   string // absolute
	Prefix bool   // of all names that begin with Path

	Readable bool // images may read it
}

// Sandbox confines images. Its methods may be called from any goroutine.
type Sandbox struct {
	options Options
	told    sync.Once                // what is missing
	reads   atomic.Pointer[[]string] // of the last image, without links, too
}

// New returns one that has not asked the system for anything yet.
func New(o Options) *Sandbox { return &Sandbox{options: o} }

// Ask finds out what the system can do: once for all sandboxes, when it first has answered.
// Before, each call asks, and waits until ctx ends. The error is an *[UnansweredError], or a
// *[MissingError] for [Strict].
func (s *Sandbox) Ask(ctx context.Context) (*Answer, error) {
	able, err := whatIsAble(ctx)
	if err != nil {
		return nil, &UnansweredError{err}
	}
	a := &Answer{options: s.options, able: able, missing: able.missing(s.options)}
	s.told.Do(func() {
		for _, missing := range a.missing {
			if s.options.Tell != nil {
				s.options.Tell(missing)
			}
		}
	})
	if s.options.Mode == Strict && len(a.missing) > 0 {
		return nil, &MissingError{a.missing}
	}
	return a, nil
}

// UnansweredError says that it is not known what a system can do: nothing is confined less for
// that, and to ask again may help.
type UnansweredError struct{ Err error }

func (e *UnansweredError) Error() string {
	return "the system has not answered yet what a sandbox can do here (" + e.Err.Error() +
		"); no image starts before it has, and the next call asks again"
}

func (e *UnansweredError) Unwrap() error { return e.Err }

// MissingError says that a system cannot do what [Strict] asks for.
type MissingError struct{ Missing []string } // sentences without a full stop

func (e *MissingError) Error() string {
	return "--sandbox strict: this system cannot do all of it: " + strings.Join(e.Missing, "; ") +
		". --sandbox on does the rest, and says so."
}

// Answer is what a system can do for a sandbox.
type Answer struct {
	options Options
	able    able
	missing []string
}

// Missing returns what the system cannot do, sentences without a full stop.
func (a *Answer) Missing() []string { return a.missing }

// By returns what confines the images: "Landlock 7, seccomp, …".
func (a *Answer) By() string { return a.able.by() }

// memoryMB is what all processes of an image with that heap may have together.
func (o Options) memoryMB(heapMB int) uint64 {
	if o.MemoryMB > 0 {
		return uint64(o.MemoryMB)
	}
	return uint64(heapMB) + beside/mib
}

// Limits says which memory images may have, "" where that is not known.
func (a *Answer) Limits() string { return a.able.memory(a.options.memoryMB(a.options.HeapMB)) }

// says is [launch.Sandbox.Says].
func (s *Sandbox) says(ctx context.Context) string {
	a, err := s.Ask(ctx)
	if err != nil {
		return string(s.options.Mode) + "; " + err.Error()
	}
	text := string(s.options.Mode) + ", by " + cmp.Or(a.By(), "nothing")
	if limits := a.Limits(); limits != "" {
		text += "; " + limits
	}
	if len(s.options.Ports) == 0 {
		text += "; no network"
	} else {
		text += "; TCP to " + strings.Trim(fmt.Sprint(s.options.Ports), "[]")
	}
	if len(a.missing) > 0 {
		text += "; missing: " + strings.Join(a.missing, "; ")
	}
	return text
}

// Launch returns what package launch starts images with, nil for [Off].
func (s *Sandbox) Launch() *launch.Sandbox {
	if s.options.Mode == Off {
		return nil
	}
	return &launch.Sandbox{Says: s.says, Writes: s.mayWrite, Wrap: s.wrap}
}

// mayWrite is [launch.Sandbox.Writes].
func (s *Sandbox) mayWrite(path string) bool {
	return inAny(path, s.writes())
}

// writes returns the directories of Options in which the images may write.
func (s *Sandbox) writes() (dirs []string) {
	if s.options.Writes != nil {
		dirs = slices.Clone(s.options.Writes())
	}
	if s.options.Session != "" {
		dirs = append(dirs, s.options.Session)
	}
	return dirs
}

// wrap is [launch.Sandbox.Wrap].
func (s *Sandbox) wrap(ctx context.Context, cmd *exec.Cmd, c launch.Confined) (*launch.Wrapped, error) {
	a, err := s.Ask(ctx)
	if err != nil {
		return nil, err
	}
	p, err := s.policy(c, a.able)
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{p.Cache, p.Temp} {
		if dir == p.Cache && c.Cache != "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	unused := func() {}
	if c.Cache != "" {
		if unused, err = useCache(p.Cache); err != nil {
			return nil, err
		}
	}
	cmd.Env = environment(os.Environ(), p)
	w, err := a.able.apply(cmd, p)
	if err != nil {
		unused()
		return nil, err
	}
	if w == nil {
		w = new(launch.Wrapped)
	}
	if !within(p.Cache, p.Own) {
		w.Disk = []string{p.Cache}
	}
	end := w.End
	w.End = func() {
		if end != nil {
			end()
		}
		unused()
	}
	return w, nil
}

// cacheOf is where an image that may write dirs has what it compiles: other Lisps never load
// from there, so nothing that is planted in it runs outside of the sandbox.
func cacheOf(c launch.Confined, dirs []string) string {
	if c.Cache == "" {
		return filepath.Join(c.Own, "cache")
	}
	return filepath.Join(c.Cache, "sandbox", hash(dirs))
}
