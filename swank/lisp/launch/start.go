package launch

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"swank-mcp/internal/files"
	"swank-mcp/sexp"
	"swank-mcp/swank/lisp/host"
)

// launchPlan is one way to start an image.
type launchPlan struct {
	core     string   // start from this core; "" loads Swank and the helper
	file     *os.File // the core, open, where another may be at its path by now; or nil
	sealed   bool     // the core was checked before it got its name, and has a checksum
	scratch  bool     // keep nothing in the cache, use nothing of it
	userInit bool     // load ~/.sbclrc
	save     string   // save a core to this file instead of serving
	systems  string   // a file that names the systems that the core is to have beside
	trusted  bool     // no code but ours runs in it: it is not confined
}

// launchError is how one attempt ended.
type launchError struct {
	booted bool // Swank and the helper were in
	advice string
	reason string
	stderr string
	err    error
}

func (e *launchError) Error() string { return e.reason }
func (e *launchError) Unwrap() error { return e.err }

// Start starts the image that c describes, with code loaded, and returns when it
// serves. What does not work because of a cached file or of the person's init
// file is tried again without it and noted. The error is a [*host.StartError].
// The caller closes the process.
func Start(ctx context.Context, c Config, code Code) (*Process, error) {
	if !canLaunch {
		return nil, &host.StartError{
			Problem: "no image can be started on this system: an image is told to end, and tells how it is, through inherited descriptors, which " + runtime.GOOS + " has not",
			Advice:  "Start Lisp with Swank in it, by SLIME or (swank:create-server :port 4005 :dont-close t), and this server with --attach 127.0.0.1:4005.",
		}
	}
	sweep()
	files, err := findImageFiles(ctx, c, code)
	if err != nil {
		return nil, err
	}
	plan := launchPlan{userInit: !c.NoUserInit, scratch: files.cacheProblem != ""}
	switch {
	case c.Core != "":
		plan.core, plan.sealed = c.Core, true
	case !c.NoCore && files.hasCore():
		plan.core, plan.sealed = files.corePath(), true
	}
	var notes []string
	badCore, badCache := "", false
	if files.sandbox != nil && plan.core == "" {
		if plan, err = files.planConfined(ctx, plan); err != nil {
			notes = append(notes, err.Error())
		}
	}
	for {
		p, err := files.launch(ctx, plan)
		if err == nil {
			if badCore != "" {
				_ = os.Remove(badCore) // the fault was the core's, not the machine's
			}
			if badCache {
				files.forget()
			}
			p.notes = append(notes, p.notes...)
			return p, nil
		}
		var failure *launchError
		if !errors.As(err, &failure) || ctx.Err() != nil {
			return nil, files.startError(err)
		}
		switch {
		case failure.booted && plan.userInit:
			plan.userInit = false
			notes = append(notes, "Started without ~/.sbclrc, because the image did not come up with it: "+failure.reason)
		case plan.core != "":
			badCore, plan.core = plan.core, ""
			plan.scratch = plan.scratch || files.sandbox != nil // the cache is not the image's to write
			notes = append(notes, "The cached core did not start and is built anew: "+failure.reason)
		case !plan.scratch:
			plan.scratch, badCache = true, true
			notes = append(notes, "Started without the cache: "+failure.reason)
		default:
			return nil, files.startError(err)
		}
	}
}

func (f *imageFiles) startError(err error) error {
	if errors.Is(err, errRefused) {
		return &host.StartError{Problem: err.Error(), Told: err}
	}
	problem := fmt.Sprintf("%s did not start an image with the Swank of %s: %v", f.sbcl, f.swank, err)
	var failure *launchError
	if errors.As(err, &failure) && failure.stderr != "" {
		problem += "\nIts error output ended:\n" + failure.stderr
	}
	advice := askDoctor
	if failure != nil && failure.advice != "" {
		advice = failure.advice
	}
	return &host.StartError{Problem: problem, Advice: advice, Told: err}
}

// relativeHome names a variable of the environment by which ASDF finds files and that has no
// absolute path, which ASDF refuses; "" if there is none.
func relativeHome() string {
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"} {
		if value := os.Getenv(name); value != "" && !filepath.IsAbs(value) {
			return name
		}
	}
	return ""
}

// askDoctor is the advice where nothing better is known.
const askDoctor = "Run swank-mcp doctor to see which part fails."

