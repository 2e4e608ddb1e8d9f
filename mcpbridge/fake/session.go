package fake

import (
	"context"
	"time"

	"swank-mcp/swank/lisp"
)

// SaveSession has one definition, and none in the session "empty".
func (f *Session) SaveSession(_ context.Context, file string, _ time.Duration) (*lisp.Saved, error) {
	if f.name == "empty" {
		return &lisp.Saved{Empty: true}, nil
	}
	return &lisp.Saved{Text: ";;;; " + file + "\n(defun f () 1)\n", Summary: "1 definition", Dropped: 2}, nil
}

// LoadSession fails in the second form if there is "fail" in the source.
func (f *Session) LoadSession(_ context.Context, src lisp.SessionSource, r lisp.Request) (*lisp.Loaded, *lisp.Result, error) {
	l := &lisp.Loaded{Forms: 2}
	if src.Text == "fail" {
		l.Failed = []lisp.FailedForm{{Line: 3, Form: "(defun f ()", Why: "END-OF-FILE: The code ends\ninside the form."}}
	}
	return l, &lisp.Result{Package: "COMMON-LISP-USER"}, nil
}

// BringBack is LoadSession.
func (f *Session) BringBack(ctx context.Context, src lisp.SessionSource, r lisp.Request) (*lisp.Loaded, *lisp.Result, bool, error) {
	l, res, err := f.LoadSession(ctx, src, r)
	return l, res, false, err
}

// Job knows job 2, which runs, and no other.
func (f *Session) Job(_ context.Context, number int) (*lisp.Job, error) {
	j := lisp.Job{Number: 2, Code: "(work)", Took: 3 * time.Second, Limit: lisp.JobLimit}
	if number != 2 {
		return nil, &lisp.JobError{Number: number, Jobs: []lisp.Job{j}}
	}
	j.Stdout = lisp.Text{Head: "half way"}
	return &j, nil
}

func (f *Session) AbortJob(ctx context.Context, number int) (*lisp.Job, error) {
	j, err := f.Job(ctx, number)
	if err == nil {
		j.Result = &lisp.Result{Stdout: j.Stdout, Failure: &lisp.Failure{Type: "ABORTED"}}
	}
	return j, err
}

// Sources knows the function my-app:total, which was evaluated in the session.
func (f *Session) Sources(_ context.Context, name, _ string, _ time.Duration) (*lisp.Sources, error) {
	if name != "my-app:total" {
		return &lisp.Sources{Name: "F", Places: []string{"Function F: Defined in: f.lisp, line 1"}}, nil
	}
	return &lisp.Sources{Name: "TOTAL", Packages: []string{"MY-APP"}, Definitions: []lisp.Source{
		{Kind: "function", Label: "function MY-APP:TOTAL", Text: "(defun total ()\n  2)", Package: "MY-APP", Loaded: "(defun total () 1)"}}}, nil
}

// point is the one checkpoint.
var point = lisp.Checkpoint{Number: 1, Name: "here", Taken: time.Date(2026, 1, 2, 10, 32, 0, 0, time.Local), After: "(setf x 1)", Since: []string{"(setf x 2)"}}

// Undo goes to the one checkpoint.
func (f *Session) Undo(_ context.Context, steps int, to string, _ time.Duration) (*lisp.Undone, error) {
	if to != "" && to != point.Name {
		return nil, &lisp.NoCheckpointError{Checkpoints: []lisp.Checkpoint{point}, To: to}
	}
	return &lisp.Undone{To: point, Undone: point.Since, Forward: steps < 0}, nil
}

func (f *Session) TakeCheckpoint(_ context.Context, name string, _ time.Duration) (lisp.Checkpoint, error) {
	if name == point.Name {
		return lisp.Checkpoint{}, lisp.ErrCheckpointExists
	}
	return lisp.Checkpoint{Name: name, Taken: point.Taken}, nil
}

func (f *Session) Checkpoints() ([]lisp.Checkpoint, *lisp.ObstacleError) {
	return []lisp.Checkpoint{point}, nil
}

func (f *Session) DropCheckpoint(name string) bool { return name == point.Name }

func (f *Session) SaveCheckpoint(name string) (string, error) {
	return ".swank-mcp/" + name + ".core", nil
}

func (f *Session) CheckpointsOnDisk() []lisp.OnDisk { return nil }

func (f *Session) Written(context.Context, string, string, string, []string) error { return nil }

// FileReadings has all files be standard ones.
func (f *Session) FileReadings(context.Context, string) ([]lisp.Reading, error) {
	return []lisp.Reading{{Case: "upcase"}}, nil
}

func (f *Session) Writable(context.Context, string, string, *lisp.Source, string, string, lisp.WritePlace) (*lisp.Writable, error) {
	return &lisp.Writable{Same: true}, nil
}

func (f *Session) ReadUnlike(context.Context, string, string, string) (*lisp.Unlike, error) {
	return &lisp.Unlike{}, nil
}
