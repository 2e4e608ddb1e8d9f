package hub

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/mcpbridge"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/kept"
)

// DefaultName is the session of a principal that names none, in the era of the protocol that
// has no sessions of its own.
const DefaultName = "default"

// ID says which session one is.
type ID struct {
	Principal string
	Name      string // "" is of one client alone, from its handshake to its end
}

// Work is what a session works with. The hub ends it, when the session ends.
type Work struct {
	Image   Image      // not started
	Session string     // its name in the image
	Bridge  Bridge     // over that session
	Kept    *kept.File // where it is kept, or nil
	Dir     string     // in which it writes and no other principal's does, or ""
	KeptDir string     // in which Kept is and its code cannot write, or ""

	Ending func() // called when its calls have ended, before the image does; may be nil
	Ended  func() // called when the image has ended; may be nil
}

// Image runs the code of sessions. The interface has what a server asks of a [lisp.Image], whose
// methods say what these do.
type Image interface {
	Session(name string) *lisp.Session
	Subscribe(size int, output bool) *lisp.Subscription
	Runs() bool
	InUse() bool
	Uses(memory bool) lisp.Uses
	StopFor(why string) (evaluations int)
	GiveUp(why string) (ran bool)
	CallsEnd() time.Time
	Evict(ctx context.Context, whose string, gone func()) error
	Own(lisp.Owner)
	WriteNothing(nothing bool) error
	Hibernate(ctx context.Context) error
	SaveAtEnd()
	Close(ctx context.Context) error
}

var _ Image = (*lisp.Image)(nil)

// Bridge is what the clients of a session speak with: a *[mcpbridge.Bridge], whose methods say
// what these do.
type Bridge interface {
	Server() *mcp.Server
	Within(ctx context.Context) context.Context
	Tell(text string)
	Close()
	Leave()
}

var _ Bridge = (*mcpbridge.Bridge)(nil)

// Options of a [Hub].
type Options struct {
	// Make makes what a session works with; it starts nothing. NewID is for
	// mcpbridge.Options.SessionID.
	Make func(id ID, newID func() string) (*Work, error)
	Made func(*Work) // told of what was made, before it is used; may be nil
	// Own makes this server the owner of a named session, before Make, where others share
	// the directory of the sessions. nil: there are no others.
	Own func(ID) (Lease, error)
	// Handshakes returns the directory in which the others find how connections with a named
	// session have begun. nil: connections end with the server.
	Handshakes func(ID) (dir string)
	// Ahead has images for the sessions that come; nil: there are none.
	Ahead Ahead
	Limits
	Hibernate time.Duration // after which an image that nobody uses is put away; 0 is never
	Forget    time.Duration // after which a named session is left to the disk that is put away and has no client; 0 is never
	Log       *slog.Logger  // nil discards
}

// Hub has the sessions. Its goroutines are the sweeper, the one that starts images ahead, and
// those that bring sessions back; Close ends them.
type Hub struct {
	o       Options
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	late    context.Context // ends some time after Close has begun
	tooLate context.CancelFunc
	work    sync.WaitGroup
	starts  starts

	mu       sync.Mutex
	named    map[ID]*Session
	nameless map[*Session]bool
	ending   map[ID]*ending          // named sessions that are being ended, or waited for
	ids      map[string]*Session     // by the ids of connections
	gone     map[string]gone         // by the ids of connections whose sessions have made room
	goneIDs  []string                // of those, the oldest first
	owned    map[string]int          // sessions by principal
	spent    map[string]*cpuSpending // by principal
	serial   int                     // the number of the last session without a name
	awake    int                     // sessions that have, or may have, an image
	waiting  []*wait                 // for an image's place, the first that came first
	changed  chan struct{}           // closed when those have to look again; nil while none waits
	closed   bool
	counts   Counts
}

// Counts are what has happened since the hub was made.
type Counts struct {
	Made, Ended, Hibernated, Woken, Refused int
}

// ErrClosed is the answer of a hub that has been closed.
var ErrClosed = errors.New("the server is ending; send the same again in a few seconds")

