// Package testenv gives a process that runs tests an environment of its own: what it starts
// neither reads the user's files nor sees the user's other servers. A package whose tests start
// servers or images calls [Main] in its TestMain.
package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/internal/rundir"
)

// CacheVariable names the directory in which tests keep compiled files and cores from run to
// run. Without it that is swank-mcp-test in the user's directory of caches.
const CacheVariable = "SWANK_MCP_TEST_CACHE"

// Main runs the tests of m in an environment that [Isolate] makes, and returns their exit code.
func Main(m *testing.M) int {
	remove, err := Isolate()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
		return 1
	}
	defer remove()
	return m.Run()
}

// Isolate gives this process a home, XDG directories, a directory of temporary files and one of
// sockets that nothing else uses. The cache is [Cache]. The function that it returns removes
// the directories.
func Isolate() (remove func(), err error) {
	cache, err := Cache()
	if err != nil {
		return nil, err
	}
	tools := goTools()
	dir, err := os.MkdirTemp("", "swt") // short: the path of a socket has at most 107 bytes
	if err != nil {
		return nil, err
	}
	// Some tests give another user of the machine something below it.
	if err := os.Chmod(dir, 0o711); err != nil {
		return nil, err
	}
	home, sockets := filepath.Join(dir, "home"), filepath.Join(dir, "run")
	for _, private := range []string{home, sockets} {
		if err := os.Mkdir(private, 0o700); err != nil {
			return nil, err
		}
	}
	for name, value := range map[string]string{
		"HOME":            home,
		"TMPDIR":          dir,
		"XDG_CACHE_HOME":  cache,
		"XDG_CONFIG_HOME": filepath.Join(home, ".config"),
		"XDG_DATA_HOME":   filepath.Join(home, ".local", "share"),
		"XDG_STATE_HOME":  filepath.Join(home, ".local", "state"),
		"XDG_RUNTIME_DIR": "",
		rundir.Variable:   sockets,
	} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	for name, value := range tools {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	return func() { _ = os.RemoveAll(dir) }, nil
}

// Cache returns the directory of [CacheVariable], and makes it.
func Cache() (string, error) {
	dir := os.Getenv(CacheVariable)
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(base, "swank-mcp-test")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o700)
}

// goTools returns the variables by which a go command finds the caches of this user, where it
// would look for them below HOME.
func goTools() map[string]string {
	found := map[string]string{}
	if base, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" {
		found["GOCACHE"] = filepath.Join(base, "go-build")
	}
	path := os.Getenv("GOPATH")
	if home, err := os.UserHomeDir(); err == nil && path == "" {
		path = filepath.Join(home, "go")
		found["GOPATH"] = path
	}
	if first, _, _ := strings.Cut(path, string(filepath.ListSeparator)); first != "" && os.Getenv("GOMODCACHE") == "" {
		found["GOMODCACHE"] = filepath.Join(first, "pkg", "mod")
	}
	return found
}
