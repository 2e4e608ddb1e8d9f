package kept

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"swank-mcp/internal/files"
	"swank-mcp/swank/lisp/journal"
)

// Bounds of the files that sessions are kept in.
const (
	maxBytes = 4 << 20 // of one; a larger session is not kept
	maxFiles = 100     // in their directory; the oldest make room
)

// File is the file in which a session is kept as it grows, so that the next
// server can bring it back. One server has it at a time. What the server before
// has left is in it, until this one has something to keep; then beside it.
type File struct {
	path string
	own  func() error // of a shared one; see OpenShared

	mu     sync.Mutex
	lock   *os.File
	mine   bool // the file is this server's
	closed bool
	left   Left
	stale  bool          // the session is another one than in the file
	last   time.Time     // when it was written
	took   time.Duration // how long that took

	err atomic.Pointer[error] // why it is not kept; set by who has mu, which may be held while a disk stands still
}

// Left is a session that the server before has left.
type Left struct {
	Path    string // "" is none
	Summary string // what it has, in words
	Time    time.Time
	Back    bool // the session of this server has all of it
	Part    bool // it has a part of it
}

// Open returns the file of that path. It writes nothing, and makes no
// directory.
func Open(path string) *File {
	k := &File{path: path}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || !k.claim() {
		return k
	}
	_ = k.look()
	return k
}

// look finds out what the file has of the server before.
func (k *File) look() error {
	text, info, err := files.Read(k.path, maxBytes)
	if err != nil {
		return err
	}
	if summary, ok := summaryIn(string(text)); ok {
		k.left = Left{Path: k.path, Summary: summary, Time: info.ModTime()}
	}
	return nil
}

// claim reports whether the file is ours: another server that works in the
// same directory and session has its lock as long as it lives.
func (k *File) claim() bool {
	if k.lock != nil {
		return true
	}
	f, err := files.Open(k.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		if err = lockFile(f); err != nil {
			f.Close()
			err = errors.New("another server works in this directory and session, and keeps its own")
		}
	}
	if k.fails(err); err != nil {
		return false
	}
	k.lock = f
	return true
}

// Close gives the file up, for another [File] of its path. Nothing is kept in it any more.
func (k *File) Close() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lock != nil {
		unlockFile(k.lock)
		k.lock = nil
	}
	k.closed = true
}

// summaryIn is what the head of a file that we have written says is in it.
func summaryIn(text string) (string, bool) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, ";;;;") {
			break
		}
		if _, rest, ok := strings.Cut(line, " saved by swank-mcp on "); ok {
			_, summary, _ := strings.Cut(rest, " UTC: ")
			return strings.TrimSuffix(strings.TrimSpace(summary), "."), summary != ""
		}
	}
	return "", false
}

// Left returns what the server before has left.
func (k *File) Left() Left {
	if k == nil {
		return Left{}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.left
}

// Taken says that what the server before has left has been brought back.
func (k *File) Taken() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left = Left{}
}

// Compare notes what this server's session has of what the one before has left: lacks returns
// of a source what the session lacks, "" for nothing.
func (k *File) Compare(lacks func(source string) string) {
	if k.Left().Path == "" {
		return
	}
	source, err := k.Read()
	if err != nil {
		return // who loads it is told
	}
	rest := lacks(source)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left.Back = rest == ""
	k.left.Part = rest != "" && len(strings.TrimSpace(rest)) < len(strings.TrimSpace(source))
}

// Back notes that this server's session has all that the one before has left.
func (k *File) Back() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.left.Back, k.left.Part = true, false
}

// fails notes why the session is not kept, nil: it is.
func (k *File) fails(err error) {
	if err == nil {
		k.err.Store(nil)
		return
	}
	k.err.Store(&err)
}

// Problem says why the session is not kept, or "". It waits for nothing.
func (k *File) Problem() string {
	if k == nil {
		return ""
	}
	if err := k.err.Load(); err != nil {
		return (*err).Error()
	}
	return ""
}

// Failed says why a file that is this server's was not written, or "".
func (k *File) Failed() string {
	if k == nil {
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.mine {
		return ""
	}
	return k.Problem()
}

// Read returns the source that the server before has left.
func (k *File) Read() (string, error) {
	text, _, err := files.Read(k.Left().Path, maxBytes)
	return string(text), err
}

// Keep writes the session of j, which has changed. Unless it is to be done now, it takes at
// most a twentieth of the time: what it has no time for is to be kept by a call after later,
// which is 0 when all is kept that can be.
func (k *File) Keep(j *journal.Journal, changed, now bool) (later time.Duration) {
	if k == nil {
		return 0
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stale = k.stale || changed
	if j.Empty() {
		k.left.Back, k.left.Part = false, false
	}
	if k.closed || !k.stale {
		return 0
	}
	if rest := 20*k.took - time.Since(k.last); !now && k.own == nil && rest > 0 {
		return rest
	}
	start := time.Now()
	err := k.write(j)
	k.fails(err)
	k.stale, k.last, k.took = err != nil, time.Now(), time.Since(start)
	return 0
}

func (k *File) write(j *journal.Journal) error {
	if j.Empty() && !k.mine {
		return nil
	}
	if err := k.begin(); err != nil {
		return err
	}
	if j.Empty() {
		return k.empty()
	}
	text := j.Source(filepath.Base(k.path), time.Now())
	if len(text) > maxBytes {
		return fmt.Errorf("the session has %d MB, more than %d", len(text)>>20, maxBytes>>20)
	}
	return k.replace(text)
}

// replace puts text into the file. A reader sees what was there before, or all of it.
func (k *File) replace(text string) error {
	if err := k.owner(); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(k.path), ".kept-*.tmp") // with mode 0600
	if err != nil {
		return err
	}
	_, err = temp.WriteString(text)
	if err == nil && k.own != nil {
		err = temp.Sync() // the next owner may be another machine
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), k.path)
	}
	if err != nil {
		os.Remove(temp.Name())
		return err
	}
	return k.owner()
}

// begin makes the file this server's: what is there of the one before is put
// beside it.
func (k *File) begin() error {
	dir := filepath.Dir(k.path)
	if k.own != nil {
		k.setAside()
		return nil
	}
	if err := files.MakeDir(dir, 0o700); err != nil {
		return err
	}
	if !k.claim() {
		return *k.err.Load()
	}
	if k.mine {
		return nil
	}
	before := strings.TrimSuffix(k.path, ".lisp") + ".before.lisp"
	_ = os.Remove(before)
	err := os.Link(k.path, before) // so at each moment one of the two is there
	if err != nil {
		err = os.Rename(k.path, before)
	}
	if err == nil && k.left.Path != "" {
		k.left.Path = before
	}
	k.mine = true
	k.prune(dir)
	return nil
}

// prune removes the oldest files in dir beyond maxFiles.
func (k *File) prune(dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.lisp"))
	if len(files) < maxFiles {
		return
	}
	age := map[string]time.Time{}
	for _, f := range files {
		if info, err := os.Lstat(f); err == nil {
			age[f] = info.ModTime()
		}
	}
	slices.SortFunc(files, func(a, b string) int { return age[a].Compare(age[b]) })
	for _, f := range files[:len(files)-maxFiles+1] {
		if f != k.path && f != k.left.Path {
			os.Remove(f)
			os.Remove(f + ".lock")
		}
	}
}
