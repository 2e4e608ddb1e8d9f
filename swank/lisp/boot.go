package lisp

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"swank-mcp/sexp"
)

//go:embed helper/boot.lisp
var bootMain []byte

//go:embed helper/boot-policy.lisp
var bootPolicy []byte

// bootSource is the first file of a launched image; see its header for the
// protocol that this file speaks.
var bootSource = slices.Concat(bootMain, []byte("\n"), bootPolicy)

const (
	// initSeconds bounds the loading of the person's init file.
	initSeconds = 60
	// coreBoot is how long an image may take from its core to its first
	// status. Milliseconds are usual; a core that needs more is broken.
	coreBoot = 15 * time.Second
	// launchedMark is boot.lisp's *LAUNCHED-MARK*.
	launchedMark = "--swank-mcp"
	// maxSocketPath is below the smallest sun_path of the systems we know.
	maxSocketPath = 100
)

// parameters is what boot.lisp reads from descriptor 3.
type parameters struct {
	Socket      string   `sexp:"socket,omitzero"` // absent: loopback TCP
	SwankDir    string   `sexp:"swank-dir,omitzero"`
	FaslDir     string   `sexp:"fasl-dir,omitzero"`
	Boot        string   `sexp:"boot,omitzero"`
	BootFasl    string   `sexp:"boot-fasl,omitzero"`
	Helper      []string `sexp:"helper,omitzero"`       // its parts
	HelperFasl  string   `sexp:"helper-fasl,omitzero"`  // made of them
	InitSeconds int      `sexp:"init-seconds,omitzero"` // absent: no init file
	Save        string   `sexp:"save,omitzero"`         // save a core there instead of serving
}

// imageStatus is one message on descriptor 4.
type imageStatus struct {
	Booted         bool     `sexp:"booted"` // Swank and the helper are in, the init file not yet
	Failed         string   `sexp:"failed"`
	Without        string   `sexp:"without"` // the module of SBCL's that was missing
	Home           string   `sexp:"home"`    // where it was looked for; may be ""
	Ready          bool     `sexp:"ready"`
	PID            int      `sexp:"pid"`
	Network        string   `sexp:"network"`
	Address        string   `sexp:"address"`
	Implementation string   `sexp:"implementation"`
	Swank          string   `sexp:"swank"`
	Core           bool     `sexp:"core"`
	InitError      string   `sexp:"init-error"`
	HelperWarnings string   `sexp:"helper-warnings"`
	Notes          []string `sexp:"notes"`
}

func parseStatus(message []byte) (s imageStatus, err error) {
	if err := sexp.Unmarshal(message, &s); err != nil {
		return s, fmt.Errorf("status %q: %w", message, err)
	}
	return s, nil
}

