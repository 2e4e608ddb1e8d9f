package tools

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxSource bounds the files of Lisp that the server itself reads.
const maxSource = 16 << 20

// readSource returns the text of a file, at most maxSource bytes.
func readSource(path string) (string, error) {
	return readText(os.DirFS(filepath.Dir(path)), filepath.Base(path), maxSource)
}

// errTooLarge is the refusal to read a file.
var errTooLarge = errors.New("it is too large")

// readText returns the contents of a file that a caller has named, which may be
// anything: a pipe without a writer, a device without an end. Of more than most
// bytes it is errTooLarge.
func readText(in fs.FS, name string, most int64) (string, error) {
	info, err := fs.Stat(in, name) // before opening: a pipe would wait for its writer
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return "", errors.New("it is a directory")
	case !info.Mode().IsRegular():
		return "", errors.New("it is no regular file")
	}
	f, err := in.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return "", err
	case int64(len(data)) > most:
		return "", fmt.Errorf("%w: it has more than %d MB", errTooLarge, most>>20)
	}
	return string(data), nil
}
