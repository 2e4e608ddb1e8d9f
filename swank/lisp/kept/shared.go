package kept

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// OpenShared returns the file in which a session is kept whose directory several servers
// share, possibly on several machines. Only the one that owns the session writes it: own
// says whether that is still this server, by nil, and is asked before and after each write.
// Each change is written at once, as this server may be gone with the next one.
//
// term is the number of this ownership, higher than all before it. Each term has a file of
// its own, which begins as what the one before has left: what a server writes that has lost
// the session without knowing it stays in a file that nobody reads any more.
func OpenShared(dir string, term int, own func() error) (*File, error) {
	if err := own(); err != nil {
		return nil, err
	}
	k := &File{path: termFile(dir, term), own: own, mine: true}
	before, older, err := termsBefore(dir, term)
	if err != nil {
		return nil, err
	}
	if err := os.Link(before, k.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, file := range older {
		os.Remove(file)
	}
	if err := k.look(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return k, nil
}

func termFile(dir string, term int) string {
	return filepath.Join(dir, fmt.Sprintf("session.%d.lisp", term))
}

// termsBefore returns the file of the newest term before this one, or that of a server that
// had the directory for itself, and the files that are older.
func termsBefore(dir string, term int) (newest string, older []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", nil, err
	}
	var terms []int
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), "session.")
		number, lisp := strings.CutSuffix(number, ".lisp")
		if n, err := strconv.Atoi(number); ok && lisp && err == nil && n < term && strconv.Itoa(n) == number {
			terms = append(terms, n)
		}
	}
	if len(terms) == 0 {
		return filepath.Join(dir, "session.lisp"), nil, nil
	}
	slices.Sort(terms)
	last := len(terms) - 1
	for _, n := range terms[:last] {
		older = append(older, termFile(dir, n))
	}
	return termFile(dir, terms[last]), older, nil
}

// Unshare makes what servers that shared dir have left the file of one that has it for itself,
// session.lisp. It does nothing where none did, or there is no dir.
func Unshare(dir string) error {
	newest, older, err := termsBefore(dir, math.MaxInt)
	alone := filepath.Join(dir, "session.lisp")
	if errors.Is(err, fs.ErrNotExist) || newest == alone {
		return nil
	} else if err != nil {
		return err
	}
	for _, file := range older { // before: else the next call would take one of them for the newest
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return os.Rename(newest, alone)
}

// owner says, by nil, that this server may write the file.
func (k *File) owner() error {
	if k.own == nil {
		return nil
	}
	return k.own()
}

// setAside keeps what was left also under another name, when the session is about to be
// written that it was to be brought back into. The file itself is never missing.
func (k *File) setAside() {
	if k.left.Path != k.path {
		return
	}
	before := filepath.Join(filepath.Dir(k.path), "session.before.lisp")
	os.Remove(before)
	if os.Link(k.path, before) == nil {
		k.left.Path = before
	}
}

// empty has nothing in the file. A shared one stays, as an earlier term may have something.
func (k *File) empty() error {
	if k.own != nil {
		return k.replace("")
	}
	if err := os.Remove(k.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
