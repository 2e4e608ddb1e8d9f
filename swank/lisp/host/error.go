package host

// StartError says why there is no image to work in, and what to do about it.
type StartError struct {
	Problem string // what was tried and how it ended, one sentence or more
	Advice  string // the next thing to do, often a command
	Err     error  // cause that Problem does not tell, may be nil
	Told    error  // cause that Problem tells, may be nil: it is unwrapped and not printed
}

// Error returns the problem with its cause, and on the next line the advice.
func (e *StartError) Error() string {
	s := "lisp: " + e.Problem
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Advice != "" {
		s += "\n" + e.Advice
	}
	return s
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error {
	if e.Err == nil {
		return e.Told
	}
	return e.Err
}
