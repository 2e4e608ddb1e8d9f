package web

import (
	"maps"
	"slices"
	"sync"
	"time"

	"swank-mcp/people/control"
	"swank-mcp/people/transcript"
)

// samples is how many are shown in a plot.
const samples = 120

// side is what is known of the server beside its transcript. The page has it in parts.
type side struct {
	wanted chan struct{} // holds one value when the status is to be asked for soon

	mu       sync.Mutex
	status   *control.Status
	contents map[string]*control.Contents // by session
	away     bool                         // the server has ended
	worked   map[string]bool              // sessions that have worked since their contents were asked for
	anew     bool                         // contents of all are to be asked for
	asked    time.Time
	heap     []float64 // MB, a second apart while somebody looks
	sampled  time.Time
	took     []float64 // ms of evaluations, in their order
	watchers int
	changed  chan struct{}     // closed when there is something new
	parts    map[string]string // HTML, by the id of its place
}

func newSide(st *control.Status) *side {
	s := &side{wanted: make(chan struct{}, 1), changed: make(chan struct{}), status: st, contents: map[string]*control.Contents{}, worked: map[string]bool{}, parts: map[string]string{}}
	s.wake()
	return s
}

// set takes in what the server has said of itself.
func (s *side) set(st *control.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away || st.PID != s.status.PID {
		s.heap = nil
		clear(s.contents)
	}
	if st.Image.PID != s.status.Image.PID { // also after a restore
		s.anew = true
	}
	s.status, s.away = st, false
	if now := time.Now(); st.Image.HeapUsed > 0 && now.Sub(s.sampled) > often/2 {
		s.heap, s.sampled = newest(append(s.heap, float64(st.Image.HeapUsed)/(1<<20))), now
	}
	s.wake()
}

// made takes in what a session has made.
func (s *side) made(c *control.Contents) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.contents[c.Session] = c
	s.wake()
}

// older returns the sessions whose contents are to be asked for: at most once a second, those
// that have worked since; all if checkpoints have come or gone, or the image has changed.
func (s *side) older(st *control.Status) (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.asked) < often/2 {
		return nil
	}
	there := map[string]bool{}
	for _, one := range st.Sessions[:min(len(st.Sessions), mostSessions)] {
		there[one.Name] = true
		c := s.contents[one.Name]
		if s.anew || s.worked[one.Name] || c == nil || len(c.Checkpoints) != st.Image.Checkpoints {
			names = append(names, one.Name)
		}
	}
	maps.DeleteFunc(s.contents, func(name string, _ *control.Contents) bool { return !there[name] })
	if len(names) > 0 {
		s.asked, s.anew = time.Now(), false
		clear(s.worked)
	}
	return names
}

// mostSessions is of how many sessions the contents are shown.
const mostSessions = 20

// list is the contents, by the names of their sessions. s.mu is held.
func (s *side) list() (all []*control.Contents) {
	for _, name := range slices.Sorted(maps.Keys(s.contents)) {
		all = append(all, s.contents[name])
	}
	return all
}

// add takes in an entry of the transcript.
func (s *side) add(e *transcript.Entry) {
	if e.Kind == "output" {
		return
	}
	s.mu.Lock()
	s.worked[e.Session] = true
	if e.Kind == "ended" && e.Job != 0 {
		s.took = newest(append(s.took, e.Ms))
	}
	s.mu.Unlock()
	s.stale()
}

func newest(list []float64) []float64 { return list[max(0, len(list)-samples):] }

func (s *side) gone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = true
	s.wake()
}

// wake makes the parts anew. s.mu is held.
func (s *side) wake() {
	v := s.view()
	parts := map[string]string{
		"ask-session": fill("ask", v.names()), "lamp": fill("lamp", v), "about": fill("about", v), "timeline": fill("timeline", timelineOf(s.list())),
		"contents": fill("contents", contentsOf(s.list())), "questions": "", "plots": fill("plots", plotsOf(s.heap, s.took)),
	}
	if !s.away {
		parts["questions"] = fill("questions", questionsOf(s.status))
	}
	if maps.Equal(parts, s.parts) {
		return
	}
	s.parts = parts
	close(s.changed)
	s.changed = make(chan struct{})
}

// stale has the status be asked for soon.
func (s *side) stale() {
	select {
	case s.wanted <- struct{}{}:
	default:
	}
}

func (s *side) watch() (end func()) {
	s.mu.Lock()
	s.watchers++
	s.mu.Unlock()
	s.stale()
	return func() {
		s.mu.Lock()
		s.watchers--
		s.mu.Unlock()
	}
}

func (s *side) watched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watchers > 0 && !s.away
}

// now are the parts, and what is closed when they change.
func (s *side) now() (parts map[string]string, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parts, s.changed
}

func (s *side) title() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return title(dirsOf(s.status))
}
