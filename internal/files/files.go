// Package files opens, lists and makes files in directories where somebody else may have put another
// thing in a file's place, or in that of a directory: a link to a file that only we can read, a pipe
// without a writer, a device without an end.
//
// Begin with [Trees], which has the directories in which code of a session may write; [Open] and
// [Read] are for a directory that is our own.
package files

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNotPlain is the error of what is there, but is no file.
var ErrNotPlain = errors.New("it is a link, a pipe or something else, and not a file: move it away")

// ErrTooLarge is the error of a file that has more than is read of it.
var ErrTooLarge = errors.New("it is larger than any that is written here: move it away")

// Open is os.OpenFile for a plain file alone. It follows no link as the last part of the path,
// creates nothing through one, and waits for nobody.
func Open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	if careful == 0 && isOther(path) { // the system cannot be told to be careful
		return nil, notPlain(path)
	}
	f, err := os.OpenFile(path, flag|careful, perm)
	if err != nil {
		if isOther(path) { // what systems say of links and pipes differs, and not what to do
			err = notPlain(path)
		}
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, cmp.Or(err, notPlain(path))
	}
	return f, nil
}

func notPlain(path string) error { return fmt.Errorf("%s: %w", path, ErrNotPlain) }

// isOther reports whether there is something that is no file.
func isOther(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.Mode().IsRegular()
}

// Read returns what is in a plain file and what the system knows of it. A file of more than
// most bytes is ErrTooLarge.
func Read(path string, most int64) (text []byte, info fs.FileInfo, err error) {
	f, err := Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, nil, err
	}
	text, err = readAll(f, most)
	return text, info, err
}

// ReadIn returns what is in the plain file of that name in root, of which a link may lead to
// another place in root. A file of more than most bytes is ErrTooLarge.
func ReadIn(root *os.Root, name string, most int64) ([]byte, error) {
	if info, err := root.Stat(name); err == nil && !info.Mode().IsRegular() { // a socket, for one, cannot be opened
		return nil, notPlain(name)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|waitless, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, notPlain(name))
	}
	return readAll(f, most)
}

func readAll(f *os.File, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	tooLarge := fmt.Errorf("%s: %w", f.Name(), ErrTooLarge)
	if info.Size() > most {
		return nil, tooLarge
	}
	var text bytes.Buffer
	text.Grow(int(info.Size()) + bytes.MinRead) // what grows while it is read takes twice its size
	if _, err := text.ReadFrom(io.LimitReader(f, most+1)); err != nil {
		return nil, err
	}
	if int64(text.Len()) > most {
		return nil, tooLarge
	}
	return text.Bytes(), nil
}

// MakeDir makes dir and the directories above it that are missing, with perm. The home directory
// is none of them: where it does not exist nothing is to be kept.
func MakeDir(dir string, perm fs.FileMode) error {
	home, err := os.UserHomeDir()
	if inside, relErr := filepath.Rel(home, dir); err == nil && relErr == nil && filepath.IsLocal(inside) {
		if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
			return &fs.PathError{Op: "mkdir", Path: home, Err: errors.New("the home directory does not exist, and is not made")}
		}
	}
	return os.MkdirAll(dir, perm)
}
