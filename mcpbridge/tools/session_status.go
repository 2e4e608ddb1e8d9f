package tools

import (
	"cmp"
	"context"
	"fmt"
	"sort"
	"strings"

	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

var statusTool = Tool{
	Name:  "session-status",
	Title: "Session status",
	Set:   Core,
	Shown: true,
	Doc: "Show the state of the Lisp image and of the session, at once, also while an evaluation runs. " +
		"The image, the project, the current package, the running evaluation and where it is, jobs, calls that wait, " +
		"threads, heap, and output that arrived outside of calls. " +
		"Starts no image. Use it when a call timed out, the session is busy, or state seems lost.",
	Example: `{}`,
	Effect:  looks,
	run:     status,
}

func status(ctx context.Context, r *Request) (Reply, error) {
	s, err := r.Session.Status(ctx)
	if err != nil {
		return Reply{}, err
	}
	s.Notes = append(s.Notes, r.keptNotes(s.Resumes)...)
	return Reply{Text: StatusText(s)}, nil
}

// StatusText is the text of session-status: one line per subject, only those
// that have something to say.
func StatusText(s *lisp.Status) string {
	var p render.Parts
	line := func(format string, args ...any) {
		if p.Len() > 0 {
			p.WriteByte('\n')
		}
		p.WriteString(render.Safe(fmt.Sprintf(format, args...)))
	}
	line("Image: %s", imageLine(s))
	if s.Uptime > 0 || s.Restarts > 0 {
		line("Up: %s, %s", render.Age(s.Uptime), render.Plural(s.Restarts, "restart"))
	}
	if s.Sandbox != "" {
		line("Sandbox: %s", s.Sandbox)
	}
	if text := ProjectText(s.Project, 20); text != "" {
		line("Project: %s", text)
	}
	if s.Package != "" {
		line("Package: %s", s.Package)
	}
	if r := s.Running; r != nil {
		line("Running for %s: %s", render.Age(r.Age), render.OneLine(r.Code))
		p.Frames(r.Frames, "\n  ")
		if r.Waits != "" {
			line("  It %s", render.OneLine(r.Waits))
		}
	}
	for _, e := range s.Suspended {
		line("Suspended for %s: evaluation %d at %s: %s", render.Age(e.Age), e.Number, e.Failure, render.OneLine(e.Code))
	}
	for _, j := range s.Jobs {
		if j.Result == nil || !j.Read {
			line("Job: %s", jobLine(&j))
		}
	}
	if s.Paused {
		line("Paused: calls that evaluate wait, %s", lisp.PausedText)
	}
	if s.Waiting > 0 {
		line("Queue: %s", render.Waiting(s.Waiting))
	}
	lines := CheckpointLines(s.Checkpoints)
	for _, text := range lines[:min(len(lines), shownCheckpoints)] {
		line("Checkpoint: %s", text)
	}
	if more := len(lines) - shownCheckpoints; more > 0 {
		line("Checkpoints: %d more, which checkpoint {} lists", more)
	}
	if s.Obstacle != nil {
		line("No checkpoint is taken: %v", s.Obstacle)
	}
	if d := definitions(s.Definitions); d != "" {
		line("Definitions: %s", d)
	}
	if len(s.Systems) > 0 {
		line("Loaded systems: %s", strings.Join(s.Systems, ", "))
	}
	if len(s.Lost) > 0 {
		line("Without source, so lost if the image dies: %s", strings.Join(s.Lost, ", "))
	}
	if s.HeapLimit > 0 {
		line("Heap: %s of %s MB (%d%%)", render.Count(s.HeapUsed>>20), render.Count(s.HeapLimit>>20), 100*s.HeapUsed/s.HeapLimit)
	}
	if len(s.Threads) > 0 {
		line("Threads: %s", threads(s.Threads))
	}
	for _, n := range s.Notes {
		line("; %s", render.OneLine(n))
	}
	p.Section("background output", s.Background)
	return p.String()
}

// shownCheckpoints is how many checkpoints have a line in session-status.
const shownCheckpoints = 4

func imageLine(s *lisp.Status) string {
	words := []string{s.State}
	switch s.State {
	case "not started":
		words = append(words, "the first evaluate-lisp starts it")
	case "ended":
		words = append(words, "the next evaluate-lisp starts a new one")
	}
	if s.PID > 0 {
		how := "attached"
		if s.Launched {
			how = "launched"
		}
		words = append(words, how, fmt.Sprintf("pid %d", s.PID))
	}
	if s.Implementation != "" {
		words = append(words, s.Implementation)
	}
	if s.SwankVersion != "" {
		words = append(words, "Swank "+s.SwankVersion)
	}
	if s.FromCore {
		words = append(words, "from the cached core")
	}
	if s.Address != "" {
		words = append(words, s.Address)
	}
	return strings.Join(words, ", ")
}

// definitions is "3 functions, 1 variable", by name of the kind, "none" when
// they are known to be none and "" when nothing is known.
func definitions(counts map[string]int) string {
	if counts == nil {
		return ""
	}
	kinds := make([]string, 0, len(counts))
	for k, n := range counts {
		if n > 0 {
			kinds = append(kinds, k)
		}
	}
	sort.Strings(kinds)
	for i, k := range kinds {
		name := strings.ReplaceAll(k, "-", " ")
		kinds[i] = render.Plural(counts[k], strings.TrimSuffix(name, "s"))
		if strings.HasSuffix(name, "sses") { // classes
			kinds[i] = render.Count(counts[k]) + " " + name
			if counts[k] == 1 {
				kinds[i] = "1 " + strings.TrimSuffix(name, "es")
			}
		}
	}
	return cmp.Or(strings.Join(kinds, ", "), "none")
}

func threads(ts []lisp.Thread) string {
	names := make([]string, len(ts))
	for i, t := range ts {
		names[i] = render.OneLine(t.Name)
		if t.Status != "" {
			names[i] += " (" + render.OneLine(t.Status) + ")"
		}
	}
	return fmt.Sprintf("%d: %s", len(ts), strings.Join(names, ", "))
}