// homeAdvice is what to do about an SBCL that lacks parts of itself: about
// SBCL_HOME if that is what misleads it.
func homeAdvice() string {
	home := os.Getenv("SBCL_HOME")
	if _, err := os.Stat(filepath.Join(home, "contrib")); home != "" && err != nil {
		return fmt.Sprintf("SBCL_HOME is %s, which has no directory contrib: unset it, or set it to SBCL's own, which has sbcl.core and contrib.", home)
	}
	return ""
}

// launch makes one attempt. Its error is a [*launchError], and nothing is
// left of it then.
func (f *imageFiles) launch(ctx context.Context, plan launchPlan) (_ *Process, err error) {
	fail := func(err error) (*Process, error) { return nil, &launchError{reason: err.Error(), err: err} }
	runDir, held, err := makeHeldDir(f.runBase)
	if err != nil {
		return fail(fmt.Errorf("making a private directory: %w", err))
	}
	owned := false
	defer func() {
		if !owned {
			_ = os.RemoveAll(runDir)
			_ = held.Close()
		}
	}()
	par := parameters{Socket: filepath.Join(runDir, "swank.sock"), Save: plan.save, Systems: plan.systems}
	if len(par.Socket) > maxSocketPath || !ascii(par.Socket) {
		if f.sandbox != nil {
			return nil, errLongSocket
		}
		par.Socket, par.Secret = "", rand.Text()
	}
	if plan.userInit {
		par.Init = true
	}
	core, handed := plan.core, plan.file
	if runtime.GOOS != "linux" {
		handed = nil // elsewhere nobody has tried to start a core by a descriptor
	}
	if handed != nil {
		core, par.CoreFD = fmt.Sprintf("/proc/self/fd/%d", coreFD), coreFD
	}
	args := f.runtimeOptions(core)
	finish := func(bool) error { return nil }
	if plan.core == "" {
		dir := ""
		if plan.scratch {
			dir = runDir
		}
		if finish, err = f.materialise(&par, dir); err != nil {
			return fail(err)
		}
		args = append(args, bootOptions(par)...)
	}
	message, err := sexp.Marshal(par)
	if err != nil {
		_ = finish(false)
		return fail(err)
	}
	sound := func() error { return nil }
	if plan.core != "" && plan.sealed {
		sound = checkCore(plan.core, plan.file)
	}
	var wrapped *Wrapped
	p, err := spawn(f.sbcl, args, f.dir, append(message, 0), handed, func(cmd *exec.Cmd) (err error) {
		wrapped, err = f.confine(ctx, cmd, plan, runDir)
		return err
	})
	if err != nil {
		wrapped.end()
		_ = finish(false)
		if errors.Is(err, errRefused) {
			return nil, err
		}
		return fail(err)
	}
	owned = true
	p.wrapped, p.secret = wrapped, par.Secret
	wrapped.started(p.PID())
	p.runDir, p.held, p.image, p.fromCore, p.core, p.socket = runDir, held, f, plan.core != "", plan.core, par.Socket
	if f.leavesProcessors(plan.save != "") {
		lowerPriority(p.PID())
	}
	booted, err := p.awaitReady(ctx, plan)
	if damage := sound(); damage != nil {
		booted, err = false, damage // however far it has come
	}
	if err != nil {
		err = p.abandon(ctx, booted, err)
		_ = finish(booted) // only now nothing writes there any more
		return nil, err
	}
	if noteErr := finish(booted); noteErr != nil {
		p.notes = append(p.notes, noteErr.Error())
	}
	p.first = p.status
	p.notes = append(p.notes, p.status.Notes...)
	if f.cacheProblem != "" && plan.core == "" {
		p.notes = append(p.notes, f.cacheProblem)
	}
	if p.status.InitError != "" {
		p.notes = append(p.notes, "~/.sbclrc was not loaded to its end: "+p.status.InitError)
	}
	return p, nil
}

