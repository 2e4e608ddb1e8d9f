package lisp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"swank-mcp/swank/lisp/attach"
	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/journal"
)

// What is different in an attached image: it is never ended, no session is brought
// back into it, and what cannot be stopped is left alone.

// rejoined says what a session finds on a new connection.
func (s *Session) rejoined(old, now *instance) string {
	end := old.epitaph()
	if old.imageID() == now.imageID() {
		return "Connected again to the same image, because " + end + " before: the session is as it was; nothing is traced any more." + s.suspended.lost(old)
	}
	if g, ok := old.proc.(*attach.Guest); ok && g.Is(now.proc.PID()) {
		s.journal = journal.Journal{}
		return "Connected again to the same Lisp, and its helper was loaded anew, because " + end + " before. What the session has defined is there still; " +
			"but it is not known any more that it is the session's: list-definitions and reset-session leave it out." + s.suspended.lost(old)
	}
	text := fmt.Sprintf("Connected to another image than before, because %s. The session begins anew in it.", end)
	if n := s.journal.Definitions(); n > 0 {
		text += fmt.Sprintf(" What it had defined, %s, is not evaluated again in an image that is not ours: send it again if you need it.",
			s.journal.Summary())
	}
	s.journal = journal.Journal{}
	return text + s.suspended.lost(old)
}

// helperless is the result of an evaluation in an image from which the helper was
// deleted.
func (e *evaluation) helperless() *Result {
	e.inst.kill("the helper in it was deleted")
	return &Result{Failure: &Failure{Type: "HELPER-DELETED", Message: "Somebody has deleted swank-mcp's helper, the package SWANK-MCP, from the attached Lisp. " +
		"Nothing was evaluated. The next call loads it again."}}
}

// join tells the image that the session is worked in over this connection, and
// returns notes on its state there and on other servers that work in it.
func (inst *instance) join(ctx context.Context, session string) []string {
	client, _ := ctx.Value(clientKey{}).(string)
	version, _ := ctx.Value(versionKey{}).(string)
	bounded, cancel := inst.forAnswer(ctx)
	defer cancel()
	var found []string
	answer, err := inst.ask(bounded, helper.NewCall("JOIN-SESSION").Str(session).Str(named(client, version)))
	if err == nil {
		err = helper.Decode(answer, &found)
	}
	if err != nil {
		return nil // what does not work here fails again in the evaluation, and says so
	}
	return found
}

// lost is the result of an evaluation whose connection ended under it.
func (e *evaluation) lost() *Result {
	if how := e.im.lastGuest().Gone(); how != "" {
		return &Result{Failure: &Failure{Kind: KindImageDied, Type: "IMAGE-DIED", Message: fmt.Sprintf(
			"The attached Lisp at %s ended during this evaluation: %s. What was in it is gone. "+
				"Its owner has to start another one; the next call connects to that, and the session begins anew in it.",
			e.im.cfg.Attach, how) + e.s.suspended.lost(e.inst)}}
	}
	return &Result{Failure: &Failure{Kind: KindImageDied, Type: "IMAGE-DIED", Message: fmt.Sprintf(
		"The attached Lisp at %s was lost during this evaluation: %s. If it is still there, the evaluation has been stopped in it. "+
			"The next call connects again; the session is in the image and goes on if that is still the same.",
		e.im.cfg.Attach, e.inst.epitaph()) + e.s.suspended.lost(e.inst)}}
}

// leftRunning leaves alone an evaluation that cannot be stopped and says where
// it is.
func (e *evaluation) leftRunning(kind FailureKind, why string) *Result {
	var b strings.Builder
	b.WriteString(why)
	if why == wholeImageSilent {
		if text := e.im.lastGuest().State(); text != "" && !e.left {
			e.s.givenUp = append(e.s.givenUp, e)
			return &Result{Failure: &Failure{Kind: kind, Type: typeNotStopped, Message: "The whole image has stopped answering: " + text + ". " +
				"The image is not ours to end; its owner has to look at it. When it answers again, this evaluation is stopped there if it has not ended, " +
				"and the next reply tells what became of it."}}
		}
	}
	if e.inst.single {
		b.Reset()
		b.WriteString("The evaluation could not be stopped. The image has no threads for its connections, so nothing reaches it until the evaluation has ended or its owner interrupts it (C-c in its terminal, C-c C-c in Emacs).")
	} else {
		fmt.Fprintf(&b, " The image is not ours to end, so the evaluation was left alone: it goes on in the Lisp thread %q (Swank's id %d). "+
			"The session goes on in a new thread. Its owner can end it there (M-x slime-list-threads, k), if anything can.",
			threadName(e.s.name), e.thread.id)
		e.thread.forget()
	}
	return &Result{Failure: &Failure{Kind: kind, Type: typeNotStopped, Message: b.String()}}
}

// threadName is the name of the Lisp thread in which a session evaluates.
func threadName(session string) string { return "swank-mcp session " + session }

// Between attempts to find an attached image again.
const (
	rejoinFirst = time.Second
	rejoinLast  = 30 * time.Second
)

// rejoin looks for the image until there is a connection again. Calls do not
// wait for it: each tries by itself. It gives up where something answers that
// will not have us: to come again and again does harm there.
func (im *Image) rejoin() {
	for pause := rejoinFirst; ; pause = min(2*pause, rejoinLast) {
		select {
		case <-im.ctx.Done():
			return
		case <-time.After(pause):
		}
		im.mu.Lock()
		if im.closed || im.cur != nil && !im.cur.over() {
			im.mu.Unlock()
			return
		}
		st := im.startLocked()
		im.mu.Unlock()
		<-st.done
		var failure *attach.Error
		if st.err == nil || !errors.As(st.err, &failure) || !failure.Away {
			return
		}
	}
}

// reach connects to the configured image, if there is one and we are not
// connected, and says why that could not be done.
func (im *Image) reach(ctx context.Context) string {
	if im.cfg.Attach.IsZero() {
		return ""
	}
	_, err := im.acquire(ctx, 0)
	var start *StartError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &start):
		return "Not connected: " + start.Problem + "\n" + start.Advice
	}
	return "Not connected: " + err.Error()
}
