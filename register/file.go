package register

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Outcome is what has been done.
type Outcome int

// Nothing had to be done, or the server was added, changed or removed.
const (
	Unchanged Outcome = iota
	Added
	Changed
	Removed
)

// ErrNoCommand is a server of that name with an address: a person has put it there.
var ErrNoCommand = fmt.Errorf("its server %q is not one that is started by a command; --uninstall removes it", ServerName)

// A FileError is a file that was left as it is, and why.
type FileError struct {
	File string
	Err  error
}

func (e *FileError) Error() string {
	return fmt.Sprintf("%s is left as it is: %v", e.File, e.Err)
}

func (e *FileError) Unwrap() error { return e.Err }

// A Place is a file to be edited.
type Place struct {
	File  string
	Below string      // an existing directory that the file is in; links may not lead out of it
	Mode  fs.FileMode // of the file, if it is made
}

// Add writes the server into a file of the client, which is made if there is none. If it
// is there already, it gets the command and the arguments, and keeps what else it has.
// An error is a [*FileError], and the file is as it was.
func (c *Client) Add(p Place, s Server) (Outcome, error) {
	had, err := c.Has(p.File)
	if err != nil {
		return Unchanged, err
	}
	if had != nil && had.Command == "" {
		return Unchanged, &FileError{p.File, ErrNoCommand}
	}
	if had != nil && had.Command == s.Command && slices.Equal(had.Args, s.Args) {
		return Unchanged, nil
	}
	return c.edit(p, &s, func(text []byte) ([]byte, error) {
		if c.format == asTOML {
			return addTOML(text, c, s)
		}
		return addJSON(text, c, s)
	})
}

// Remove takes the server out of a file of the client, and removes the file if nothing
// is left in it. Errors are as in [Client.Add].
func (c *Client) Remove(p Place) (Outcome, error) {
	return c.edit(p, nil, func(text []byte) ([]byte, error) {
		if c.format == asTOML {
			return removeTOML(text, c)
		}
		return removeJSON(text, c)
	})
}

// Has returns the command and the arguments of the server in a file of the client, nil if
// it is not there.
func (c *Client) Has(file string) (*Server, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &FileError{file, err}
	}
	value, err := c.parse(bytes.TrimPrefix(text, mark))
	if err != nil {
		return nil, &FileError{file, fmt.Errorf("it cannot be read: %w", err)}
	}
	return c.server(value), nil
}

// server is the server in the content of a file, nil if it is not there.
func (c *Client) server(value map[string]any) *Server {
	servers, _ := value[c.key].(map[string]any)
	entry, ok := servers[ServerName].(map[string]any)
	if !ok {
		return nil
	}
	s := &Server{}
	s.Command, _ = entry["command"].(string)
	args, _ := entry["args"].([]any)
	for _, a := range args {
		s.Args = append(s.Args, fmt.Sprint(a))
	}
	return s
}

// parse reads the text of a file; an empty one has nothing in it.
func (c *Client) parse(text []byte) (map[string]any, error) {
	switch {
	case c.format == asTOML:
		return parseTOML(text)
	case len(bytes.TrimSpace(text)) == 0:
		return map[string]any{}, nil
	}
	return parseJSON(text)
}

var mark = []byte("\ufeff") // of Windows' editors, at the beginning

// edit changes the text of a file so that it has the server s, nil for none.
func (c *Client) edit(p Place, s *Server, change func([]byte) ([]byte, error)) (Outcome, error) {
	failed := func(err error) (Outcome, error) { return Unchanged, &FileError{p.File, err} }
	place, err := p.really()
	if err != nil {
		return failed(err)
	}
	before, err := os.ReadFile(place)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed(err)
	}
	old, marked := bytes.CutPrefix(before, mark)
	was, err := c.parse(old)
	if err != nil {
		return failed(fmt.Errorf("it cannot be read: %w", err))
	}
	outcome := Added
	switch had := c.server(was) != nil; {
	case s == nil && !had:
		return Unchanged, nil
	case s == nil:
		outcome = Removed
	case had:
		outcome = Changed
	}
	text, err := change(old)
	if err == nil {
		err = c.check(was, text, s)
	}
	if err != nil {
		return failed(err)
	}
	_, notLink := os.Readlink(p.File)
	if left := strings.TrimSpace(string(text)); outcome == Removed && (left == "" || left == "{}") && notLink != nil {
		err = os.Remove(place)
	} else {
		if marked {
			text = append(bytes.Clone(mark), text...)
		}
		err = replace(place, before, text, p.Mode)
	}
	if err != nil {
		return failed(err)
	}
	return outcome, nil
}

// check reports an error if text has not the server s, or nil, and beside it what was said
// before.
func (c *Client) check(was map[string]any, text []byte, s *Server) error {
	now, err := c.parse(text)
	has := c.server(now)
	if err == nil && reflect.DeepEqual(c.others(was, s), c.others(now, s)) &&
		(has == nil) == (s == nil) && (s == nil || has.Command == s.Command && slices.Equal(has.Args, s.Args)) {
		return nil
	}
	return errors.New("it is written in a way that this program cannot edit")
}

// others is what value says beside the server s: all but its entry if there is to be none,
// else all but the command, the arguments and what a new entry begins with.
func (c *Client) others(value map[string]any, s *Server) map[string]any {
	others := maps.Clone(value)
	servers, _ := value[c.key].(map[string]any)
	rest := maps.Clone(servers)
	delete(rest, ServerName)
	delete(others, c.key)
	if len(rest) > 0 {
		others[c.key] = rest
	}
	entry, _ := servers[ServerName].(map[string]any)
	for name, v := range entry {
		isNew := name == "command" || name == "args" || slices.ContainsFunc(c.extra, func(m member) bool { return m.name == name })
		if s != nil && !isNew {
			others[ServerName+"."+name] = v
		}
	}
	return others
}

// really follows links. One that leads out of the directory that the file is to be below
// is refused: it is not the user who chose what is to be written there.
func (p Place) really() (string, error) {
	below, err := filepath.EvalSymlinks(p.Below)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(p.Below, p.File)
	if err != nil {
		return "", err
	}
	there, missing := filepath.Join(below, rel), ""
	for {
		place, err := filepath.EvalSymlinks(there)
		if err == nil {
			there = filepath.Join(place, missing)
			break
		}
		if _, e := os.Lstat(there); e == nil || !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("following links: %w", err)
		}
		there, missing = filepath.Dir(there), filepath.Join(filepath.Base(there), missing)
	}
	if rel, err := filepath.Rel(below, there); err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("it is really %s, which is not in %s", there, p.Below)
	}
	return there, nil
}

// replace puts text into the place of a file, whole or not at all, unless somebody else
// has written it since it was read.
func replace(file string, before, text []byte, mode fs.FileMode) error {
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	} else if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".swank-mcp-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // if it does not become the file
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	now, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, before) {
		return errors.New("another program wrote it at this moment; run this again")
	}
	return os.Rename(f.Name(), file)
}
