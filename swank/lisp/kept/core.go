package kept

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"swank-mcp/internal/files"
	"swank-mcp/swank/lisp/journal"
)

// Core says what a core in [Cores] is of: the file beside it that makes it a good one.
type Core struct {
	Seal     string    `json:"seal"` // first, so that no other text is taken for it
	Name     string    `json:"name"`
	Auto     bool      `json:"auto,omitempty"` // nobody has asked for it
	Time     time.Time `json:"time"`           // as of which it is
	Saved    time.Time `json:"saved,omitzero"` // when it was saved, which says what is newest
	After    string    `json:"after"`          // what was evaluated last, one line
	Summary  string    `json:"summary"`        // "57 definitions, 3 systems"
	Size     int64     `json:"size"`           // bytes
	Checksum Checksum  `json:"checksum"`       // of all but its end, where it stands, too

	Made json.RawMessage `json:"made"` // of what, for who starts it
	Work

	Later map[string][]string `json:"later,omitempty"` // by session, the first of the variables whose values the source has not

	dir     string
	foreign error
}

// Foreign returns ErrForeign if it is not known that a server of this user's has saved the
// core, and else nil. Only then it may be run, and what it says of itself be believed.
func (c *Core) Foreign() error { return c.foreign }

// Work is what the sessions of an image have defined, by their names.
type Work struct {
	Sessions map[string]*journal.Journal `json:"sessions"`         // what each had defined
	Behind   map[string]*journal.Journal `json:"behind,omitempty"` // what the image has of that, where it has less: the session was not brought back yet
}

// In returns what the image has of what the session has defined. It is not to be changed.
func (w *Work) In(session string) *journal.Journal {
	if j := w.Behind[session]; j != nil {
		return j
	}
	if j := w.Sessions[session]; j != nil {
		return j
	}
	return &journal.Journal{}
}

// Checksum is a CRC-32C.
type Checksum uint32

// MarshalText writes it in hexadecimal digits.
func (c Checksum) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%08x", uint32(c)), nil }

// UnmarshalText reads it.
func (c *Checksum) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 32)
	*c = Checksum(n)
	return err
}

// Path is that of the core.
func (c *Core) Path() string { return filepath.Join(c.dir, c.Name+coreSuffix) }

// Source is the path of the file that has what the sessions had defined as Lisp source.
func (c *Core) Source() string { return filepath.Join(c.dir, c.Name+sourceSuffix) }

const (
	coreSuffix     = ".core"
	sourceSuffix   = ".lisp"
	manifestSuffix = ".json"
	temporary      = ".new-" // begins the name of a file that is being written
)

// Bounds of what says what a core is, which has what all sessions of an image have defined.
const (
	maxManifest = 16 << 20
	maxForeign  = 1 << 20  // of one that no server of this user's has sealed
	maxList     = 64 << 20 // of all that are read for a list
	maxEntries  = 10_000   // of the directory
)

// CoresDir is where the cores are in the directory of the sessions.
const CoresDir = ".swank-mcp"

// Cores are the checkpoints on the disk of a directory. Each is three files, of which the
// one that says what it is comes last: without that the others are leftovers.
type Cores struct {
	trees    *files.Trees
	sessions string // the directory that has theirs, absolute
	dir      string
	keys     string // the directory of the key, or ""
}

// CoresIn returns those in a directory of sessions, which is opened through trees; nil are its own. In
// the directory keys, which is the user's alone, is the key by which they are known again; "" is none.
// It makes nothing.
func CoresIn(trees *files.Trees, sessions, keys string) (*Cores, error) {
	dir, err := filepath.Abs(sessions)
	if trees == nil {
		trees = &files.Trees{}
	}
	trees.Keep(dir)
	return &Cores{trees, dir, filepath.Join(dir, CoresDir), keys}, err
}

// coreName are the names that become parts of names of files.
var coreName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)

// Last is the name by which the newest is found.
const Last = "last"

// AutoName is the name of one that nobody has named.
func AutoName(t time.Time) string { return autoPrefix + t.Format("20060102-150405") }

const autoPrefix = "autosave-"

// IsName reports whether one can be called so.
func IsName(name string) bool { return coreName.MatchString(name) }

// CheckName says why a person cannot call one so.
func CheckName(name string) error {
	switch {
	case !coreName.MatchString(name):
		return fmt.Errorf("%q is not 1 to 64 letters, digits and . _ -", name)
	case name == Last || strings.HasPrefix(name, autoPrefix):
		return fmt.Errorf("%q has a meaning of its own on the disk", name)
	}
	return nil
}

// ErrCoreExists is the error of saving one whose name is in use.
var ErrCoreExists = errors.New("a checkpoint on the disk has that name")

// savedAt is when the core was saved; of those that do not say so, as of when it is.
func (c *Core) savedAt() time.Time {
	if c.Saved.IsZero() {
		return c.Time
	}
	return c.Saved
}

// List returns the cores, the one that was saved last first: after an undo it is as of an
// earlier time than others. One that cannot be read is left out.
func (c *Cores) List() []*Core {
	at, err := c.open()
	if err != nil {
		return nil
	}
	defer at.close()
	return at.list()
}

// Find returns the core of that name. The error wraps fs.ErrNotExist where there is none,
// and says else what is wrong with it.
func (c *Cores) Find(name string) (*Core, error) {
	at, err := c.open()
	if err != nil {
		return nil, err
	}
	defer at.close()
	core, _, err := at.find(name)
	return core, err
}

// Drop removes the core of that name and reports whether there was one.
func (c *Cores) Drop(name string) bool {
	at, err := c.open()
	if err != nil {
		return false
	}
	defer at.close()
	return at.drop(name)
}

// Bounds of the cores that nobody has asked for. The newest stays in any case.
const (
	maxAutos     = 5
	maxAutoBytes = 1 << 30
)
