package tools

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"swank-mcp/internal/files"
	"swank-mcp/mcpbridge/args"
	"swank-mcp/swank/lisp"
)

// maxSessionFile bounds what load-session takes: what it defines comes back in
// one answer, which has to fit into a frame.
const maxSessionFile = 4 << 20

// sessionDir is the directory of saved sessions. Neither .. nor a symbolic link
// leads out of it.
type sessionDir struct {
	path string // absolute
	root *os.Root
}

// sessionFile opens the session directory, which the caller closes, and returns
// what file is called in it.
func (r *Request) sessionFile(file string) (dir *sessionDir, name string, err error) {
	path, err := filepath.Abs(cmp.Or(r.SessionDir, "."))
	if err != nil {
		return nil, "", noSessionDir(r.SessionDir, err)
	}
	root, err := r.Trees.Open(path)
	if err != nil {
		return nil, "", noSessionDir(path, err)
	}
	dir = &sessionDir{path, root}
	if name = dir.name(r, file); r.Err != nil {
		dir.close()
		return nil, "", r.Err
	}
	return dir, name, nil
}

func (d *sessionDir) close() { _ = d.root.Close() } // no file in it is open any more

// noSessionDir is the error of a directory that cannot be opened, with the call
// that makes it if it is not there.
func noSessionDir(path string, err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	next := ""
	if errors.Is(err, fs.ErrNotExist) {
		literal := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path)
		next = nextCall("evaluate-lisp", "code", `(ensure-directories-exist "`+literal+`/")`)
	}
	return &lookError{&lisp.LookupError{Type: "NO-SESSION-DIRECTORY", Message: fmt.Sprintf(
		"The session directory %s cannot be opened: %v. The person who runs the server can choose another with --session-dir.", path, err)}, next}
}

// name is file as the root takes it: relative and, without following links, inside.
func (d *sessionDir) name(r *Request, file string) string {
	name := filepath.Clean(file)
	if filepath.IsAbs(name) {
		if rel, err := filepath.Rel(d.path, name); err == nil {
			name = rel
		}
	}
	switch {
	case strings.TrimSpace(file) == "" || strings.ContainsRune(file, 0):
		r.Fail("file is %q; it must be the name of a file in %s.", file, d.path)
	case !filepath.IsLocal(name):
		d.outside(r, file)
	case name == "." || strings.HasSuffix(file, "/"):
		r.Fail("file is %q, a directory; it must be the name of a file in %s.", file, d.path)
	}
	return name
}

func (d *sessionDir) outside(r *Request, file string) {
	r.Fail("file is %q, which is outside the session directory, %s. Name a file in it; the person who runs the server can choose another directory with --session-dir.", file, d.path)
}

// refuse makes err, which file caused, the error of the call.
func (d *sessionDir) refuse(r *Request, file string, err error) {
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Fail("file is %q; there is no such file or directory in %s%s.", file, d.path, d.others())
	case errors.As(err, &path) && strings.Contains(path.Err.Error(), "escapes"):
		d.outside(r, file)
	default:
		r.Fail("file is %q: %v.", file, err)
	}
}

// lispFiles returns the Lisp files in the directory, without subdirectories.
func (d *sessionDir) lispFiles() []fs.DirEntry {
	entries, _ := files.ListIn(d.root, ".", maxEntries)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) != ".lisp" })
}

// saved returns the names of the sessions in the directory, the newest first: files that save-session
// wrote. Sources of the project may lie beside them.
func (d *sessionDir) saved() (names []string) {
	written := map[string]time.Time{}
	for _, e := range d.lispFiles() {
		if info, err := e.Info(); err == nil && lisp.IsSavedSession(d.head(e.Name())) {
			names = append(names, e.Name())
			written[e.Name()] = info.ModTime()
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return written[b].Compare(written[a]) })
	return names
}

// head returns the beginning of the file of that name that [lisp.IsSavedSession] needs, "" if it
// cannot be read.
func (d *sessionDir) head(name string) string {
	f, err := files.OpenIn(d.root, name, os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, lisp.HeadOfSavedSession))
	return string(text)
}

// nextLoad returns the call that works where there is no file of that name: load-session with the file
// whose name is misspelled, or the newest session, save-session if none is saved.
func (d *sessionDir) nextLoad(name string) string {
	var names []string
	for _, e := range d.lispFiles() {
		names = append(names, e.Name())
	}
	if meant := args.Misspelled(name, names); meant != "" {
		return nextCall("load-session", "file", meant)
	}
	if saved := d.saved(); len(saved) > 0 {
		return nextCall("load-session", "file", saved[0])
	}
	return nextCall("save-session", "file", filepath.Base(name))
}

// others returns a remark that names up to ten saved sessions, "" if there is none.
func (d *sessionDir) others() string {
	names := d.saved()
	if len(names) == 0 {
		return ""
	}
	more := ""
	if len(names) > 10 {
		more = fmt.Sprintf(" and %d more", len(names)-10)
		names = names[:10]
	}
	return " (saved sessions: " + strings.Join(names, ", ") + more + ")"
}

// read returns the text of a file, and when it was written.
func (d *sessionDir) read(name string) (text string, written time.Time, err error) {
	if info, err := d.root.Stat(name); err == nil {
		written = info.ModTime()
	}
	text, err = readIn(d.root, name, maxSessionFile)
	switch {
	case errors.Is(err, errTooLarge):
		return "", written, fmt.Errorf("%w; load it with evaluate-lisp, as in (load %q)", err, "file")
	case err == nil && !utf8.ValidString(text):
		return "", written, errors.New("it is not UTF-8 text")
	}
	return text, written, err
}

// write makes the file in one step: nobody sees half of it. Without overwrite
// an existing one is an error that is fs.ErrExist.
func (d *sessionDir) write(name, text string, overwrite bool) (err error) {
	if info, err := d.root.Lstat(name); err == nil && info.IsDir() {
		return errors.New("it is a directory")
	} else if err == nil && !overwrite {
		return fs.ErrExist
	}
	temp := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text()[:8]+".tmp")
	f, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			d.root.Remove(temp)
		}
	}()
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if overwrite {
		return d.root.Rename(temp, name)
	}
	// Unlike a rename, a link never replaces what somebody else has made meanwhile.
	if err = d.root.Link(temp, name); errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		return d.root.Rename(temp, name) // a file system without links
	} else if err != nil {
		return err
	}
	return d.root.Remove(temp)
}
