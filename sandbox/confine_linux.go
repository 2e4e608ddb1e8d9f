package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// Confine confines this process by the policy in its environment and becomes the program
// that is its first argument, with the others. It returns only if that fails.
func Confine(args []string) error {
	err := confine(args)
	if slices.Equal(args, []string{tryOnly}) && passing(err) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(tryAgain)
	}
	return err
}

func confine(args []string) error {
	// What the thread gives up the process that it becomes has given up.
	runtime.LockOSThread()
	var p policy
	if err := json.Unmarshal([]byte(os.Getenv(policyVariable)), &p); err != nil {
		return explain("reading the policy", err)
	}
	if err := os.Unsetenv(policyVariable); err != nil {
		return err
	}
	if err := enterGroup(p.Groups); err != nil {
		return explain("entering the control group", err)
	}
	if p.NewRoot {
		if err := enterRoot(&p); err != nil {
			return explain("making a file system", err)
		}
	}
	// A file that gets too large is an error of the write, not the end of the process.
	signal.Ignore(syscall.SIGXFSZ)
	if err := giveUpRights(); err != nil {
		return explain("giving up rights", err)
	}
	if err := restrictFiles(&p); err != nil {
		return explain("Landlock", err)
	}
	if err := filterCalls(&p); err != nil {
		return explain("seccomp", err)
	}
	if err := limit(p.Limits); err != nil { // last: this program needs more room than it seems
		return explain("setting limits", err)
	}
	if len(args) == 0 || args[0] == tryOnly {
		os.Exit(0)
	}
	return explain("executing "+args[0], syscall.Exec(args[0], args, lispsEnvironment()))
}

// lispsEnvironment is the environment without what Go's runtime adds to it.
func lispsEnvironment() (env []string) {
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, policyVariable+"=") {
			env = append(env, entry)
		}
	}
	return env
}
