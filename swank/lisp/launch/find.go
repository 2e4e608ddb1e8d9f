package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"swank-mcp/swank/lisp/host"
)

// Found is a program or directory, and where it was looked for.
type Found struct {
	Path   string   // absolute
	Looked []string // places in order, the one of Path last; for messages
}

// sbclPlaces are where installers put sbcl. A server that is started by an
// editor or a desktop often has a PATH without them.
var sbclPlaces = []string{"/usr/local/bin/sbcl", "/opt/homebrew/bin/sbcl", "/opt/local/bin/sbcl", "/usr/bin/sbcl"}

// FindSBCL finds the program that c names. It does not run it. The error is a
// [*host.StartError] with an install command for this platform.
func FindSBCL(c Config) (Found, error) {
	const usual = "sbcl" // also what the flag says when nobody has said anything
	name := cmp.Or(c.SBCL, usual)
	f := Found{Looked: []string{name + " in PATH"}}
	path, err := exec.LookPath(name)
	if name == usual {
		for _, place := range sbclPlaces {
			if path != "" {
				break
			}
			f.Looked = append(f.Looked, place)
			path, _ = exec.LookPath(place)
		}
	}
	if path == "" {
		return f, &host.StartError{
			Problem: fmt.Sprintf("no SBCL: looked for %s", strings.Join(f.Looked, ", ")),
			Advice:  installAdvice("sbcl") + ", or name the program with --sbcl.",
			Err:     err,
		}
	}
	f.Path, err = filepath.Abs(path)
	return f, err
}

// FindSwank finds the directory of Swank's Lisp sources: the one that c names,
// else the one that an image of this person would load (Quicklisp, ASDF's
// places), else the system's, else the one inside SLIME in the person's Emacs,
// else the one that an image knows when it is asked, which takes seconds. The
// error is a [*host.StartError] with an install command for this platform, or the
// cause of ctx.
func FindSwank(ctx context.Context, c Config) (Found, error) {
	if c.SwankDir != "" {
		f := Found{Looked: []string{c.SwankDir}}
		if !isSwank(c.SwankDir) {
			return f, &host.StartError{
				Problem: fmt.Sprintf("no Swank in %q: it has no swank-loader.lisp and swank.lisp", c.SwankDir),
				Advice:  "Name the directory that has them with --swank-dir, or leave it out to search.",
			}
		}
		path, err := filepath.Abs(c.SwankDir)
		f.Path = path
		return f, err
	}
	var f Found
	home, _ := os.UserHomeDir()
	for _, pattern := range swankPlaces(home) {
		f.Looked = append(f.Looked, pattern)
		dirs, _ := filepath.Glob(pattern)
		slices.SortFunc(dirs, compareVersions)
		for _, dir := range slices.Backward(dirs) { // the newest version
			if isSwank(dir) {
				f.Path = dir
				return f, nil
			}
		}
	}
	if c.Sandbox == nil { // it would load definitions of systems outside of the sandbox
		f.Looked = append(f.Looked, "the image's (asdf:find-system :swank)")
		if dir := askForSwank(ctx, c); isSwank(dir) {
			f.Path = dir
			return f, nil
		}
	}
	if ctx.Err() != nil {
		return f, context.Cause(ctx)
	}
	return f, &host.StartError{
		Problem: "no Swank (the Lisp part of SLIME): looked for " + strings.Join(f.Looked, ", "),
		Advice:  installAdvice("cl-swank") + ", or name the directory of swank-loader.lisp with --swank-dir.",
	}
}