// Resume starts an image from a core of [Copy.Save], as Start does otherwise. It goes on
// where that was saved, and the core, which has that checksum, stays whatever comes of it. What code puts
// in the place of the core meanwhile is not started.
func Resume(ctx context.Context, c Config, code Code, core string, sum uint32) (*Process, error) {
	sweep()
	image, err := findImageFiles(ctx, c, code)
	if err != nil {
		return nil, err
	}
	file, err := files.Open(core, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := sealedWith(file, sum); err != nil {
		return nil, err
	}
	p, err := image.launch(ctx, launchPlan{core: core, file: file, sealed: true})
	if err != nil {
		return nil, image.startError(err)
	}
	return p, nil
}

// Limits of the time during which an image could take its next step and did not. An image that
// takes longer never gets ready.
const (
	// startLimit limits an image that compiles Swank and the helper, or that runs no
	// code but ours until it is ready.
	startLimit = 3 * time.Minute
	// coreBoot limits an image from a core until its first status. Milliseconds are usual.
	coreBoot = 40 * time.Second
	// systemsLimit limits an image that loads systems, which may have to be compiled.
	systemsLimit = 10 * time.Minute
)

// initLimit limits an image that loads the person's init file. Only a test changes it.
var initLimit = time.Minute

// limits returns that of the first status of an image, and that of the time after.
func (plan launchPlan) limits() (boot, rest time.Duration) {
	boot, rest = startLimit, startLimit
	if plan.core != "" {
		boot = coreBoot
	}
	switch {
	case plan.systems != "":
		rest = systemsLimit
	case plan.userInit:
		rest = initLimit
	}
	return boot, rest
}

// awaitReady follows the image until it serves, or, when it saves a core,
// until it has ended.
func (p *Process) awaitReady(ctx context.Context, plan launchPlan) (booted bool, err error) {
	boot, rest := plan.limits()
	bounded, cancel := host.Within(ctx, p.pid, boot, fmt.Errorf("no sign of life for %v", boot))
	defer func() { cancel() }()
	for !p.status.Ready {
		if p.status, err = p.awaitStatus(bounded); err != nil {
			return booted, err
		}
		if p.status.Failed != "" {
			return booted, errors.New(p.status.Failed)
		}
		if p.status.Booted {
			booted = true
			cancel()
			bounded, cancel = host.Within(ctx, p.pid, rest, fmt.Errorf("it was not ready after %v", rest))
		}
		if booted && plan.save != "" {
			select {
			case <-p.done:
				if p.state.Success() {
					return true, nil
				}
				// What it said before it ended is in the pipe.
				if status, err := p.awaitStatus(bounded); err == nil && status.Failed != "" {
					p.status = status
					return true, errors.New(status.Failed)
				}
				return true, errors.New("saving the core failed")
			case <-bounded.Done():
				return true, context.Cause(bounded)
			}
		}
	}
	err = p.report.Close()
	p.report = nil
	return true, err
}

// endTime is for how long an image that has closed its status pipe may be able to end and not do
// it: then it does something else.
const endTime = time.Second / 2

// abandon ends an image that did not come up and says what it was.
func (p *Process) abandon(ctx context.Context, booted bool, cause error) error {
	if ctx.Err() == nil { // it closed the status pipe: it has ended, or is about to
		lives, cancel := host.Within(ctx, p.pid, endTime, cause)
		select {
		case <-p.done:
		case <-lives.Done():
		}
		cancel()
	}
	ended := p.HasExited()
	p.Close(ctx)
	reason, advice := cause.Error(), ""
	switch {
	case p.status.Without != "" && relativeHome() != "":
		reason = fmt.Sprintf("SBCL cannot load its module %s, because %s is %q in the environment, which is no absolute path", p.status.Without, relativeHome(), os.Getenv(relativeHome()))
		advice = fmt.Sprintf("Start swank-mcp with an absolute path in %s.", relativeHome())
	case p.status.Without != "":
		why, _, _ := strings.Cut(p.status.Failed, "\nSee also:")
		reason = fmt.Sprintf("this SBCL lacks its module %s, a file of the directory contrib in its home (%s): %s",
			p.status.Without, cmp.Or(p.status.Home, "it finds none"), why)
		if advice = homeAdvice(); advice == "" {
			advice = installAdvice("sbcl") + ", or name an SBCL that has it with --sbcl, or set SBCL_HOME to the directory that holds contrib."
		}
	case p.status.Failed != "", errors.Is(cause, errDamagedCore): // it is said why
	case ctx.Err() != nil:
		reason = "the start was given up: " + reason
	case ended:
		reason = p.ExitText()
		if strings.Contains(p.LastErrors(), "sbcl.core") {
			advice = homeAdvice()
		}
	}
	return &launchError{booted: booted, reason: reason, advice: advice, stderr: p.LastErrors(), err: cause}
}
