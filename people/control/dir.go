package control

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"swank-mcp/internal/rundir"
)

// Dirs returns the directories in which the sockets of this user's servers may be, best
// first. A server uses the first that it can. State is the user's state directory of
// swank-mcp, or "". The directory of [rundir.Dir] excludes all others.
func Dirs(state string) []string {
	if dir := rundir.Dir(); dir != "" {
		return []string{dir}
	}
	return usualDirs(state)
}

// EveryDir returns the directories in which any server of this user's may have its socket,
// also one with another [rundir.Dir] than ours, or none.
func EveryDir(state string) []string {
	dirs := usualDirs(state)
	if dir := rundir.Dir(); filepath.IsAbs(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}

func usualDirs(state string) []string {
	name := "swank-mcp"
	if uid := os.Getuid(); uid >= 0 {
		name += "-" + strconv.Itoa(uid)
	}
	var dirs []string
	if base := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(base) {
		dirs = append(dirs, filepath.Join(base, "swank-mcp"))
	}
	dirs = append(dirs, filepath.Join(os.TempDir(), name))
	if os.TempDir() != "/tmp" && os.Getuid() >= 0 {
		dirs = append(dirs, filepath.Join("/tmp", name))
	}
	if state != "" {
		dirs = append(dirs, filepath.Join(state, ofState))
	}
	return dirs
}

// ofState is the name of the directory in that of the user's state.
const ofState = "run"

// makeDir makes dir, if it is not there, and says why it cannot have our socket: it has to
// be ours alone.
func makeDir(dir string) error {
	if filepath.Base(dir) == ofState { // the others are in directories of the system's
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return checkDir(dir)
}

// checkDir says why dir is not one that only we can enter.
func checkDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", dir)
	case !private(info):
		return fmt.Errorf("%s is not a directory that its user alone can enter, or it is another user's", dir)
	}
	return nil
}

// maxPath is how long the path of a socket may be on every system.
const maxPath = 103