// compareVersions orders names by their letters and, where both have a number,
// by that: slime-v2.9 is before slime-v2.30.
func compareVersions(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x == "" || y == "" {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		a, b = a[len(x):], b[len(y):]
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if c := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// digits are those at the beginning of s.
func digits(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
}

// swankPlaces returns patterns for directories, in order of preference.
func swankPlaces(home string) []string {
	var places []string
	add := func(base string, names ...string) {
		for _, name := range names {
			places = append(places, filepath.Join(base, name))
		}
	}
	if home != "" {
		for _, quicklisp := range []string{"quicklisp", ".quicklisp", ".roswell/lisp/quicklisp"} {
			add(filepath.Join(home, quicklisp), "local-projects/slime*", "dists/quicklisp/software/slime-*")
		}
		add(home, "common-lisp/slime*", ".local/share/common-lisp/source/slime*")
	}
	for _, share := range []string{"/usr/local/share", "/usr/share", "/opt/homebrew/share", "/opt/local/share"} {
		add(share, "common-lisp/source/slime", "common-lisp/source/cl-swank", "emacs/site-lisp/slime",
			"emacs/site-lisp/elpa-src/slime-*", "emacs/site-lisp/elpa/slime-*")
	}
	if home != "" {
		for _, emacs := range []string{".emacs.d", ".config/emacs", ".config/doom"} {
			add(filepath.Join(home, emacs), "elpa/slime-*", "elpa/*/slime-*", "straight/repos/slime", ".local/straight/repos/slime",
				"elpaca/repos/slime", "elpaca/sources/slime", "site-lisp/slime*", "lisp/slime*", "slime*")
		}
	}
	return places
}

// sbclVersion is what program answers to --version: "SBCL 2.2.9.debian".
func sbclVersion(ctx context.Context, program string) (string, error) {
	out, err := outputOf(ctx, 10*time.Second, program, "--version")
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", program, err)
	}
	return strings.TrimSpace(out), nil
}

// outputOf returns what a program prints, which is ended when it could act for limit.
func outputOf(ctx context.Context, limit time.Duration, program string, args ...string) (string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var out strings.Builder
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout = &out
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return "", err
	}
	bounded, end := host.Within(ctx, cmd.Process.Pid, limit, fmt.Errorf("it has not ended after %v", limit))
	defer end()
	defer context.AfterFunc(bounded, func() { cancel(context.Cause(bounded)) })()
	err := cmd.Wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.String(), err
}

func isSwank(dir string) bool {
	if dir == "" {
		return false
	}
	for _, name := range []string{"swank-loader.lisp", "swank.lisp"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

// askForSwank asks an image with the person's init file where Swank is, and
// returns "" when it does not know.
func askForSwank(ctx context.Context, c Config) string {
	sbcl, err := FindSBCL(c)
	if err != nil {
		return ""
	}
	const mark = "swank-mcp found: "
	args := []string{"--noinform", "--disable-ldb", "--end-runtime-options", "--no-sysinit"}
	if c.NoUserInit {
		args = append(args, "--no-userinit")
	}
	args = append(args, "--non-interactive", "--eval", "(require :asdf)", "--eval",
		fmt.Sprintf(`(let ((s (asdf:find-system :swank nil))) (when s (format t "~&%s~A~%%" (sb-ext:native-namestring (asdf:system-source-directory s)))))`, mark))
	out, err := outputOf(ctx, 60*time.Second, sbcl.Path, args...)
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return ""
	}
	for line := range strings.Lines(out) {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
			return filepath.Clean(dir)
		}
	}
	return ""
}

// installers are package managers with their commands, each for sbcl.
var installers = []struct{ program, install string }{
	{"apt-get", "sudo apt-get install"},
	{"dnf", "sudo dnf install"},
	{"pacman", "sudo pacman -S"},
	{"zypper", "sudo zypper install"},
	{"apk", "sudo apk add"},
	{"brew", "brew install"},
	{"port", "sudo port install"},
}

// installAdvice returns a sentence, without its full stop, with the command
// that installs sbcl or cl-swank. Only Debian's archive has Swank by itself; a
// clone of SLIME at the place named is found by FindSwank everywhere.
func installAdvice(name string) string {
	manager := ""
	for _, i := range installers {
		if _, err := exec.LookPath(i.program); err == nil {
			manager = i.install
			break
		}
	}
	switch {
	case name == "cl-swank" && !strings.Contains(manager, "apt-get"):
		return "Install it: git clone --depth 1 https://github.com/slime/slime.git ~/common-lisp/slime"
	case manager == "":
		return "Install SBCL from https://www.sbcl.org/platform-table.html"
	default:
		return "Install it: " + manager + " " + name
	}
}
