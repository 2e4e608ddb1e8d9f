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
	"swank-mcp/swank/lisp/project"
	"swank-mcp/swank/lisp/restore"
)

// connectTimeout bounds each step of getting into an image that says it is ready, in time during
// which the image could act.
const connectTimeout = 10 * time.Second

// within returns a context that ends, with context.DeadlineExceeded, when the image could act
// for limit; one that is attached, and whose process may be on another machine, when that time
// has passed. The caller calls cancel.
func (inst *instance) within(ctx context.Context, limit time.Duration) (_ context.Context, cancel context.CancelFunc) {
	return host.Within(ctx, inst.pid(), limit, context.DeadlineExceeded)
}

// pid returns the process of an image of ours, else 0.
func (inst *instance) pid() int {
	if p, ok := inst.proc.(*launch.Process); ok {
		return p.PID()
	}
	return 0
}

// instance is one image that runs, our connection to it and our threads in it. It
// ends once, with its process or its connection, and is not used again.
type instance struct {
	proc host.Host
	conn *swank.Conn
	info *swank.ConnectionInfo
	born time.Time

	single bool // no threads of Swank's: one request at a time

	mu      sync.Mutex
	control swank.ThreadID            // serves everything but evaluations and queries
	threads map[string]*sessionThread // session to its evaluating thread
	because string                    // why we gave it up; "" if we did not
	putAway bool                      // because nobody used it, or its place was wanted
	policy  Policy                    // that it was told; "" if none

	policing sync.Mutex // held while it is told a policy, so that the last one told is the last one said

	query queryThread
	heaps heaps

	asking workLock    // shared: a thread of the image is asked something, and named
	origin *checkpoint // that it goes on from, or nil

	resumed bool // it, or what it comes of, was started from a checkpoint on the disk

	killed atomic.Bool  // by us
	used   atomic.Bool  // something has been evaluated in it
	faults atomic.Int32 // answers in a row that were none

	project atomic.Pointer[project.Project] // the one that it knows
}

// newInstance returns the image that runs in proc, not connected.
func newInstance(proc host.Host) *instance {
	return &instance{proc: proc, born: time.Now(), threads: map[string]*sessionThread{}, query: queryThread{starting: make(chan struct{}, 1)}}
}

// begin starts a process, or finds the image that c names, and gets into it.
func begin(ctx context.Context, c Config, handler func(*swank.Debug)) (*instance, error) {
	if !c.Attach.IsZero() {
		return attachTo(ctx, c, handler)
	}
	proc, err := launch.Start(ctx, c.Launch, launchCode())
	if err != nil {
		return nil, err
	}
	inst := newInstance(proc)
	inst.policy = AllowEverything
	if err := inst.enter(ctx, c, handler, helper.NewCall("CONFIGURE").Key("LAUNCHED").Yes()); err != nil {
		inst.end()
		return nil, &StartError{
			Problem: "the Lisp image started, but Swank in it does not answer as it should",
			Advice:  "Run `swank-mcp doctor` to see what was found.",
			Err:     err,
		}
	}
	return inst, nil
}

// enter connects and makes the image ready for evaluations, by the call prepare.
func (inst *instance) enter(ctx context.Context, c Config, handler func(*swank.Debug), prepare *helper.Call) error {
	ctx, cancel := inst.within(ctx, connectTimeout)
	defer cancel()
	err := inst.connect(ctx, c, handler)
	if err != nil {
		return err
	}
	if inst.info, err = inst.conn.ConnectionInfo(ctx); err != nil {
		return err
	}
	if err = inst.startControl(ctx); err != nil {
		return err
	}
	_, err = inst.ask(ctx, prepare)
	return err
}

// connect connects to an image that we have started.
func (inst *instance) connect(ctx context.Context, c Config, handler func(*swank.Debug)) (err error) {
	p := inst.proc.(*launch.Process)
	network, addr := p.Address()
	inst.conn, err = swank.Dial(ctx, network, addr, &swank.Options{Check: p.Check, Handler: handler, Message: func(text string) { c.told(inst, text) }, Trace: c.Trace, Secret: p.Secret()})
	return err
}

// resume is enter for an image that goes on from a checkpoint, and has been configured.
func (inst *instance) resume(ctx context.Context, c Config, handler func(*swank.Debug)) error {
	ctx, cancel := inst.within(ctx, connectTimeout)
	defer cancel()
	if err := inst.connect(ctx, c, handler); err != nil {
		return err
	}
	id, err := inst.newThread(ctx, helper.NewCall("RESUME-COPY").Str(controlName))
	inst.control = id
	return err
}

// controlName is the name of the control thread.
const controlName = "swank-mcp look-ups"

// ask runs a helper function on the control thread and returns its printed answer.
func (inst *instance) ask(ctx context.Context, c *helper.Call) (string, error) {
	if err := inst.mayAsk(ctx); err != nil {
		return "", err
	}
	defer inst.asking.unshare()
	return inst.askOn(ctx, inst.controlThread(), c)
}

// mayAsk shares asking: while a checkpoint is taken, and functions of the program's run for
// that, it waits. The error is the cause of ctx.
func (inst *instance) mayAsk(ctx context.Context) error { return inst.asking.share(ctx) }

