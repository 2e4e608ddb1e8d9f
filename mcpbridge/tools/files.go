package tools

import (
	"os"
	"path/filepath"
	"sync"
)

// filesKept is how many files of a connection are kept.
const filesKept = 20

// Files are what replies name by path, such as pictures, in a directory of the server's
// that is removed when the connection ends. The zero value is ready; any goroutine may
// call the methods.
type Files struct {
	mu   sync.Mutex
	dir  string   // "" before the first file
	kept []string // paths, oldest first
	gone bool
}

// Write makes a file with that name and returns its path. The oldest files make room.
func (f *Files) Write(name string, data []byte) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return "", os.ErrClosed
	}
	if f.dir == "" {
		dir, err := os.MkdirTemp("", "swank-mcp-files-")
		if err != nil {
			return "", err
		}
		f.dir = dir
	}
	path := filepath.Join(f.dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", err
	}
	if f.kept = append(f.kept, path); len(f.kept) > filesKept {
		os.Remove(f.kept[0]) // it goes with the directory at the latest
		f.kept = f.kept[1:]
	}
	return path, nil
}

// Remove removes the directory with all files. A later Write fails.
func (f *Files) Remove() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gone = true
	if f.dir == "" {
		return nil
	}
	return os.RemoveAll(f.dir)
}
