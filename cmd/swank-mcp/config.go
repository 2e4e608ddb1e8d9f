package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"swank-mcp/internal/rundir"
	"swank-mcp/mcpbridge"
	"swank-mcp/sandbox"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/attach"
	"swank-mcp/swank/lisp/kept"
	"swank-mcp/swank/lisp/launch"
)

type config struct {
	timeout, maxTimeout time.Duration
	maxOutput           int
	session, sessionDir string
	steps               int    // of undo
	to                  string // of undo: a checkpoint
	project             string // a directory; "": CLAUDE_PROJECT_DIR, what the client says, or the working directory
	watchFiles          bool
	noJournal           bool
	noTranscript        bool
	json                bool     // of ps and watch
	web, open           bool     // of watch
	client              string   // of install
	print, uninstall    bool     // of install
	ofServer            []string // flags of the server that were given to another command
	tools               mcpbridge.Selection
	lisp                lisp.Config
	attach              string // HOST:PORT or unix:PATH
	allowRemote         bool
	http                httpConfig // of serve --http
	url                 string     // of eval and doctor: a session of a server over HTTP
	sandboxed           sandboxFlags
	limits              limits
	trace               string
	logLevel            slog.Level
}

// flags declares every flag on c, with its default. Usage is usage.go's.
func (c *config) flags() *flag.FlagSet {
	fs := flag.NewFlagSet("swank-mcp", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are reported by run
	c.timeout, c.maxTimeout = mcpbridge.DefaultTimeout, mcpbridge.DefaultMaxTimeout
	c.logLevel = slog.LevelWarn
	fs.StringVar(&c.project, "project", "", "")
	fs.BoolVar(&c.watchFiles, "watch-files", false, "")
	fs.Var((*secondsFlag)(&c.timeout), "timeout", "")
	fs.Var((*secondsFlag)(&c.maxTimeout), "max-timeout", "")
	c.lisp.SuspendLimit, c.lisp.Memory = lisp.DefaultSuspendLimit, memory()
	fs.Var((*secondsFlag)(&c.lisp.SuspendLimit), "suspend-limit", "")
	fs.IntVar(&c.maxOutput, "max-output", mcpbridge.DefaultMaxOutput, "")
	fs.Var((*listFlag)(&c.tools.Toolsets), "toolsets", "")
	fs.Var((*listFlag)(&c.tools.Tools), "tools", "")
	fs.Var((*listFlag)(&c.tools.Exclude), "exclude-tools", "")
	fs.BoolVar(&c.tools.ReadOnly, "read-only", false, "")
	fs.StringVar(&c.attach, "attach", "", "")
	fs.StringVar(&c.lisp.Attach.Command, "attach-command", "", "")
	fs.BoolVar(&c.lisp.Echo, "echo", false, "")
	fs.BoolVar(&c.allowRemote, "allow-remote", false, "")
	fs.StringVar(&c.lisp.Launch.SBCL, "sbcl", "sbcl", "")
	fs.StringVar(&c.lisp.Launch.SwankDir, "swank-dir", "", "")
	fs.IntVar(&c.lisp.Launch.HeapMB, "heap", launch.DefaultHeapMB, "")
	fs.IntVar(&c.lisp.Launch.StackMB, "stack", launch.DefaultStackMB, "")
	fs.BoolVar(&c.lisp.Launch.NoUserInit, "no-userinit", false, "")
	fs.BoolVar(&c.lisp.Launch.NoCore, "no-core", false, "")
	c.sandboxed.mode = sandbox.Off
	fs.Var((*modeFlag)(&c.sandboxed.mode), "sandbox", "")
	fs.Var((*portsFlag)(&c.sandboxed.ports), "sandbox-net", "")
	fs.Var((*pathsFlag)(&c.sandboxed.reads), "sandbox-read", "")
	fs.Var((*limitsFlag)(&c.limits), "limits", "")
	fs.BoolVar(&c.lisp.NoRecovery, "no-recovery", false, "")
	fs.BoolVar(&c.lisp.NoCheckpoints, "no-checkpoints", false, "")
	fs.IntVar(&c.lisp.CheckpointMB, "checkpoint-memory", 0, "")
	fs.BoolVar(&c.lisp.Autosave, "autosave", false, "")
	fs.StringVar(&c.lisp.Resume, "resume", "", "")
	fs.BoolVar(&c.noJournal, "no-journal", false, "")
	fs.BoolVar(&c.noTranscript, "no-transcript", false, "")
	fs.BoolVar(&c.json, "json", false, "")
	fs.BoolVar(&c.web, "web", false, "")
	fs.BoolVar(&c.open, "open", false, "")
	fs.StringVar(&c.client, "client", "", "")
	fs.BoolVar(&c.print, "print", false, "")
	fs.BoolVar(&c.uninstall, "uninstall", false, "")
	fs.StringVar(&c.session, "session", mcpbridge.DefaultSession, "")
	fs.IntVar(&c.steps, "steps", 1, "")
	fs.StringVar(&c.to, "to", "", "")
	fs.StringVar(&c.sessionDir, "session-dir", "", "")
	fs.StringVar(&c.lisp.Launch.CacheDir, "cache-dir", "", "")
	fs.StringVar(&c.trace, "trace-swank", "", "")
	fs.TextVar(&c.logLevel, "log-level", c.logLevel, "")
	fs.StringVar(&c.url, "url", "", "")
	c.http.flags(fs)
	return fs
}

// parse reads the environment, then the command line: flags may stand before
// and after the command, whose name it returns.
func (c *command) parse(args []string) (name string, err error) {
	fs := c.flags()
	limited, boxed := false, false // --timeout, --sandbox are given
	fs.VisitAll(func(f *flag.Flag) {
		key := "SWANK_MCP_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if v, ok := os.LookupEnv(key); ok && err == nil {
			if e := f.Value.Set(v); e != nil {
				err = fmt.Errorf("%w: %s=%q: %w", errUsage, key, v, e)
			}
			limited, boxed = limited || f.Name == "timeout", boxed || f.Name == "sandbox"
		}
	})
	if err == nil {
		if e := rundir.Check(); e != nil {
			err = fmt.Errorf("%w: %w", errUsage, e)
		}
	}
	if err != nil {
		return "", err
	}
	name, rest := "serve", args
	for i := range 2 {
		if err := fs.Parse(rest); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return "", err
			}
			return "", fmt.Errorf("%w: %w", errUsage, err)
		}
		rest = fs.Args()
		if i == 0 && len(rest) > 0 {
			name, rest = rest[0], rest[1:]
		}
	}
	c.args = rest
	if slices.Contains(takeID, name) && len(rest) > 1 { // flags may stand after the ID, too
		if err := fs.Parse(rest[1:]); err != nil {
			return "", fmt.Errorf("%w: %w", errUsage, err)
		}
		c.args = append([]string{rest[0]}, fs.Args()...)
	}
	urlGiven := false
	var launching []string // flags of the command line, which win over the environment
	fs.Visit(func(f *flag.Flag) {
		limited, boxed = limited || f.Name == "timeout", boxed || f.Name == "sandbox"
		urlGiven = urlGiven || f.Name == "url"
		if slices.Contains(ofLaunching, f.Name) {
			launching = append(launching, "--"+f.Name)
		}
		if !slices.Contains(ofInstall, f.Name) {
			c.ofServer = append(c.ofServer, "--"+f.Name)
		}
	})
	if c.limits.wall > 0 {
		c.maxTimeout = min(c.maxTimeout, c.limits.wall)
	}
	if !limited { // the default follows the maximum
		c.timeout = min(c.timeout, c.maxTimeout)
	}
	if urlGiven && name != "eval" && name != "doctor" {
		return "", fmt.Errorf("%w: --url is for eval and doctor; %s has no use for it", errUsage, name)
	}
	if !boxed && c.http.place.Address != "" { // the code is that of many
		c.sandboxed.mode = sandbox.On
	}
	if attach := c.attaching(); attach != "" && len(launching) > 0 {
		return "", fmt.Errorf("%w: %s: only for a Lisp that is launched; with %s none is", errUsage, strings.Join(launching, ", "), attach)
	}
	return name, c.check()
}

