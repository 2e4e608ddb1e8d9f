package web

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"swank-mcp/people/control"
)

// aboutView is what the templates of it are filled with.
type aboutView struct {
	*control.Status
	Lamp     string // idle, running, suspended, paused, asks or away
	Says     string
	Title    string
	Dirs     []string
	Clients  []string
	Sessions []sessionView
	Heap     string
	HeapPart float64 // of 100
	Uptime   string
	Image    string
	Policies []policyView
}

// names are those of the sessions.
func (v *aboutView) names() (names []string) {
	for _, s := range v.Sessions {
		names = append(names, s.Name)
	}
	return names
}

type sessionView struct {
	Name string
	Work []workView
}

type workView struct {
	State, Text, Code, Age string
}

// view is what is shown of the status. s.mu is held.
func (s *side) view() aboutView {
	st := s.status
	v := aboutView{Status: st, Dirs: dirsOf(st), Image: line(st.Image.State)}
	v.Title, v.Policies = title(v.Dirs), policiesOf(st)
	for _, c := range st.Clients {
		v.Clients = append(v.Clients, line(c))
	}
	running, suspended, oldest := 0, 0, 0.0
	add := func(to *sessionView, state, text string, w control.Work) {
		to.Work = append(to.Work, workView{state, text, line(w.Code), age(w.Seconds)})
		if state == stateRunning {
			running++
			oldest = max(oldest, w.Seconds)
		}
	}
	for _, one := range st.Sessions {
		this := sessionView{Name: line(one.Name)}
		if one.Running != nil {
			add(&this, stateRunning, "runs", *one.Running)
		}
		for _, j := range one.Jobs {
			add(&this, stateRunning, fmt.Sprintf("job-%d runs", j.Number), j)
		}
		for _, e := range one.Suspended {
			suspended++
			this.Work = append(this.Work, workView{stateSuspended, fmt.Sprintf("evaluation %d is suspended at %s", e.Number, line(e.Failure)), line(e.Code), ""})
		}
		if one.Waiting > 0 {
			this.Work = append(this.Work, workView{"waiting", fmt.Sprintf("%d waiting", one.Waiting), "", ""})
		}
		v.Sessions = append(v.Sessions, this)
	}
	if st.Image.Implementation != "" {
		v.Image = line(st.Image.Implementation)
		v.Uptime = age(st.Image.Uptime)
	}
	if st.Image.HeapLimit > 0 {
		v.Heap = fmt.Sprintf("%d of %d MB", st.Image.HeapUsed>>20, st.Image.HeapLimit>>20)
		v.HeapPart = 100 * float64(st.Image.HeapUsed) / float64(st.Image.HeapLimit)
	}
	switch {
	case s.away:
		v.Lamp, v.Says = "away", "The server has ended; waiting for the next"
	case len(st.Questions) > 0:
		v.Lamp, v.Says = "asks", "An agent waits for your answer"
	case running > 0:
		v.Lamp, v.Says = stateRunning, "Evaluating, "+age(oldest)
	case st.Paused:
		v.Lamp, v.Says = "paused", "Paused: calls wait"
	case suspended > 0:
		v.Lamp, v.Says = stateSuspended, "Suspended at an error"
	default:
		v.Lamp, v.Says = "idle", "Idle"
	}
	return v
}

func dirsOf(st *control.Status) (dirs []string) {
	for _, dir := range st.Project {
		dirs = append(dirs, line(dir))
	}
	if len(dirs) == 0 {
		dirs = []string{line(st.Directory)}
	}
	return dirs
}

func title(dirs []string) string {
	var names []string
	for _, dir := range dirs {
		names = append(names, filepath.Base(dir))
	}
	return strings.Join(names, ", ")
}

func age(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < time.Minute {
		return fmt.Sprintf("%d s", int(seconds))
	}
	return strings.TrimSuffix(d.Round(time.Second).String(), "0s")
}
