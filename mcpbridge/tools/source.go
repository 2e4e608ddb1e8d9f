package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"swank-mcp/internal/files"
)

// maxSource bounds the files of Lisp that the server itself reads.
const maxSource = 16 << 20

// maxChanged bounds those of them that it mends or changes: it has such a text several times.
const maxChanged = 4 << 20

// readSource returns the text of the file at path, at most maxSource bytes.
func readSource(trees *files.Trees, path string) (string, error) {
	text, err := trees.Read(path, maxSource)
	return string(text), said(err, maxSource)
}

// readIn returns the text of the file of that name in root, at most so many bytes.
func readIn(root *os.Root, name string, most int64) (string, error) {
	text, err := files.ReadIn(root, name, most)
	return string(text), said(err, most)
}

// errTooLarge is the refusal to read a file.
var errTooLarge = errors.New("it is too large")

// said is err as callers are told of it who have named the file.
func said(err error, most int64) error {
	var at *fs.PathError
	switch {
	case errors.Is(err, files.ErrTooLarge):
		return fmt.Errorf("%w: it has more than %d MB", errTooLarge, most>>20)
	case errors.Is(err, files.ErrNotPlain):
		return errors.New("it is no regular file")
	case errors.As(err, &at) && errors.Is(at.Err, files.ErrOutside):
		return at.Err
	}
	return err
}
