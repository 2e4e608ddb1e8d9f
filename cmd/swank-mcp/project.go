package main

import (
	"errors"
	"os"
	"path/filepath"
)

// projectDir is the directory of the project that the server works for, absolute, and
// whether somebody has named it; what is not named a client may know better. It is "" where
// the working directory is no project: the root, or somebody's home.
func (c *config) projectDir() (dir string, named bool) {
	for _, dir := range []string{c.project, os.Getenv("CLAUDE_PROJECT_DIR")} {
		if abs, err := filepath.Abs(dir); dir != "" && err == nil && isDirectory(abs) == nil {
			return abs, true
		}
	}
	dir, err := os.Getwd()
	home, _ := os.UserHomeDir()
	if err != nil || dir == filepath.Dir(dir) || dir == filepath.Clean(home) {
		return "", false
	}
	return dir, false
}

func isDirectory(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	return err
}
