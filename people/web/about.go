package web

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"swank-mcp/people/control"
)

// about is what is known of the server at this moment.
type about struct {
	wanted chan struct{} // holds one value when the status is to be asked for soon

	mu       sync.Mutex
	status   *control.Status
	away     bool // the server has ended
	watchers int
	changed  chan struct{} // closed when there is something new
	html     string        // of the last change
	lamp     string
}

func newAbout() *about {
	return &about{wanted: make(chan struct{}, 1), changed: make(chan struct{})}
}

func (a *about) set(st *control.Status) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status, a.away = st, false
	a.wake()
}

func (a *about) gone() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.away = true
	a.wake()
}

func (a *about) wake() {
	v := a.view()
	lamp, html := fill("lamp", v), fill("about", v)
	if lamp == a.lamp && html == a.html {
		return
	}
	a.lamp, a.html = lamp, html
	close(a.changed)
	a.changed = make(chan struct{})
}

// stale has the status be asked for soon.
func (a *about) stale() {
	select {
	case a.wanted <- struct{}{}:
	default:
	}
}

func (a *about) watch() (end func()) {
	a.mu.Lock()
	a.watchers++
	a.mu.Unlock()
	a.stale()
	return func() {
		a.mu.Lock()
		a.watchers--
		a.mu.Unlock()
	}
}

func (a *about) watched() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.watchers > 0 && !a.away
}

// now is the HTML of it, and what is closed when that changes.
func (a *about) now() (lamp, html string, changed <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lamp, a.html, a.changed
}

// aboutView is what the templates of it are filled with.
type aboutView struct {
	*control.Status
	Away     bool
	Lamp     string // idle, running, suspended, paused, waiting or away
	Says     string
	Title    string
	Dirs     []string
	Clients  []string
	Sessions []sessionView
	Heap     string
	HeapPart float64 // of 100
	Uptime   string
	Image    string
}

type sessionView struct {
	Name string
	Work []workView
}

type workView struct {
	State, Text, Code, Age string
}

// view is what is shown. a.mu is held.
func (a *about) view() aboutView {
	st := a.status
	v := aboutView{Status: st, Away: a.away, Dirs: dirsOf(st), Image: line(st.Image.State)}
	v.Title = title(v.Dirs)
	for _, c := range st.Clients {
		v.Clients = append(v.Clients, line(c))
	}
	running, suspended, oldest := 0, 0, 0.0
	add := func(s *sessionView, state, text string, w control.Work) {
		s.Work = append(s.Work, workView{state, text, line(w.Code), age(w.Seconds)})
		if state == stateRunning {
			running++
			oldest = max(oldest, w.Seconds)
		}
	}
	for _, one := range st.Sessions {
		s := sessionView{Name: line(one.Name)}
		if one.Running != nil {
			add(&s, stateRunning, "runs", *one.Running)
		}
		for _, j := range one.Jobs {
			add(&s, stateRunning, fmt.Sprintf("job-%d runs", j.Number), j)
		}
		for _, e := range one.Suspended {
			suspended++
			s.Work = append(s.Work, workView{stateSuspended, fmt.Sprintf("evaluation %d is suspended at %s", e.Number, line(e.Failure)), line(e.Code), ""})
		}
		if one.Waiting > 0 {
			s.Work = append(s.Work, workView{"waiting", fmt.Sprintf("%d waiting", one.Waiting), "", ""})
		}
		v.Sessions = append(v.Sessions, s)
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
	case a.away:
		v.Lamp, v.Says = "away", "The server has ended; waiting for the next"
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

func (a *about) title() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return title(dirsOf(a.status))
}
