package lisp

import (
	"context"
	"path/filepath"
	"strings"
	"sync"

	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/launch"
)

// freshUse names what a fresh image loads.
type freshUse struct {
	Systems []string // their names, or the paths of their definitions, in the order of loading
	Tests   bool     // the tests of the first are run, too
}

// Fresh is what came of loading a system, or of running its tests, in a fresh image.
type Fresh struct {
	Tests  *Tests  // nil if the system was only loaded
	Result *Result // as of [Session.LoadSystem] or [Session.RunTests]

	Compared *Comparison // with what is recorded of the session's runs of the same tests; nil: these have not run
	Missing  []Missing   // the functions and variables that were undefined
}

// TestChange is a test that has not ended as in the session's last run. "" is one that
// did not run.
type TestChange struct{ Test, Session, Fresh string }

// Missing is a function or variable that is called, or read, and not defined.
type Missing struct {
	_       struct{} `sexp:",list"`
	Kind    string   // function or variable
	Name    string   // with its package
	Package string
	Symbol  string
	Setf    bool
	InImage bool `sexp:"-"` // the session's image has it
}

// Fresh loads a system, and if tests is true runs the named test, or with "" all of its
// tests, in an image that is started for that, has only what the files say, and ends with
// the call. The files of the project are compiled anew, into a directory that goes with
// the image. It is a launched image also where the session's is attached. Fresh holds the
// turn of the session, whose image stays as it is. The error is that of [Session.Evaluate].
func (s *Session) Fresh(ctx context.Context, system string, tests bool, test string, r Request) (f *Fresh, err error) {
	s.im.lookAtProject(ctx)
	use := freshUse{[]string{system}, tests}
	err = s.alone(ctx, "fresh "+system, r.Timeout, func() error {
		if f, err = s.im.runFresh(ctx, use, test, r, nil); err == nil {
			s.compare(ctx, use, test, f)
		}
		return err
	})
	return f, err
}

// freshRun is one run in a fresh image.
type freshRun struct {
	im   *Image // the session's
	use  freshUse
	test string
	r    Request
	own  []string // primary names of the systems that are the project's
	text string   // of use

	// look, unless nil, is called after the run, before the image ends.
	look func(context.Context, *instance, *Result) error

	core string // from which the image is started; "" is that without what the project needs
	anew bool   // compile every file

	needs needs
}

// needs is what a fresh image tells after its run.
type needs struct {
	Needs    []launch.Need `sexp:"needs"`
	Missing  []Missing     `sexp:"missing"`
	Taken    int           `sexp:"taken"`    // of the project's fasls, from those that are kept
	Compiled int           `sexp:"compiled"` // of its files
	Doubt    bool          `sexp:"doubt"`    // a fasl that was taken needs what is not there
}

