package lisp

import (
	"context"
	"fmt"
	"time"
)

// UndoForPerson is [Session.Undo] by so many steps, or forward, or to that checkpoint,
// because a person wants that. It is done while the calls of agents are paused, too. The next
// reply in the session says so.
func (s *Session) UndoForPerson(ctx context.Context, steps int, to string, timeout time.Duration) (u *Undone, err error) {
	j := &job{title: "undo, by the person", number: s.im.jobs.Add(1), free: true}
	err = s.exclusive(ctx, j, timeout, func() error {
		u, err = s.undo(ctx, steps, to, timeout, "The person")
		if err != nil {
			return err
		}
		what, back := "took the image back to", "Undone"
		if u.Forward {
			what, back = "took the image forward to", "Done again"
		}
		if len(u.Undone) == 0 {
			s.notes = append(s.notes, fmt.Sprintf("The person %s %s.", what, u.To.Taken.Format(time.TimeOnly)))
			return nil
		}
		s.notes = append(s.notes, fmt.Sprintf("The person %s %s. %s: %s.", what, u.To.Taken.Format(time.TimeOnly), back, someTitles(u.Undone)))
		return nil
	})
	return u, err
}

// Sessions returns the names of the sessions in the image that have state there, in order.
func (im *Image) Sessions() (names []string) {
	for _, s := range im.known() {
		if s.home.Load() != nil {
			names = append(names, s.name)
		}
	}
	return names
}
