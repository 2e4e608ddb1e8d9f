package main

import (
	"errors"
	"os"
	"path/filepath"

	"swank-mcp/internal/files"
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

// trees opens the directories in which code of a session may write: the project's, and dir, in which
// its sessions are saved. Where dir is "", these are in the working directory, where code may only write
// if that is the project.
func (c *config) trees(dir string) (*files.Trees, error) {
	writes := c.projectDirs()
	saved, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if dir != "" {
		writes = append(writes, saved)
	}
	trees := &files.Trees{}
	trees.Add(writes...)
	trees.Keep(saved)
	return trees, nil
}

// projectDirs returns the directory of the project, if there is one.
func (c *config) projectDirs() []string {
	if dir, _ := c.projectDir(); dir != "" {
		return []string{dir}
	}
	return nil
}

func isDirectory(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	return err
}
