package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"swank-mcp/mcpbridge"
	"swank-mcp/people/control"
	"swank-mcp/people/transcript"
	"swank-mcp/swank/lisp"
)

// showToPeople notes what happens in the image, and serves it and the server to their user
// on a socket, until the function returned is called. It returns another function, which
// takes the name of the socket away. With onDemand only what happens while somebody watches
// is noted. What cannot be done is logged: agents do without.
func (c *command) showToPeople(ctx context.Context, im *lisp.Image, b *mcpbridge.Bridge, onDemand bool, log *slog.Logger) (hide, end func()) {
	project := func() []string { return im.Project(ctx).Dirs }
	o := transcript.Options{OnDemand: onDemand, Head: transcript.Entry{PID: os.Getpid(), Version: version()}}
	o.Head.Project, _ = c.projectDir()
	if state := stateDir(); state != "" && !onDemand && !c.noJournal {
		o.Dir = filepath.Join(state, "transcripts")
	}
	o.Problem = func(problem error) {
		if problem != nil {
			log.Info("writing the transcript", "err", problem)
		}
	}
	t := transcript.New(o)
	t.Follow(im)
	s, err := control.Serve(control.Options{Image: im, Transcript: t, Dirs: control.Dirs(stateDir()), Version: version(), Project: project, Clients: b.Clients, Log: log})
	if err != nil {
		log.Warn("making a socket for ps and watch", "err", err)
	}
	hide = func() {
		if s != nil {
			s.Hide()
		}
	}
	return hide, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := t.Close(ctx); err != nil {
			log.Warn("closing the transcript", "err", err)
		}
		if s != nil {
			s.Close(ctx)
		}
	}
}

// A running server, and what it is and does, or why that is not known.
type running struct {
	*control.Client
	status *control.Status // nil if there is an error
	err    error
}

// byStart orders servers by when they were started. Behind them stand those that do not tell it, by
// their IDs. Numbers of processes, of which IDs are made, begin again from low ones.
func byStart(a, b *running) int {
	switch {
	case a.status != nil && b.status != nil:
		return cmp.Or(a.status.Started.Compare(b.status.Started), strings.Compare(a.ID, b.ID))
	case a.status != nil:
		return -1
	case b.status != nil:
		return 1
	}
	return strings.Compare(a.ID, b.ID)
}

// running returns the servers of this user that run, by their starts.
func (c *command) running(ctx context.Context) []*running {
	var all []*running
	for _, client := range control.Find(control.Dirs(stateDir())) {
		all = append(all, &running{Client: client})
	}
	var asked sync.WaitGroup
	for _, r := range all {
		asked.Go(func() { r.status, r.err = r.Status(ctx) })
	}
	asked.Wait()
	slices.SortFunc(all, byStart)
	return all
}

// errNoServer says that no server is the one that is meant.
var errNoServer = errors.New("no server")

// server returns the server that the arguments name: by its ID or the name of its project's
// directory. Without arguments it is the only one, or the only one that works for the
// working directory or one above it.
func (c *command) server(ctx context.Context, name string) (*running, error) {
	if len(c.args) > 1 {
		return nil, fmt.Errorf("%w: %s takes one ID, not %s", errUsage, name, strings.Join(c.args, " "))
	}
	all := c.running(ctx)
	if len(all) == 0 {
		return nil, fmt.Errorf("%w of yours runs: an MCP client starts one", errNoServer)
	}
	found := all
	if len(c.args) == 1 {
		id := c.args[0]
		if found = choose(all, func(r *running) bool { return r.ID == id }); len(found) == 0 {
			found = choose(all, func(r *running) bool { return r.worksFor(id) })
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%w has the ID %s; there are:\n%s", errNoServer, id, listed(all))
		}
	} else if dir, err := os.Getwd(); err == nil && len(all) > 1 {
		found = choose(all, func(r *running) bool { return r.isAbove(dir) })
		if len(found) == 0 {
			found = all
		}
	}
	if len(found) > 1 {
		return nil, fmt.Errorf("%d servers run; name one, as in: swank-mcp %s %s\n%s", len(found), name, found[0].ID, listed(found))
	}
	return found[0], found[0].err
}

func choose(all []*running, good func(*running) bool) (found []*running) {
	for _, r := range all {
		if good(r) {
			found = append(found, r)
		}
	}
	return found
}

// dirs are the directories that the server works for.
func (r *running) dirs() []string {
	if r.status == nil {
		return nil
	}
	if len(r.status.Project) > 0 {
		return r.status.Project
	}
	return []string{r.status.Directory}
}

// worksFor reports whether a directory that the server works for has that name or path.
func (r *running) worksFor(name string) bool {
	return slices.ContainsFunc(r.dirs(), func(dir string) bool { return filepath.Base(dir) == name || dir == filepath.Clean(name) })
}

// isAbove reports whether the server works for dir or a directory above it.
func (r *running) isAbove(dir string) bool {
	return slices.ContainsFunc(r.dirs(), func(above string) bool {
		rel, err := filepath.Rel(above, dir)
		return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
	})
}

func listed(all []*running) string {
	var lines []string
	for _, r := range all {
		lines = append(lines, "  "+r.ID+"  "+shortDirs(r.dirs()))
	}
	return strings.Join(lines, "\n")
}
