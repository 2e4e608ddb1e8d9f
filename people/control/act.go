package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"swank-mcp/people/transcript"
	"swank-mcp/swank/lisp"
)

// Stopped is what was ended, oldest first. Session names where.
type Stopped struct {
	Stopped []StoppedWork `json:"stopped"`
}

// StoppedWork is one evaluation that was ended.
type StoppedWork struct {
	Session string `json:"session"`
	Work
}

// Paused tells whether calls that would evaluate wait now.
type Paused struct {
	Paused bool `json:"paused"`
}

// Undone tells what was undone.
type Undone struct {
	Session string    `json:"session"`
	Undone  []string  `json:"undone"`            // by their beginnings; or done again
	Forward bool      `json:"forward,omitempty"` // they were done again
	Time    time.Time `json:"time"`              // as of which the image is now
	Extra   int       `json:"extra,omitempty"`   // of these, so many more than one: no checkpoint lies between
	NoRedo  string    `json:"no_redo,omitempty"` // why it cannot be done again
}

// Limits of what a person waits for.
const (
	stopPatience = 30 * time.Second // an image that has to be replaced takes some seconds
	undoPatience = 20 * time.Second
)

// note notes what a person has done.
func (s *Server) note(session, text string) {
	s.o.Transcript.Add(transcript.Entry{Kind: transcript.KindPerson, Session: session, Text: text})
}

func (s *Server) stop(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), stopPatience)
	defer cancel()
	ended, err := s.o.Image.Stop(ctx)
	a := Stopped{Stopped: []StoppedWork{}}
	for _, e := range ended {
		a.Stopped = append(a.Stopped, StoppedWork{e.Session, Work{Code: e.Code, Seconds: e.Age.Seconds()}})
		s.note(e.Session, "stopped "+e.Code)
	}
	if err != nil {
		fail(w, fmt.Errorf("not all that runs has ended within %v: code may have interrupts off; swank-mcp ps shows what runs", stopPatience))
		return
	}
	answer(w, a)
}

func (s *Server) pause(w http.ResponseWriter, r *http.Request) {
	_ = s.o.Image.Pause(r.Context())
	answer(w, Paused{s.o.Image.Paused()})
}

func (s *Server) resume(w http.ResponseWriter, r *http.Request) {
	_ = s.o.Image.Resume(r.Context())
	answer(w, Paused{s.o.Image.Paused()})
}

func (s *Server) undo(w http.ResponseWriter, r *http.Request) {
	name, err := s.sessionFor(r.URL.Query().Get("session"))
	if err != nil {
		fail(w, err)
		return
	}
	steps := 1
	if text := r.URL.Query().Get("steps"); text != "" {
		if steps, err = strconv.Atoi(text); err != nil || steps == 0 || max(steps, -steps) > MaxSteps {
			fail(w, fmt.Errorf("steps is %q; valid: 1 to %d, and -1 to -%[2]d", text, MaxSteps))
			return
		}
	}
	u, err := s.o.Image.Session(name).UndoForPerson(r.Context(), steps, r.URL.Query().Get("to"), undoPatience)
	if err != nil {
		fail(w, s.whyNotUndone(err))
		return
	}
	what := "undone: "
	if u.Forward {
		what = "done again: "
	} else if len(u.Undone) == 0 {
		what = "restored " + u.To.Taken.Local().Format(time.TimeOnly)
	}
	s.note(name, what+strings.Join(u.Undone, "; "))
	answer(w, Undone{Session: name, Undone: append([]string{}, u.Undone...), Forward: u.Forward, Time: u.To.Taken, Extra: u.Extra, NoRedo: u.Redo})
}

// defaultSession is the name that commands send where the person has named none.
const defaultSession = "default"

// namesNone reports whether that is the name of a session that nobody has chosen.
func namesNone(name string) bool { return name == "" || name == defaultSession }

// sessionFor is the session of that name. Who names none gets the only one; but nobody who has
// named another one: what a page has shown may have ended since.
func (s *Server) sessionFor(name string) (string, error) {
	names := s.o.Image.Sessions()
	switch {
	case slices.Contains(names, name):
		return name, nil
	case len(names) == 0:
		return "", errors.New("nothing was evaluated yet")
	case len(names) == 1 && namesNone(name):
		return names[0], nil
	}
	are := "are"
	if len(names) == 1 {
		are = "is"
	}
	return "", fmt.Errorf("no session is called %s; there %s %s: name one with --session", cmp.Or(name, "so"), are, strings.Join(names, ", "))
}

// whyNotUndone is err for a person.
func (s *Server) whyNotUndone(err error) error {
	var none *lisp.NoCheckpointError
	var busy *lisp.BusyError
	var wall *lisp.ObstacleError
	switch {
	case errors.As(err, &wall) && !s.o.Image.Overview().Launched:
		return errors.New("the image is one that you run, and is not copied: in its REPL, (swank-mcp:history) shows what agents did, and (swank-mcp:undo-entry N) puts back what they redefined")
	case errors.As(err, &none) && none.To != "":
		return fmt.Errorf("there is no checkpoint %s; there are: %s", none.To, checkpointNames(none.Checkpoints))
	case errors.As(err, &none) && none.Steps < 0:
		return errors.New("nothing can be done again: no call was undone, or another one came since, or no checkpoint was taken of it")
	case errors.As(err, &none) && len(none.Checkpoints) > 0:
		return fmt.Errorf("no checkpoint lies before that; there are: %s", checkpointNames(none.Checkpoints))
	case errors.As(err, &none):
		return errors.New("there is no checkpoint before: there is nothing to undo")
	case errors.As(err, &busy):
		return fmt.Errorf("it waits for %s; to end that: swank-mcp stop %s", busy.Code, s.ID())
	}
	return err
}

// checkpointNames lists the newest checkpoints, by number or name and what was evaluated before.
func checkpointNames(all []lisp.Checkpoint) string {
	const most = 10
	if len(all) == 0 {
		return "none"
	}
	var names []string
	for _, c := range all[max(0, len(all)-most):] {
		text := cmp.Or(c.Name, strconv.Itoa(c.Number))
		if c.After != "" {
			text += " (after " + c.After + ")"
		}
		names = append(names, text)
	}
	return strings.Join(names, ", ")
}

// fail answers that it was not done, and why.
func fail(w http.ResponseWriter, err error) {
	http.Error(w, strings.TrimPrefix(err.Error(), "lisp: "), http.StatusConflict)
}
