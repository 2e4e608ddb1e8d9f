package lisp

import "context"

// Owner has a say in what an [Image] does that is one of many. An image calls its methods with
// no lock held.
type Owner interface {
	// Admit waits until the image may start, and returns what is to be called when its start has
	// ended, or why it may not start.
	Admit(ctx context.Context) (ended func(), err error)
	// BeginJob counts an evaluation that goes into the background, and returns what is to be
	// called when it has ended; or nil, and why it may not go there, in whole sentences.
	BeginJob() (ended func(), refusal string)
}

// Own gives the image an owner, before it is used.
func (im *Image) Own(o Owner) { im.owner = o }

// admit waits until an image may start. The error is a *StartError.
func (im *Image) admit() (ended func(), err error) {
	if im.owner == nil {
		return func() {}, nil
	}
	if ended, err = im.owner.Admit(im.ctx); err != nil {
		return nil, &StartError{Problem: "no Lisp image is started", Advice: "Nothing was evaluated.", Err: err}
	}
	return ended, nil
}

// enterBackground counts e among the jobs of the image's owner, and says why it cannot go into
// the background; nil if it can.
func (e *evaluation) enterBackground() *Failure {
	if why := e.noRoom(); why != nil || e.im.owner == nil {
		return why
	}
	ended, refusal := e.im.owner.BeginJob()
	if ended == nil {
		return &Failure{Type: typeTooManyJobs, Message: refusal}
	}
	e.jobEnded = ended
	return nil
}

// leaveBackground is called when e does not run in the background any more, or will not.
func (e *evaluation) leaveBackground() {
	if e.jobEnded != nil {
		e.jobEnded()
		e.jobEnded = nil
	}
}