// runFresh starts the image from a core that has what the project needs, if there is one,
// and sees to it that there will be one.
func (im *Image) runFresh(ctx context.Context, use freshUse, test string, r Request, look func(context.Context, *instance, *Result) error) (*Fresh, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(im.ctx, func() { cancel(ErrClosed) })()
	run := freshRun{im: im, use: use, test: test, r: r, own: im.ownSystems(ctx, use.Systems), text: im.useText(ctx, use), look: look}
	run.core = launch.ProjectCore(ctx, im.cfg.Launch, launchCode(), run.text)
	run.anew = r.Debug != defaultDebug
	f, err := run.once(ctx)
	if err == nil && run.core != "" && f.Result.Failure != nil && f.Result.Failure.Type == otherDependencies {
		run.core = ""
		f, err = run.once(ctx)
	}
	if err == nil && run.doubtful(f) {
		run.anew = true
		f, err = run.once(ctx)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return f, err
}

// otherDependencies is how a fresh image refuses a core that has not just what is needed.
const otherDependencies = "OTHER-DEPENDENCIES"

// doubtful reports whether f may be otherwise when every file is compiled: what is done
// only when a file is compiled was not done for those whose fasls were taken.
func (run *freshRun) doubtful(f *Fresh) bool {
	n := &run.needs
	switch failure := f.Result.Failure; {
	case n.Taken == 0 || failure != nil && (failure.Kind == KindTimeout || failure.Kind == KindCancelled || failure.Kind == KindStopped):
		return false
	case n.Doubt:
		return true
	case n.Compiled == 0: // all is as it was when it was compiled
		return false
	default:
		return failure != nil || len(f.Missing) > 0 || f.Tests != nil && f.Tests.Failed+f.Tests.Errors > 0
	}
}

// once does the run in an image that it starts and closes.
func (run *freshRun) once(ctx context.Context) (*Fresh, error) {
	run.needs = needs{}
	c := run.im.cfg.Launch
	c.Core = run.core
	other := New(Config{Launch: c, NoRecovery: true, once: true, parent: run.im, Log: run.im.log})
	other.WorkIn(run.im.Project(ctx).Dirs...)
	defer run.im.adopt(other)()
	end := sync.OnceFunc(func() {
		run.im.count(other)
		_ = other.Close(context.Background())
	})
	ended := false // or will be, in the background
	defer func() {
		if !ended {
			end()
		}
	}()
	defer context.AfterFunc(ctx, end)()
	inst, err := other.acquire(ctx, 0)
	if err != nil {
		return nil, err
	}
	proc, ok := inst.proc.(*launch.Process)
	if !ok {
		return nil, errNotBegun
	}
	call := helper.NewCall("PREPARE-FRESH").Str(filepath.Join(proc.Dir(), "fasl") + "/")
	if kept := proc.KeptFasls(); kept != "" && !run.anew {
		call.Str(kept)
	} else {
		call.No()
	}
	call.Quote(len(run.use.Systems), func(i int) { call.Str(run.use.Systems[i]) })
	if _, err := inst.ask(ctx, call.Strs(run.own)); err != nil {
		return nil, err
	}
	f, err := run.do(ctx, other.Session(defaultSession))
	if err != nil {
		return nil, err
	}
	if run.look != nil {
		if err := run.look(ctx, inst, f.Result); err != nil {
			return nil, err
		}
	}
	if inst.over() { // how many fasls it has taken is not known
		run.needs.Taken, run.needs.Doubt = 1, !run.anew
		return f, nil
	}
	if run.needs, err = inst.needs(ctx, run.use, run.own); err != nil {
		run.im.log.Warn("asking a fresh image what it needed", "err", err)
		return f, nil
	}
	f.Missing = run.needs.Missing
	build, text, needs := run.core == "", run.text, run.needs.Needs
	ended = run.im.inBackground(func() { // the caller need not wait for what helps the next run only
		inst.keepFasls(run.im.ctx)
		end()
		if build {
			run.im.buildCoreFor(proc, text, needs)
		}
	})
	return f, nil
}

// do loads the systems in s, or runs the tests.
func (run *freshRun) do(ctx context.Context, s *Session) (f *Fresh, err error) {
	f = new(Fresh)
	if run.use.Tests {
		f.Tests, f.Result, err = s.RunTests(ctx, run.use.Systems[0], run.test, run.r)
		return f, err
	}
	for _, system := range run.use.Systems {
		if f.Result, err = s.LoadSystem(ctx, system, false, run.r); err != nil || f.Result.Failure != nil {
			break
		}
	}
	return f, err
}

// keepFasls has inst keep what it has compiled.
func (inst *instance) keepFasls(ctx context.Context) {
	ctx, cancel := inst.forAnswer(ctx)
	defer cancel()
	_, _ = inst.askQuery(ctx, helper.NewCall("KEEP-FASLS")) // without them the next run takes longer
}

// needs asks inst what use needs that has none of the primary names own, and what was
// undefined.
func (inst *instance) needs(ctx context.Context, use freshUse, own []string) (n needs, err error) {
	ctx, cancel := inst.forAnswer(ctx)
	defer cancel()
	call := helper.NewCall("SYSTEM-NEEDS")
	call.Quote(len(use.Systems), func(i int) { call.Str(use.Systems[i]) })
	if use.Tests {
		call.Yes()
	} else {
		call.No()
	}
	answer, err := inst.askQuery(ctx, call.Strs(own))
	if err == nil {
		err = helper.Decode(answer, &n)
	}
	return n, err
}

// compare adds to f what differs from the session and its image.
func (s *Session) compare(ctx context.Context, use freshUse, test string, f *Fresh) {
	if f.Tests != nil && f.Tests.Begun {
		record := s.runs.of(use.Systems[0], test)
		f.Compared = record.compare(f.Tests, f.Result)
	}
	inst, err := s.im.running(ctx)
	if err != nil || inst == nil || len(f.Missing) == 0 {
		return
	}
	ctx, cancel := inst.forAnswer(ctx)
	defer cancel()
	call := helper.NewCall("DEFINED-NAMES")
	call.Quote(len(f.Missing), func(i int) {
		m := f.Missing[i]
		call.Str(m.Kind).Str(m.Name).Str(m.Package).Str(m.Symbol)
		if m.Setf {
			call.Yes()
		}
	})
	var there []string
	answer, err := inst.askQuery(ctx, call)
	if err == nil {
		err = helper.Decode(answer, &there)
	}
	if err != nil {
		s.im.log.Warn("asking the image what it has", "err", err)
	}
	for i := range f.Missing {
		for _, name := range there {
			f.Missing[i].InImage = f.Missing[i].InImage || name == f.Missing[i].Name
		}
	}
}

// ownSystems returns the primary names of the systems that count as the project's, of
// which systems are some.
func (im *Image) ownSystems(ctx context.Context, systems []string) []string {
	own := im.Project(ctx).Systems()
	for _, system := range systems {
		own = append(own, primaryName(system))
	}
	return own
}

// primaryName is the name of the system that is called after the file in which system, a
// name or the path of a definition, is defined.
func primaryName(system string) string {
	if strings.HasSuffix(system, ".asd") {
		system = strings.TrimSuffix(filepath.Base(system), ".asd")
	}
	name, _, _ := strings.Cut(system, "/")
	return name
}
