package lisp

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/host"
	"swank-mcp/swank/lisp/launch"
)

// connectTimeout bounds each step of getting into an image that says it is ready.
const connectTimeout = 10 * time.Second

// live is one image that runs, our connection to it and our threads in it. It
// ends once, with its process or its connection, and is not used again.
type live struct {
	proc host.Host
	conn *swank.Conn
	info *swank.ConnectionInfo
	born time.Time

	single bool // no threads of Swank's: one request at a time

	mu      sync.Mutex
	lookups swank.ThreadID   // serves everything but evaluations and Image.look
	lanes   map[string]*lane // session to its evaluating thread
	because string           // why we gave it up; "" if we did not

	looks looks // the thread for Image.look

	killed atomic.Bool  // by us
	used   atomic.Bool  // something has been evaluated in it
	faults atomic.Int32 // answers in a row that were none
}

// newLive returns the image that runs in proc, not connected.
func newLive(proc host.Host) *live {
	return &live{proc: proc, born: time.Now(), lanes: map[string]*lane{}, looks: looks{starting: make(chan struct{}, 1)}}
}

// begin starts a process, or finds the image that c names, and gets into it.
func begin(ctx context.Context, c Config, handler func(*swank.Debug)) (*live, error) {
	if !c.Attach.IsZero() {
		return attachTo(ctx, c, handler)
	}
	proc, err := launch.Start(ctx, c.Launch, launchCode())
	if err != nil {
		return nil, err
	}
	lv := newLive(proc)
	if err := lv.enter(ctx, c, handler); err != nil {
		lv.end()
		return nil, &StartError{
			Problem: "the Lisp image started, but Swank in it does not answer as it should",
			Advice:  "Run `swank-mcp doctor` to see what was found.",
			Err:     err,
		}
	}
	return lv, nil
}

// enter connects and makes the image ready for evaluations.
func (lv *live) enter(ctx context.Context, c Config, handler func(*swank.Debug)) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	secret, err := swank.ReadSecret()
	if err != nil {
		return err
	}
	network, addr := lv.proc.Address()
	lv.conn, err = swank.Dial(ctx, network, addr, &swank.Options{Handler: handler, Trace: c.Trace, Secret: secret})
	if err != nil {
		return err
	}
	if lv.info, err = lv.conn.ConnectionInfo(ctx); err != nil {
		return err
	}
	if err = lv.startLookups(ctx); err != nil {
		return err
	}
	_, err = lv.ask(ctx, helper.NewCall("CONFIGURE").Key("LAUNCHED").Yes())
	return err
}

// ask runs a helper function on the look-up thread and returns its printed answer.
func (lv *live) ask(ctx context.Context, c *helper.Call) (string, error) {
	return lv.askOn(ctx, lv.lookupThread(), c)
}

func (lv *live) lookupThread() swank.ThreadID {
	lv.mu.Lock()
	defer lv.mu.Unlock()
	return lv.lookups
}

// startLookups makes the look-up thread, or another one when it has ended.
func (lv *live) startLookups(ctx context.Context) error {
	id, err := lv.startThread(ctx, "swank-mcp look-ups")
	if err != nil {
		return err
	}
	lv.mu.Lock()
	defer lv.mu.Unlock()
	lv.lookups = id
	return nil
}

func (lv *live) askOn(ctx context.Context, thread swank.ThreadID, c *helper.Call) (string, error) {
	call, err := c.Send(lv.conn, thread)
	if err != nil {
		return "", err
	}
	return grabbed(ctx, call)
}

// grabbed waits for what a [helper.Call] has printed.
func grabbed(ctx context.Context, call *swank.Call) (string, error) {
	var g swank.Grabbed
	if err := call.Wait(ctx, &g); err != nil {
		return "", err
	}
	return g.Output, nil
}

// startThread makes a thread in the image that serves our requests.
func (lv *live) startThread(ctx context.Context, name string) (swank.ThreadID, error) {
	if lv.single {
		return swank.NewWorker, nil // the one thread there is
	}
	answer, err := lv.askOn(ctx, swank.NewWorker, helper.NewCall("START-THREAD").Str(name))
	if err != nil {
		return 0, fmt.Errorf("lisp: starting a thread in the image: %w", err)
	}
	var id swank.ThreadID
	if err := helper.Decode(answer, &id); err != nil {
		return 0, fmt.Errorf("lisp: starting a thread in the image: %w", err)
	}
	if id == 0 {
		return 0, fmt.Errorf("lisp: starting a thread in the image: it did not come up")
	}
	return id, nil
}

// lane returns the evaluating thread of a session, which lasts as long as the
// image unless its own code ends it.
func (lv *live) lane(ctx context.Context, session string) (*lane, error) {
	lv.mu.Lock()
	l := lv.lanes[session]
	lv.mu.Unlock()
	if l != nil {
		return l, nil
	}
	// Only the holder of the session's turn comes here, so nobody else makes
	// the same thread meanwhile.
	id, err := lv.startThread(ctx, sessionThread(session))
	if err != nil {
		return nil, err
	}
	l = &lane{lv: lv, session: session, thread: id}
	lv.mu.Lock()
	lv.lanes[session] = l
	lv.mu.Unlock()
	return l, nil
}

// over reports whether the image cannot be used any more.
func (lv *live) over() bool {
	return lv.killed.Load() || // though the kernel may not have noticed yet
		lv.conn.Err() != nil || lv.proc.HasExited()
}

// kill ends the image at once, or our part in it if it is not ours; why is
// what callers in flight are told, after "because".
func (lv *live) kill(why string) {
	lv.mu.Lock()
	if lv.because == "" {
		lv.because = lv.proc.Killed() + ", because " + why
	}
	lv.mu.Unlock()
	lv.killed.Store(true)
	lv.proc.Kill()
}

// end releases everything: the connection, the process and its directory.
func (lv *live) end() {
	if lv.conn != nil {
		lv.conn.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	lv.proc.Close(ctx)
}

// whatEnds names what is gone when lv is over: an image that is not ours may
// have lost no more than its connection to us.
func (lv *live) whatEnds() string {
	if lv.attached() {
		return "the connection to the Lisp"
	}
	return "the Lisp image"
}

// epitaph tells how the image ended. It waits for the exit status a moment,
// because the connection is usually seen to close first.
func (lv *live) epitaph() string {
	if !lv.attached() {
		select {
		case <-lv.proc.Exited():
		case <-time.After(time.Second):
		}
	}
	lv.mu.Lock()
	because := lv.because
	lv.mu.Unlock()
	if lv.attached() {
		if because == "" {
			because = lv.proc.ExitText()
		}
		return because
	}
	select {
	case <-lv.proc.Exited():
	default:
		return "its Swank connection broke: " + fmt.Sprint(lv.conn.Err())
	}
	if because != "" {
		return because
	}
	return lv.proc.ExitText()
}

// dir is the image's own directory, if it is ours, and else "".
func (lv *live) dir() string {
	if p, ok := lv.proc.(*launch.Process); ok {
		return p.Dir()
	}
	return ""
}

// endedFromOutside reports whether a signal that is usually somebody's has ended
// the image, and not ours.
func (lv *live) endedFromOutside() bool {
	lv.mu.Lock()
	ours := lv.because != ""
	lv.mu.Unlock()
	p, ok := lv.proc.(*launch.Process)
	return ok && !ours && p.EndedBy(syscall.SIGKILL, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
}
