package lisp

// typeLimit is the Failure.Type of an evaluation that a limit of the server's has ended.
const typeLimit = "LIMIT-REACHED"

// StopFor ends what is evaluated in the image, also in the background, because of a limit of
// the server's: their replies say why, which is one sentence or more. It does not wait for
// that, and returns how many evaluations it was.
func (im *Image) StopFor(why string) int {
	all := im.inFlight()
	for _, h := range all {
		h.e.why.CompareAndSwap(nil, &why)
		h.end(personStop{})
	}
	return len(all)
}

// GiveUp ends the image that runs, because of a limit of the server's: evaluations in it end
// as by its death, and another one takes its place, with what its sessions have defined.
// Why is what their replies say, after "because". It reports whether one ran.
func (im *Image) GiveUp(why string) bool {
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	if inst == nil || inst.over() || inst.attached() {
		return false
	}
	inst.kill(why)
	return true
}

// limited has the result of e say which limit has ended it, if one has.
func (e *evaluation) limited(res *Result) {
	why := e.why.Load()
	if why == nil || res == nil || res.Failure == nil || res.Failure.Kind != KindStopped {
		return
	}
	f := res.Failure
	f.Kind = KindError
	if f.Type == typeReplaced {
		f.Message = *why + " " + f.Message
		return
	}
	f.Type, f.Message = typeLimit, *why
}
