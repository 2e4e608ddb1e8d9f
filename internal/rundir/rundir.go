// Package rundir reads the variable by which a user sets some servers apart from their others:
// SWANK_MCP_RUN_DIR names the one directory in which the sockets of these servers and the
// directories of their images are. Servers with different values neither see nor sweep each
// other's. Package people/control puts sockets there, package swank/lisp/launch images.
package rundir

import (
	"fmt"
	"os"
	"path/filepath"
)

// Variable is the name of the environment variable.
const Variable = "SWANK_MCP_RUN_DIR"

// Dir returns the directory that the variable names, or "" where it is not set: the directory
// is then that of all servers of the user.
func Dir() string { return os.Getenv(Variable) }

// Check returns an error if the variable is set and does not name a directory in the same way
// for processes in any working directory.
func Check() error {
	if dir := Dir(); dir != "" && !filepath.IsAbs(dir) {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		return fmt.Errorf("%s=%q is not an absolute path: give one, for example %s=%s", Variable, dir, Variable, abs)
	}
	return nil
}