// ofInstall are the flags that say what install is to do; all others are the server's.
var ofInstall = []string{"client", "project", "print", "uninstall"}

// ofLaunching are the flags that mean nothing to a Lisp that somebody else runs.
// In the environment they may stand beside --attach, as the defaults that they are.
var ofLaunching = []string{"sbcl", "swank-dir", "heap", "stack", "no-userinit", "no-core", "no-recovery", "no-journal", "no-checkpoints", "checkpoint-memory", "autosave", "resume", "cache-dir",
	"sandbox", "sandbox-net", "sandbox-read", "limits"}

// attaching returns the flag that names an image that runs, or "".
func (c *config) attaching() string {
	switch {
	case c.attach != "":
		return "--attach"
	case c.lisp.Attach.Command != "":
		return "--attach-command"
	}
	return ""
}

// sessionName are the names of sessions; they become part of a thread's name.
var sessionName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

func (c *config) check() error {
	if c.lisp.Echo && c.attaching() == "" {
		return fmt.Errorf("%w: --echo shows evaluations in the REPL of an image that somebody else works in: it needs --attach", errUsage)
	}
	if err := c.checkHTTP(); err != nil {
		return err
	}
	if err := c.checkLimits(); err != nil {
		return err
	}
	if err := c.checkURL(); err != nil {
		return err
	}
	if c.open && !c.web {
		return fmt.Errorf("%w: --open opens the page of watch --web; give both", errUsage)
	}
	if c.watchFiles && c.tools.ReadOnly {
		return fmt.Errorf("%w: --watch-files loads what is saved into the image, which --read-only leaves as it is; give one of the two", errUsage)
	}
	if c.attach != "" {
		if c.lisp.Attach.Command != "" {
			return fmt.Errorf("%w: --attach and --attach-command name two images; give one", errUsage)
		}
		target, err := attach.ParseTarget(c.attach, c.allowRemote)
		if err != nil {
			return fmt.Errorf("%w: --attach %s: %w", errUsage, c.attach, err)
		}
		c.lisp.Attach = target
	}
	switch {
	case c.maxTimeout < c.timeout:
		return fmt.Errorf("%w: --timeout %v is longer than --max-timeout %v", errUsage, c.timeout, c.maxTimeout)
	case c.maxOutput < 1000:
		return fmt.Errorf("%w: --max-output %d is less than 1000", errUsage, c.maxOutput)
	case !sessionName.MatchString(c.session):
		return fmt.Errorf("%w: --session %q is not 1 to 64 letters, digits and . _ -", errUsage, c.session)
	case c.lisp.Launch.HeapMB < 256:
		return fmt.Errorf("%w: --heap %d is less than 256", errUsage, c.lisp.Launch.HeapMB)
	case c.lisp.Autosave && (c.lisp.NoCheckpoints || c.lisp.NoRecovery):
		return fmt.Errorf("%w: --autosave saves checkpoints, which --no-checkpoints and --no-recovery turn off", errUsage)
	case c.lisp.Resume != "" && c.lisp.Resume != kept.Last && !kept.IsName(c.lisp.Resume):
		return fmt.Errorf("%w: --resume %q is not the name of a checkpoint on the disk; the newest is %s", errUsage, c.lisp.Resume, kept.Last)
	case c.lisp.CheckpointMB < 0:
		return fmt.Errorf("%w: --checkpoint-memory %d is less than 0; --no-checkpoints takes none", errUsage, c.lisp.CheckpointMB)
	case c.lisp.Launch.StackMB < 1:
		return fmt.Errorf("%w: --stack %d is less than 1", errUsage, c.lisp.Launch.StackMB)
	}
	if err := isDirectory(c.project); c.project != "" && err != nil {
		return fmt.Errorf("%w: --project %s: %w", errUsage, c.project, err)
	}
	if err := c.tools.Check(); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	return nil
}

