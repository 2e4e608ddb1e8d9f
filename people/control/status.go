package control

import (
	"context"
	"time"

	"swank-mcp/swank/lisp"
)

// Status is what a server is and does at one moment, as GET /status answers it in JSON.
type Status struct {
	ID      string    `json:"id"` // by which commands name the server
	PID     int       `json:"pid"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`

	Directory string   `json:"directory"`         // its working directory
	Project   []string `json:"project,omitempty"` // directories of the project that it works for
	Clients   []string `json:"clients,omitempty"` // that are connected: name and version

	Paused     bool       `json:"paused,omitempty"`    // calls that would evaluate wait
	Policy     string     `json:"policy"`              // what agents may do without the person's yes: "everything", "new" or "nothing"
	Questions  []Question `json:"questions,omitempty"` // that wait for the person's answer, oldest first
	Image      Image      `json:"image"`
	Sessions   []Session  `json:"sessions"`
	Transcript Transcript `json:"transcript"`
}

// Image is the Lisp image of a server. Sizes are in bytes.
type Image struct {
	State          string  `json:"state"` // "not started", "starting", "running", "replacing", "ended" or "not connected"
	Launched       bool    `json:"launched"`
	PID            int     `json:"pid,omitempty"`
	Implementation string  `json:"implementation,omitempty"`
	Address        string  `json:"address,omitempty"`
	Uptime         float64 `json:"uptime,omitempty"` // seconds
	Starts         int     `json:"starts"`
	HeapUsed       int64   `json:"heap_used,omitempty"`
	HeapLimit      int64   `json:"heap_limit,omitempty"`
	Silent         string  `json:"silent,omitempty"` // why the image has said nothing newer of its heap
	Checkpoints    int     `json:"checkpoints,omitempty"`
}

// Session is one session of a server.
type Session struct {
	Name      string    `json:"name"`
	Running   *Work     `json:"running,omitempty"`
	Waiting   int       `json:"waiting,omitempty"` // calls that wait for their turn
	Jobs      []Work    `json:"jobs,omitempty"`    // in the background
	Suspended []Suspend `json:"suspended,omitempty"`
}

// Work is what a session does.
type Work struct {
	Number  int     `json:"number,omitempty"` // of a job: N of job-N
	Code    string  `json:"code"`             // its beginning, one line
	Seconds float64 `json:"seconds"`          // for which it has run
}

// Suspend is an evaluation that waits in the debugger.
type Suspend struct {
	Number  int    `json:"number"`
	Code    string `json:"code"`
	Failure string `json:"failure"` // type of the condition
}

// Transcript tells where the transcript is.
type Transcript struct {
	Files   []string `json:"files,omitempty"`
	Problem string   `json:"problem,omitempty"` // why the newest entries are in no file
}

// status is what the server is and does now.
func (s *Server) status(ctx context.Context) Status {
	o := s.o.Image.Overview()
	ctx, cancel := context.WithTimeout(ctx, StatusPatience/2) // the asker has the rest for the way
	defer cancel()
	heap := s.o.Image.Heap(ctx)
	st := Status{
		ID: s.ID(), PID: s.pid, Version: s.o.Version, Started: s.started, Directory: s.directory, Paused: o.Paused,
		Policy: string(o.Policy),
		Image: Image{
			State: o.State, Launched: o.Launched, PID: o.PID, Implementation: o.Implementation, Address: o.Address,
			Uptime: o.Uptime.Seconds(), Starts: o.Starts, HeapUsed: heap.Used, HeapLimit: heap.Limit, Silent: heap.Silent, Checkpoints: o.Checkpoints,
		},
		Sessions: []Session{},
	}
	if s.o.Project != nil {
		st.Project = s.o.Project()
	}
	if s.o.Clients != nil {
		st.Clients = s.o.Clients()
	}
	for _, q := range o.Questions {
		st.Questions = append(st.Questions, Question{q.Number, q.Text, q.Asked, q.Until})
	}
	for _, one := range o.Sessions {
		st.Sessions = append(st.Sessions, sessionOf(one))
	}
	st.Transcript.Files, st.Transcript.Problem = s.o.Transcript.Kept()
	return st
}

func sessionOf(o lisp.SessionOverview) Session {
	s := Session{Name: o.Name, Waiting: o.Waiting}
	if o.Running != nil {
		s.Running = &Work{Code: o.Running.Code, Seconds: o.Running.Age.Seconds()}
	}
	for _, j := range o.Jobs {
		s.Jobs = append(s.Jobs, Work{Number: j.Number, Code: j.Code, Seconds: j.Took.Seconds()})
	}
	for _, e := range o.Suspended {
		s.Suspended = append(s.Suspended, Suspend{Number: e.Number, Code: e.Code, Failure: e.Failure})
	}
	return s
}