func (inst *instance) controlThread() swank.ThreadID {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	return inst.control
}

// startControl makes the control thread, or another one when it has ended.
func (inst *instance) startControl(ctx context.Context) error {
	id, err := inst.startThread(ctx, controlName)
	if err != nil {
		return err
	}
	inst.mu.Lock()
	defer inst.mu.Unlock()
	inst.control = id
	return nil
}

func (inst *instance) askOn(ctx context.Context, thread swank.ThreadID, c *helper.Call) (string, error) {
	call, err := c.Send(inst.conn, thread)
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
func (inst *instance) startThread(ctx context.Context, name string) (swank.ThreadID, error) {
	if inst.single {
		return swank.NewWorker, nil // the one thread there is
	}
	return inst.newThread(ctx, helper.NewCall("START-THREAD").Str(name))
}

// newThread asks for a thread by a call that answers its id.
func (inst *instance) newThread(ctx context.Context, start *helper.Call) (swank.ThreadID, error) {
	if err := inst.mayAsk(ctx); err != nil {
		return 0, err
	}
	defer inst.asking.unshare()
	return inst.threadBy(ctx, start)
}

// threadBy is newThread for a caller who holds or shares inst.asking.
func (inst *instance) threadBy(ctx context.Context, start *helper.Call) (swank.ThreadID, error) {
	answer, err := inst.askOn(ctx, swank.NewWorker, start)
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

// sessionThread returns the evaluating thread of a session, which lasts as long as the
// image unless its own code ends it.
func (inst *instance) sessionThread(ctx context.Context, session string) (*sessionThread, error) {
	inst.mu.Lock()
	thread := inst.threads[session]
	inst.mu.Unlock()
	if thread != nil {
		return thread, nil
	}
	// Only the holder of the session's turn comes here, so nobody else makes
	// the same thread meanwhile.
	id, err := inst.startThread(ctx, threadName(session))
	if err != nil {
		return nil, err
	}
	thread = &sessionThread{inst: inst, session: session, id: id}
	inst.mu.Lock()
	inst.threads[session] = thread
	inst.mu.Unlock()
	return thread, nil
}

// over reports whether the image cannot be used any more.
func (inst *instance) over() bool {
	return inst.killed.Load() || // though the kernel may not have noticed yet
		inst.conn.Err() != nil || inst.proc.HasExited()
}

// kill ends the image at once, or our connection if it is attached; why is
// what callers in flight get to read, after "because".
func (inst *instance) kill(why string) {
	inst.mu.Lock()
	if inst.because == "" {
		inst.because = inst.proc.Killed() + ", because " + why
	}
	inst.mu.Unlock()
	inst.killed.Store(true)
	inst.proc.Kill()
}

// end releases everything: the connection, the process and its directory.
func (inst *instance) end() {
	if inst.conn != nil {
		inst.conn.Close()
	}
	inst.proc.Close(context.Background())
}

// leave ends the image and our connection to it. Its copies go on.
func (inst *instance) leave() {
	p, launched := inst.proc.(*launch.Process)
	if launched {
		p.Kill() // first: an image whose connection is closed complains
	}
	if inst.conn != nil {
		inst.conn.Close()
	}
	if launched {
		p.End()
	}
}

// becauseUndone is why an image ends that is taken back to a checkpoint.
const becauseUndone = "it was taken back to a checkpoint"

// whatEnds names what is gone when inst is over: an image that is not ours may
// have lost no more than its connection to us.
func (inst *instance) whatEnds() string {
	if inst.attached() {
		return "the connection to the Lisp"
	}
	return "the Lisp image"
}

// exitTime is for how long an image whose connection has ended may be able to end and not do it:
// then the connection broke.
const exitTime = time.Second

// epitaph tells how the image ended. It waits for the exit status, because the connection is
// usually seen to close first.
func (inst *instance) epitaph() string {
	if !inst.attached() {
		lives, cancel := inst.within(context.Background(), exitTime)
		defer cancel()
		select {
		case <-inst.proc.Exited():
		case <-lives.Done():
		}
	}
	inst.mu.Lock()
	because := inst.because
	inst.mu.Unlock()
	if inst.attached() {
		if because == "" {
			because = inst.proc.ExitText()
		}
		return because
	}
	select {
	case <-inst.proc.Exited():
	default:
		return "its Swank connection broke: " + fmt.Sprint(inst.conn.Err())
	}
	if because != "" {
		return because
	}
	return inst.proc.ExitText()
}

// dir is the image's own directory, if it is ours, and else "".
func (inst *instance) dir() string {
	if p, ok := inst.proc.(*launch.Process); ok {
		return p.Dir()
	}
	return ""
}

// death returns what has ended the image.
func (inst *instance) death() restore.Death {
	switch {
	case inst.killed.Load():
		return restore.ByUs
	case inst.endedFromOutside():
		return restore.FromOutside
	default:
		return restore.ByItself
	}
}

// endedFromOutside reports whether a signal has ended the image that people and
// systems send, and we have not.
func (inst *instance) endedFromOutside() bool {
	inst.mu.Lock()
	ours := inst.because != ""
	inst.mu.Unlock()
	p, ok := inst.proc.(*launch.Process)
	return ok && !ours && p.EndedBy(syscall.SIGKILL, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
}
