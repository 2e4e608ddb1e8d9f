package hub

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/kept"
)

// restTime is how long nobody has used a session before its image is put away for another
// one's.
const restTime = 2 * time.Second

// hibernateLimit is how long putting an image away may take, where it is saved to the disk.
const hibernateLimit = time.Minute

// backPatience is how long a request waits for what the server before has kept to be
// brought back. What comes later has to wait for its turn behind it.
const backPatience = 20 * time.Second

// backLimit bounds bringing that back, in time during which the image could act: systems may be
// compiled.
const backLimit = 10 * time.Minute

// Wake makes room for an image of s, before a request that may need one. The caller has
// entered s. The error is a *LimitError, ErrClosed, or the cause of ctx.
func (s *Session) Wake(ctx context.Context) error {
	s.turning.Lock()
	defer s.turning.Unlock()
	if err := s.hub.takePlace(ctx, s); err != nil {
		return err
	}
	if !s.back {
		s.back = true
		s.bringBack(ctx)
	}
	return nil
}

// putAway ends the image of s, if nobody uses s. What s has defined stays.
func (s *Session) putAway(ctx context.Context) {
	if !s.turning.TryLock() {
		return // it is being made ready
	}
	defer s.turning.Unlock()
	h := s.hub
	h.mu.Lock()
	used := s.users > 0 || !s.awake || s.ended
	h.mu.Unlock()
	if used {
		return
	}
	if err := s.hibernate(ctx, nil); err != nil {
		s.log.Debug("not put away", "because", err)
	}
}

// bringBack has what the server before has kept of the session loaded, and waits a while for
// that. The next reply tells of it.
func (s *Session) bringBack(ctx context.Context) {
	w := s.Work()
	left := w.Kept.Left()
	if left.Path == "" {
		return
	}
	source, err := w.Kept.Read()
	if err != nil {
		w.Bridge.Tell("; What was kept of this session cannot be read: " + err.Error())
		return
	}
	session := w.Image.Session(w.Session)
	place := session.Queue("bringing back what was kept of the session")
	done := make(chan struct{})
	began := s.hub.begin(func() {
		defer close(done)
		defer place.Leave()
		loaded, res, had, err := session.BringBack(place.Within(s.hub.ctx), lisp.SessionSource{File: filepath.Base(left.Path), Text: source}, lisp.Request{Debug: 1, Timeout: backLimit})
		s.log.Info("what was kept was brought back", "err", err)
		missing := notBack(loaded, res, err)
		if missing == "" {
			w.Kept.Taken() // session-status need not speak of it
		}
		w.Bridge.Tell(broughtBack(left, loaded, res, had) + missing)
	})
	if !began {
		place.Leave()
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
	case <-time.After(backPatience):
	}
}

// broughtBack says what has come back of a session: what was kept, or where its image has gone
// on from the disk, what there was to say of that, and what was kept later.
func broughtBack(left kept.Left, loaded *lisp.Loaded, res *lisp.Result, had bool) string {
	var lines []string
	if res != nil {
		for _, note := range res.Notes {
			lines = append(lines, "; "+strings.ReplaceAll(note, "\n", "\n; "))
		}
	}
	switch {
	case !had:
		lines = append(lines, "; This session was brought back as it was kept "+left.Time.Local().Format("on 2006-01-02 at 15:04")+": "+left.Summary+
			". Values that variables were given later are not in it.")
	case loaded == nil || loaded.Forms > 0:
		lines = append(lines, "; What was kept of this session and is not in the image was evaluated; what was kept is "+left.Summary+" in all.")
	}
	return strings.Join(lines, "\n")
}

// begin does work on a goroutine of the hub's, and reports whether it does: a hub that is
// closed does not.
func (h *Hub) begin(work func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.work.Go(work)
	}
	return !h.closed
}

// notBack says what of a session did not come back.
func notBack(loaded *lisp.Loaded, res *lisp.Result, err error) string {
	switch {
	case err != nil:
		return "\n; That failed: " + err.Error() + ". load-session {} tries it again."
	case res.Failure != nil:
		return "\n; That was broken off: " + strings.TrimSpace(res.Failure.Type+" "+res.Failure.Message) + ". load-session {} tries it again."
	case len(loaded.Failed) == 0:
		return ""
	}
	const shown = 5
	text := fmt.Sprintf("\n; %d of its %d forms failed:", len(loaded.Failed), loaded.Forms)
	for i, f := range loaded.Failed {
		if i == shown {
			return text + fmt.Sprintf("\n;   and %d more", len(loaded.Failed)-i)
		}
		why, _, _ := strings.Cut(f.Why, "\n")
		text += fmt.Sprintf("\n;   %s: %s", f.Form, why)
	}
	return text
}
