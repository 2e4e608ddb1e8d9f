package lisp

import "context"

// job is work of a session in place of evaluating code: a helper function that
// goes the way of EVALUATE, see work.lisp.
type job struct {
	title string             // what others are told that wait for it
	call  func() *helperCall // a new call each time, without token, session and package
}

// title is what stands for the request where others are told of it.
func (r *Request) title() string {
	if r.job != nil {
		return r.job.title
	}
	if r.Debugger != nil {
		return r.Debugger.title() + r.Code
	}
	return r.Code + r.System
}

// do does the job in turn with the evaluations of the session, under the
// limits of r, and decodes what it reports into report; a job that has come to
// nothing leaves it as it is. Result and error are those of [Image.Evaluate].
func (im *Image) do(ctx context.Context, session string, r Request, j job, report any) (*Result, error) {
	r.job = &j
	res, err := im.Evaluate(ctx, session, r)
	if err != nil || len(res.report) == 0 {
		return res, err
	}
	return res, decodeAnswer(string(res.report), report)
}
