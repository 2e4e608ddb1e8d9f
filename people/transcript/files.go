package transcript

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Bounds of the files.
const (
	maxFile   = 4 << 20   // bytes of one; with its predecessor, each session has twice that
	maxOpen   = 16        // sessions of a server that have a file; of others, entries are in memory
	maxFiles  = 100       // in the directory, of all servers
	maxFolder = 256 << 20 // bytes of them
)

// retry is how long the disk is left alone after it has taken nothing.
const retry = 2 * time.Second

// store has the files of one server. One goroutine writes them.
type store struct {
	o     Options
	begun time.Time

	open  map[string]*file // by session; the writer's
	early [][]byte         // lines of no session before the first file; the writer's

	mu      sync.Mutex
	paths   []string
	problem error
}

func newStore(o Options) *store {
	return &store{o: o, begun: time.Now(), open: map[string]*file{}}
}

func (f *store) kept() ([]string, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.problem == nil {
		return f.paths, ""
	}
	return f.paths, f.problem.Error()
}

// write writes what r reads, until its end.
func (f *store) write(r *Reader) {
	for {
		lines, missed, err := r.Next(context.Background())
		if missed > 0 {
			for _, one := range f.open {
				one.lost(missed, "the disk was too slow")
			}
		}
		batches := map[*file][][]byte{}
		for _, l := range lines {
			for _, to := range f.of(l) {
				if !to.begun {
					to.begun, batches[to] = true, slices.Clone(f.early)
				}
				batches[to] = append(batches[to], l.Text)
			}
		}
		for to, batch := range batches {
			f.note(to.write(batch, false))
		}
		if err != nil {
			break
		}
	}
	for _, one := range f.open {
		f.note(one.close())
	}
}

// of returns the files that l goes to: those of all sessions if it is of none. What work
// has printed so far is in the entry of its end, too.
func (f *store) of(l Line) (to []*file) {
	if l.Kind == "output" {
		return nil
	}
	if l.Session != "" {
		one := f.open[l.Session]
		if one == nil && len(f.open) < maxOpen {
			one = f.begin(l.Session)
		}
		if one != nil {
			to = append(to, one)
		}
		return to
	}
	if len(f.open) == 0 && len(f.early) < maxEarly {
		f.early = append(f.early, l.Text)
	}
	for _, one := range f.open {
		to = append(to, one)
	}
	return to
}

// maxEarly is how many lines of no session a file may begin with.
const maxEarly = 20

// begin makes the file of a session known. The first write makes it.
func (f *store) begin(session string) *file {
	if len(f.open) == 0 {
		prune(f.o.Dir)
	}
	head := f.o.Head
	head.Time, head.Kind, head.Session = f.begun.UTC(), KindServer, session
	name := fmt.Sprintf("%s-%d-%s.jsonl", f.begun.UTC().Format("20060102-150405"), head.PID, session)
	one := &file{path: filepath.Join(f.o.Dir, name), head: append(head.JSON(), '\n')}
	f.open[session] = one
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paths = append(f.paths, one.path)
	return one
}

// note remembers why the disk takes nothing, or nil.
func (f *store) note(err error) {
	f.mu.Lock()
	changed := (err == nil) != (f.problem == nil)
	f.problem = err
	f.mu.Unlock()
	if changed && f.o.Problem != nil {
		f.o.Problem(err)
	}
}

// prune removes the oldest files beyond the bounds, but not those of servers that live.
func prune(dir string) {
	entries, _ := os.ReadDir(dir) // sorted by name, which begins with the time
	count, bytes := 0, int64(0)
	for i := len(entries) - 1; i >= 0; i-- {
		info, err := entries[i].Info()
		if err != nil || !info.Mode().IsRegular() || filepath.Ext(info.Name()) != ".jsonl" {
			continue
		}
		count++
		bytes += info.Size()
		if count < maxFiles && bytes <= maxFolder {
			continue
		}
		path := filepath.Join(dir, info.Name())
		if f, err := os.OpenFile(path, os.O_RDWR, 0); err == nil {
			if lock(f) == nil {
				os.Remove(path)
			}
			f.Close()
		}
	}
}