// image opens the logs and returns the configured image, not started, and a
// function that closes it and the logs.
func (c *command) image(ctx context.Context) (_ *lisp.Image, _ *slog.Logger, _ func(), err error) {
	log := slog.New(slog.NewTextHandler(c.stderr, &slog.HandlerOptions{Level: c.logLevel}))
	cfg := c.lisp
	cfg.Log = log
	closeTrace := func() error { return nil }
	if c.trace != "" {
		f, err := os.OpenFile(c.trace, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("opening the trace: %w", err)
		}
		cfg.Trace, closeTrace = f, f.Close
	}
	if cfg.Trees, err = c.trees(c.sessionDir); err != nil {
		return nil, nil, nil, err
	}
	if cfg.Cores, err = kept.CoresIn(cfg.Trees, c.sessionDir, stateDir()); err != nil {
		return nil, nil, nil, err
	}
	confined, box, err := c.confine(&cfg, c.sessionDir, log)
	if err == nil {
		err = c.strict(ctx, box)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	im := lisp.New(cfg)
	confined(im)
	if dir, _ := c.projectDir(); dir != "" {
		im.WorkIn(dir)
	}
	return im, log, func() {
		ctx, cancel := closeContext()
		defer cancel()
		if err := im.Close(ctx); err != nil {
			log.Warn("closing the image", "error", err)
		}
		cfg.Trees.Close()
		if err := closeTrace(); err != nil {
			log.Warn("closing the trace", "error", err)
		}
	}, nil
}

// secondsFlag is a time in seconds, or with a unit as in "1m30s".
type secondsFlag time.Duration

func (s *secondsFlag) String() string {
	return strconv.FormatFloat(time.Duration(*s).Seconds(), 'f', -1, 64)
}

func (s *secondsFlag) Set(v string) error {
	d, err := time.ParseDuration(v)
	if err != nil {
		f, ferr := strconv.ParseFloat(v, 64)
		if ferr != nil || f > 1e9 {
			return errors.New("not a number of seconds")
		}
		d = time.Duration(f * float64(time.Second))
	}
	if d <= 0 {
		return errors.New("must be more than 0")
	}
	*s = secondsFlag(d)
	return nil
}

// listFlag is a list of names with commas between them. As with every flag,
// the last value given counts.
type listFlag []string

func (l *listFlag) String() string { return strings.Join(*l, ",") }

func (l *listFlag) Set(v string) error {
	*l = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
	return nil
}