// launchPlan is one way to start an image.
type launchPlan struct {
	core     string // start from this core; "" loads Swank and the helper
	scratch  bool   // keep nothing in the cache, use nothing of it
	userInit bool   // load ~/.sbclrc
	save     string // save a core to this file instead of serving
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

// startProcess starts the image that c describes, with helper, the source of
// package SWANK-MCP, loaded, and returns when it serves. What does not work
// because of a cached file or of the person's init file is tried again
// without it and noted. The error is a [*StartError].
func startProcess(ctx context.Context, c Config, helper [][]byte) (*process, error) {
	if !canLaunch {
		return nil, &StartError{
			Problem: "no image can be started on this system: an image is told to end, and tells how it is, through inherited descriptors, which " + runtime.GOOS + " has not",
			Advice:  "Start Lisp with Swank in it, by SLIME or (swank:create-server :port 4005 :dont-close t), and this server with --attach 127.0.0.1:4005.",
		}
	}
	sweep()
	files, err := findImageFiles(ctx, c, helper)
	if err != nil {
		return nil, err
	}
	plan := launchPlan{userInit: !c.NoUserInit, scratch: files.cacheProblem != ""}
	if !c.NoCore && files.hasCore() {
		plan.core = files.corePath()
	}
	var notes []string
	badCore, badCache := "", false
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
			notes = append(notes, "Started without ~/.sbclrc, because loading it ended the image: "+failure.reason)
		case plan.core != "":
			badCore, plan.core = plan.core, ""
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
	problem := fmt.Sprintf("%s did not start an image with the Swank of %s: %v", f.sbcl, f.swank, err)
	var failure *launchError
	if errors.As(err, &failure) && failure.stderr != "" {
		problem += "\nIts error output ended:\n" + failure.stderr
	}
	advice := askDoctor
	if failure != nil && failure.advice != "" {
		advice = failure.advice
	}
	return &StartError{Problem: problem, Advice: advice, told: err}
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
func (f *imageFiles) launch(ctx context.Context, plan launchPlan) (_ *process, err error) {
	fail := func(err error) (*process, error) { return nil, &launchError{reason: err.Error(), err: err} }
	runDir, err := makeRunDir(f.runBase)
	if err != nil {
		return fail(fmt.Errorf("making a private directory: %w", err))
	}
	held := holdDir(runDir)
	owned := false
	defer func() {
		if !owned {
			_ = os.RemoveAll(runDir)
			_ = held.Close()
		}
	}()
	par := parameters{Socket: filepath.Join(runDir, "swank.sock"), Save: plan.save}
	if len(par.Socket) > maxSocketPath || !ascii(par.Socket) {
		par.Socket = ""
	}
	if plan.userInit {
		par.InitSeconds = initSeconds
	}
	args := f.runtimeOptions(plan.core)
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
	if plan.core != "" && plan.core == f.corePath() {
		sound = f.checkCore()
	}
	p, err := spawn(f.sbcl, args, f.dir, append(message, 0))
	if err != nil {
		_ = finish(false)
		return fail(err)
	}
	owned = true
	p.runDir, p.held, p.image, p.fromCore = runDir, held, f, plan.core != ""
	if plan.save != "" {
		lowerPriority(p.pid())
	}
	booted, err := p.awaitReady(ctx, plan)
	if damage := sound(); damage != nil {
		booted, err = false, damage // whatever it has come to
	}
	if noteErr := finish(booted); noteErr != nil {
		p.notes = append(p.notes, noteErr.Error())
	}
	if err != nil {
		return nil, p.abandon(ctx, booted, err)
	}
	p.notes = append(p.notes, p.status.Notes...)
	if f.cacheProblem != "" && plan.core == "" {
		p.notes = append(p.notes, f.cacheProblem)
	}
	if p.status.InitError != "" {
		p.notes = append(p.notes, "~/.sbclrc was not loaded to its end: "+p.status.InitError)
	}
	return p, nil
}

// awaitReady follows the image until it serves, or, when it saves a core,
// until it has ended.
func (p *process) awaitReady(ctx context.Context, plan launchPlan) (booted bool, err error) {
	bootCtx := ctx
	if plan.core != "" {
		var cancel context.CancelFunc
		bootCtx, cancel = context.WithTimeoutCause(ctx, coreBoot, fmt.Errorf("no sign of life for %v", coreBoot))
		defer cancel()
	}
	for !p.status.Ready {
		if p.status, err = p.awaitStatus(bootCtx); err != nil {
			return booted, err
		}
		if p.status.Failed != "" {
			return booted, errors.New(p.status.Failed)
		}
		if p.status.Booted {
			booted, bootCtx = true, ctx
		}
		if booted && plan.save != "" {
			select {
			case <-p.done:
				if p.cmd.ProcessState.Success() {
					return true, nil
				}
				return true, errors.New("saving the core failed")
			case <-ctx.Done():
				return true, context.Cause(ctx)
			}
		}
	}
	err = p.report.Close()
	p.report = nil
	return true, err
}

// abandon ends an image that did not come up and says what it was.
func (p *process) abandon(ctx context.Context, booted bool, cause error) error {
	if ctx.Err() == nil { // it closed the status pipe: it has ended, or is about to
		select {
		case <-p.done:
		case <-time.After(closeGrace):
		}
	}
	ended := p.hasExited()
	p.close(ctx)
	reason, advice := cause.Error(), ""
	switch {
	case p.status.Without != "":
		why, _, _ := strings.Cut(p.status.Failed, "\nSee also:")
		reason = fmt.Sprintf("this SBCL lacks its module %s, a file of the directory contrib in its home (%s): %s",
			p.status.Without, cmp.Or(p.status.Home, "it finds none"), why)
		if advice = homeAdvice(); advice == "" {
			advice = installAdvice("sbcl") + ", or name an SBCL that has it with --sbcl, or set SBCL_HOME to the directory that holds contrib."
		}
	case p.status.Failed != "": // it said why itself
	case ctx.Err() != nil:
		reason = "the start was given up: " + reason
	case ended:
		reason = p.exitText()
		if strings.Contains(p.lastErrors(), "sbcl.core") {
			advice = homeAdvice()
		}
	}
	return &launchError{booted: booted, reason: reason, advice: advice, stderr: p.lastErrors(), err: cause}
}

// runtimeOptions returns what SBCL's C runtime is told. Neither
// --lose-on-corruption, which makes every stack overflow fatal, nor
// --disable-debugger, which makes every thread's error fatal, is among it.
func (f *imageFiles) runtimeOptions(core string) []string {
	var args []string
	if core != "" {
		args = append(args, "--core", core)
	}
	args = append(args, "--noinform", "--disable-ldb",
		"--dynamic-space-size", strconv.Itoa(f.heapMB)+"MB",
		"--control-stack-size", strconv.Itoa(f.stackMB)+"MB",
		"--end-runtime-options")
	if core != "" {
		args = append(args, launchedMark) // without it, the core is a plain SBCL
	}
	return args
}

// bootOptions returns what SBCL's toplevel is told in an image without a core.
// The compiler's remarks on boot.lisp as source are of no use to anybody: the
// compiled file has none, and a test says so.
func bootOptions(par parameters) []string {
	load := fmt.Sprintf(
		"(handler-case (load (sb-ext:parse-native-namestring %s))"+
			" (error () (handler-bind ((warning (function muffle-warning)))"+
			" (with-compilation-unit () (load (sb-ext:parse-native-namestring %s))))))",
		lispString(par.BootFasl), lispString(par.Boot))
	return []string{"--no-sysinit", "--no-userinit", "--eval", load, "--eval", "(swank-mcp-boot::launch)"}
}

func lispString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// runPrefix begins the names of the directories of images.
const runPrefix = "swank-mcp.image-"

// runBases returns the directories in which an image's private directory may
// be made, best first.
func runBases() []string { return []string{os.Getenv("XDG_RUNTIME_DIR"), os.TempDir(), "/tmp"} }

// makeRunDir makes a directory that only we can enter in the first of bases
// that allows it and leaves room for a socket's name, else in the first that
// allows it: Swank then listens on the loopback interface. In which encoding Lisp
// takes the name of a socket depends on the locale: it has to be ASCII.
func makeRunDir(bases []string) (string, error) {
	roomy := func(base string) bool {
		return ascii(base) && len(base)+len("/"+runPrefix+"0123456789/swank.sock") <= maxSocketPath
	}
	bases = slices.DeleteFunc(slices.Clone(bases), func(base string) bool { return !filepath.IsAbs(base) })
	slices.SortStableFunc(bases, func(a, b string) int {
		switch {
		case roomy(a) == roomy(b):
			return 0
		case roomy(a):
			return -1
		default:
			return 1
		}
	})
	err := errors.New("no directory for temporary files")
	for _, base := range bases {
		var dir string
		if dir, err = os.MkdirTemp(base, runPrefix); err == nil {
			return dir, nil
		}
	}
	return "", err
}
