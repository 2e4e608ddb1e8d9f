package transcript

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"swank-mcp/internal/files"
)

// file is the transcript of one session. When it is full it becomes its own predecessor,
// and takes the place of the one before.
type file struct {
	path string
	head []byte // its first line

	f      *os.File // nil: it is not open
	size   int64    // of what is written whole
	lines  int64    // entries in it
	begun  bool     // something was written, or to be written
	before int64    // in its predecessor
	gone   int64    // that were in the predecessor's predecessors
	missed int64    // entries that are not in it, and it does not say so yet
	why    string
	failed time.Time // when the disk took nothing
	err    error
}

// lost notes that entries are missing.
func (w *file) lost(count int64, why string) {
	w.missed += count
	w.why = why
}

// write appends lines. What cannot be written is counted, and the file says so when it can
// be written again. Soon after a failure nothing is tried, unless it is the last time.
func (w *file) write(lines [][]byte, last bool) error {
	if w.err != nil && !last && time.Since(w.failed) < retry {
		w.lost(int64(len(lines)), w.why)
		return w.err
	}
	w.err = w.append(lines)
	if w.err != nil {
		w.failed = time.Now()
		w.lost(int64(len(lines)), "the file could not be written: "+w.err.Error())
		w.end()
	}
	return w.err
}

func (w *file) append(lines [][]byte) error {
	if err := w.begin(); err != nil {
		return err
	}
	var b bytes.Buffer
	if w.missed > 0 {
		e := leftOut(w.missed, w.why)
		b.Write(append(e.JSON(), '\n'))
	}
	for _, l := range lines {
		b.Write(l)
		b.WriteByte('\n')
	}
	if _, err := w.f.Write(b.Bytes()); err != nil {
		_ = w.f.Truncate(w.size) // half a line
		return err
	}
	w.size += int64(b.Len())
	w.lines += int64(len(lines))
	w.missed = 0
	if w.size > maxFile {
		w.end()
		w.gone, w.before, w.lines, w.size = w.gone+w.before, w.lines, 0, 0
		_ = os.Rename(w.path, strings.TrimSuffix(w.path, ".jsonl")+".before.jsonl") // else it goes on
	}
	return nil
}

// begin opens the file, and makes it and its directory if they are not there.
func (w *file) begin() error {
	if w.f != nil {
		return nil
	}
	if err := files.MakeDir(filepath.Dir(w.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(w.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_ = lock(f) // so that it is not taken for one that nobody writes any more
	info, err := f.Stat()
	switch {
	case err != nil:
	case w.size == 0:
		if _, err = f.Write(w.first()); err != nil {
			_ = f.Truncate(info.Size())
		}
		w.size = info.Size() + int64(len(w.first()))
	case info.Size() > w.size: // half a line that could not be removed
		err = f.Truncate(w.size)
	case info.Size() < w.size: // somebody has shortened or removed it
		w.size = info.Size()
	}
	if err != nil {
		f.Close()
		if w.lines == 0 {
			w.size = 0
		}
		return err
	}
	w.f = f
	return nil
}

// first is how the file begins.
func (w *file) first() []byte {
	if w.gone == 0 {
		return w.head
	}
	e := leftOut(w.gone, "a session has two files, and no more room")
	return append(append(bytes.Clone(w.head), e.JSON()...), '\n')
}

func (w *file) end() error {
	if w.f == nil {
		return nil
	}
	err := w.f.Close()
	w.f = nil
	return err
}

// close writes what there is still to say, and closes the file.
func (w *file) close() error {
	var err error
	if w.missed > 0 {
		err = w.write(nil, true)
	}
	return errors.Join(err, w.end())
}