// New returns a hub without sessions.
func New(o Options) *Hub {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{o: o, named: map[ID]*Session{}, nameless: map[*Session]bool{}, ending: map[ID]*ending{}, ids: map[string]*Session{}, gone: map[string]gone{}, owned: map[string]int{}, spent: map[string]*cpuSpending{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.late, h.tooLate = context.WithCancel(context.Background())
	h.work.Go(h.sweep)
	if o.Own != nil {
		h.work.Go(h.yield)
	}
	if o.CPU > 0 || o.Disk > 0 {
		h.work.Go(h.meter)
	}
	if o.Ahead != nil {
		h.work.Go(func() { o.Ahead.Fill(h.ctx, h.room) })
	}
	return h
}

// Session is one of a [Hub].
type Session struct {
	ID
	hub   *Hub
	label string // its name, or a number that no name is like
	log   *slog.Logger
	lease Lease // nil: no other server can have it

	making  sync.Once            // its making begins
	work    atomic.Pointer[Work] // nil until it has been made
	made    chan struct{}        // closed when its making has ended
	notMade error                // why it could not be made; there when made is closed

	turning sync.Mutex // held while the image is put away or made ready
	back    bool       // what the server before has kept was looked at; turning guards it

	costly   sync.Mutex // held while that is found out which takes long; guards these:
	memory   int64
	memoryAt time.Time
	disk     diskUse
	diskAt   time.Time
	diskTook time.Duration
	capped   bool  // its image writes no files, because there are too many
	allowed  int64 // bytes that it may have then
	grows    bool  // it has more

	connecting sync.Mutex // held while a connection begins

	// Guarded by hub.mu:
	since   time.Time            // when it was made
	used    time.Time            // when it was used last
	users   int                  // requests that are being answered
	streams int                  // that clients have open
	heard   bool                 // a client had one open
	awake   bool                 // it counts among the images
	woken   bool                 // it has done so before, or does
	yields  *wait                // for which its image is about to be given up, or nil
	jobs    int                  // that run in its image
	cpu     cpuSeen              // what was read of its image last
	ended   bool                 // it is one of the hub's no more
	issued  map[string]time.Time // ids of connections, and when they were made
	next    string               // the id of the connection that begins; "" is any
}

// sessionName are the names that sessions may have.
var sessionName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)

// IsName reports whether a session can be called so.
func IsName(name string) bool { return sessionName.MatchString(name) }

// Named returns the principal's session of that name, which comes into being by being named.
// It waits for one of that name that is being ended, as long as ctx says. The error is a
// *LimitError, ErrClosed, that of Options.Own, the cause of ctx, or why it could not be made.
func (h *Hub) Named(ctx context.Context, principal, name string) (*Session, error) {
	id := ID{principal, name}
	for {
		h.mu.Lock()
		before := h.ending[id]
		if before != nil { // it has the file in which the session is kept
			h.mu.Unlock()
			select {
			case <-before.over:
			case <-ctx.Done():
			}
			switch {
			case ctx.Err() != nil:
				return nil, context.Cause(ctx)
			case before.err != nil: // to wait as long once more would give the same
				return nil, before.err
			}
			continue
		}
		s := h.named[id]
		var err error
		if s == nil && h.o.Own != nil {
			s, err = h.ownLocked(id)
		} else if s == nil {
			if s, err = h.addLocked(id); err == nil {
				h.named[id] = s
			}
		}
		h.mu.Unlock()
		return h.made(ctx, s, err)
	}
}

// Nameless returns a new session for one client.
func (h *Hub) Nameless(principal string) (*Session, error) {
	h.mu.Lock()
	s, err := h.addLocked(ID{Principal: principal})
	if err == nil {
		h.nameless[s] = true
	}
	h.mu.Unlock()
	return h.made(context.Background(), s, err)
}

// addLocked makes a session, if there is room.
func (h *Hub) addLocked(id ID) (*Session, error) {
	if h.closed {
		return nil, ErrClosed
	}
	if err := h.roomLocked(id.Principal); err != nil {
		return nil, err
	}
	h.counts.Made++
	h.owned[id.Principal]++
	now := time.Now()
	s := &Session{ID: id, hub: h, label: id.Name, since: now, used: now, issued: map[string]time.Time{}, made: make(chan struct{})}
	if id.Name == "" {
		h.serial++
		s.label = fmt.Sprintf("~%d", h.serial)
	}
	s.log = h.o.Log.With("principal", id.Principal, "session", s.label)
	s.log.Info("a session begins")
	return s, nil
}

// newID makes the id of a connection of s.
func (s *Session) newID() string {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	id := cmp.Or(s.next, rand.Text())
	s.next = ""
	s.issued[id] = time.Now()
	s.hub.ids[id] = s
	return id
}

// Connected returns the session that a connection of the principal's has, which was made at
// the session's place: its name, or "" for the one of those without. Of all other ids it
// says nothing but nil.
func (h *Hub) Connected(principal, name, id string) *Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.ids[id]; s != nil && s.ID == (ID{principal, name}) {
		return s
	}
	return nil
}

// Work returns what the session works with. Whoever has been given s has it; what looks at all
// sessions finds nil where one is still being made.
func (s *Session) Work() *Work { return s.work.Load() }

// Enter says that a request of s is being answered, until the function returned is called.
func (s *Session) Enter() (leave func()) {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	s.users++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		s.users--
		s.used = time.Now()
		h.changeLocked()
	}
}

// Ended reports whether s is no session of the hub's any more. One that was entered before it
// was asked is not given to another server meanwhile.
func (s *Session) Ended() bool {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return s.ended
}

// Info is what is known of a session.
type Info struct {
	Principal   string    `json:"-"`
	Name        string    `json:"name"` // or "~N" of one without a name
	Since       time.Time `json:"since"`
	Used        time.Time `json:"used"`
	Users       int       `json:"requests"`    // that are being answered
	Connections int       `json:"connections"` // of clients with a handshake
	Awake       bool      `json:"awake"`       // it has, or may have, an image
}

func (s *Session) infoLocked() Info {
	return Info{s.Principal, s.label, s.since, s.used, s.users, len(s.issued), s.awake}
}

// List returns the sessions of all principals, in the order in which they were made.
func (h *Hub) List() (list []Info) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.allLocked() {
		list = append(list, s.infoLocked())
	}
	slices.SortFunc(list, func(a, b Info) int { return a.Since.Compare(b.Since) })
	return list
}

// Counts returns what has happened, and how many sessions are awake now.
func (h *Hub) Counts() (c Counts, awake int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.counts, h.awake
}

func (h *Hub) allLocked() (all []*Session) {
	for _, s := range h.named {
		all = append(all, s)
	}
	for s := range h.nameless {
		all = append(all, s)
	}
	return all
}
