package lisp

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/launch"
)

// freshUse is what a fresh image is for.
type freshUse struct {
	System string // its name, or the path of its definition
	Tests  bool   // its tests are run, too
}

// Fresh is what came of loading a system, or of running its tests, in a fresh image.
type Fresh struct {
	Tests  *Tests  // nil if the system was only loaded
	Result *Result // as of [Session.LoadSystem] or [Session.RunTests]

	Compared bool         // with the session's last run of the same tests; false: there was none, or these have not run
	Changed  []TestChange // the tests that ended otherwise there
	Missing  []Missing    // the functions and variables that were undefined
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
	use := freshUse{system, tests}
	err = s.alone(ctx, "fresh "+system, r.Timeout, func() error {
		if f, err = s.im.runFresh(ctx, use, test, r); err == nil {
			s.compare(ctx, use, test, f)
		}
		return err
	})
	return f, err
}

// runFresh starts the image from a core that has what the project needs, if there is one,
// and sees to it that there will be one.
func (im *Image) runFresh(ctx context.Context, use freshUse, test string, r Request) (*Fresh, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(im.ctx, func() { cancel(ErrClosed) })()
	core := launch.ProjectCore(ctx, im.cfg.Launch, launchCode(), im.useText(ctx, use))
	f, err := im.freshFrom(ctx, core, use, test, r)
	if err == nil && core != "" && f.Result.Failure != nil && f.Result.Failure.Type == otherDependencies {
		f, err = im.freshFrom(ctx, "", use, test, r)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return f, err
}

// otherDependencies is how a fresh image refuses a core that has not just what is needed.
const otherDependencies = "OTHER-DEPENDENCIES"

func (im *Image) freshFrom(ctx context.Context, core string, use freshUse, test string, r Request) (*Fresh, error) {
	c := im.cfg.Launch
	c.Core = core
	other := New(Config{Launch: c, NoRecovery: true, once: true, Log: im.log})
	other.WorkIn(im.Project(ctx).Dirs...)
	end := sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
		defer cancel()
		_ = other.Close(ctx) // what is left then is killed with the server
	})
	defer end()
	defer context.AfterFunc(ctx, end)()
	inst, err := other.acquire(ctx, 0)
	if err != nil {
		return nil, err
	}
	own := im.ownSystems(ctx, use.System)
	call := helper.NewCall("PREPARE-FRESH").Str(filepath.Join(inst.dir(), "fasl") + "/")
	for _, name := range own {
		call.Str(name)
	}
	if _, err := inst.ask(ctx, call); err != nil {
		return nil, err
	}
	f, s := new(Fresh), other.Session(defaultSession)
	if use.Tests {
		f.Tests, f.Result, err = s.RunTests(ctx, use.System, test, r)
	} else {
		f.Result, err = s.LoadSystem(ctx, use.System, false, r)
	}
	if err != nil || inst.over() {
		return f, err
	}
	needs, missing, err := inst.needs(ctx, use, own)
	if err != nil {
		im.log.Warn("asking a fresh image what it needed", "err", err)
		return f, nil
	}
	f.Missing = missing
	if p, ok := inst.proc.(*launch.Process); ok && core == "" {
		im.buildProjectCore(p, im.useText(ctx, use), needs)
	}
	return f, nil
}

// needs asks inst what use needs that has none of the primary names own, and what was
// undefined.
func (inst *instance) needs(ctx context.Context, use freshUse, own []string) ([]launch.Need, []Missing, error) {
	ctx, cancel := context.WithTimeout(ctx, needsTimeout)
	defer cancel()
	call := helper.NewCall("SYSTEM-NEEDS").Str(use.System)
	if use.Tests {
		call.Yes()
	} else {
		call.No()
	}
	for _, name := range own {
		call.Str(name)
	}
	var w struct {
		Needs   []launch.Need `sexp:"needs"`
		Missing []Missing     `sexp:"missing"`
	}
	answer, err := inst.askQuery(ctx, call)
	if err == nil {
		err = helper.Decode(answer, &w)
	}
	return w.Needs, w.Missing, err
}

// needsTimeout is how long an image may take to tell what a system needs.
const needsTimeout = 10 * time.Second

// compare adds to f what differs from the session and its image.
func (s *Session) compare(ctx context.Context, use freshUse, test string, f *Fresh) {
	if f.Tests != nil && f.Tests.Begun {
		if last, ok := s.runs.of(use, test); ok {
			f.Changed, f.Compared = changes(last, f.Tests.Ran), true
		}
	}
	inst, err := s.im.running(ctx)
	if err != nil || inst == nil || len(f.Missing) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
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
// which system is one.
func (im *Image) ownSystems(ctx context.Context, system string) []string {
	return append(im.Project(ctx).Systems(), primaryName(system))
}

// primaryName is the name of the system that is called after the file in which system, a
// name or the path of a definition, is defined.
func primaryName(system string) string {
	if strings.HasSuffix(system, ".asd") {
		system = strings.TrimSuffix(filepath.Base(system), ".asd")
	}
	name, _, _ := strings.Cut(strings.ToLower(system), "/")
	return name
}
