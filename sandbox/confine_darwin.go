package sandbox

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"swank-mcp/swank/lisp/launch"
)

// able is what this system can do: sandbox-exec, whose profile was never tried.
type able struct{ program string }

func whatIsAble(context.Context) (able, error) {
	program, _ := exec.LookPath("sandbox-exec")
	return able{program}, nil
}

func (a able) newRoot() bool { return false }

func (a able) by() string {
	if a.program == "" {
		return ""
	}
	return "sandbox-exec (untested)"
}

func (a able) missing(Options) []string {
	if a.program == "" {
		return []string{"there is no sandbox-exec: images do what their user may"}
	}
	return []string{"the profile for sandbox-exec is untested", "memory and processes are not limited"}
}

func (able) limitsMemory() bool { return false }

func (able) memory(uint64) string { return "" }

// apply has sandbox-exec start the image. It executes it, so that the process is the image.
func (a able) apply(cmd *exec.Cmd, p *policy) (*launch.Wrapped, error) {
	if a.program != "" {
		cmd.Args = append([]string{"sandbox-exec", "-p", profile(p), cmd.Path}, cmd.Args[1:]...)
		cmd.Path = a.program
	}
	return nil, nil
}

// profile is p in the language of sandbox-exec; of several rules the last counts.
func profile(p *policy) string {
	var b strings.Builder
	b.WriteString(`(version 1)
(deny default)
(allow process-fork)
(allow process-exec)
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))
(allow file-read-metadata)
(allow file-read* (literal "/") (subpath "/System") (subpath "/Library") (subpath "/private/etc/ssl") (subpath "/private/var/db/timezone"))
(allow file-read* file-write-data (literal "/dev/null") (literal "/dev/zero"))
(allow file-read* (literal "/dev/random") (literal "/dev/urandom") (subpath "/dev/fd"))
(allow network-bind network-inbound network-outbound (local unix-socket))
`)
	for _, path := range p.Reads {
		fmt.Fprintf(&b, "(allow file-read* (subpath %q))\n", path)
	}
	for _, path := range append(p.writable(), p.Temp) {
		fmt.Fprintf(&b, "(allow file-read* file-write* (subpath %q))\n(allow network* (subpath %[1]q))\n", path)
	}
	for _, port := range p.Ports {
		fmt.Fprintf(&b, "(allow network-outbound (remote tcp \"*:%d\"))\n", port)
	}
	return b.String()
}

// Confine does nothing here: no process is started for it.
func Confine([]string) error { return nil }
