package mcpbridge

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/internal/files"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/stdio"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/kept"
	"swank-mcp/swank/lisp/project"
)

// Options of a [Bridge]. Zero values mean the defaults named.
type Options struct {
	Open       func(session string) tools.Session // opens a session of that name in the image; required
	Version    string                             // of the server, as clients see it; "" is "devel"
	Timeout    time.Duration                      // of an evaluation that names none; 30 s
	MaxTimeout time.Duration                      // the longest an evaluation may name; 600 s
	JobLimit   time.Duration                      // of an evaluation in the background; [lisp.JobLimit]
	MaxOutput  int                                // characters of a reply before it is cut; 40,000
	Tools      Selection                          // must pass its Check; the default set
	Session    string                             // of the first connection, "default"; each further connection has a session of its own
	Trees      *files.Trees                       // the directories in which code may write, opened; nil opens them when they are first used
	SessionDir string                             // where sessions are saved; "" is the working directory
	Project    func() *project.Project            // what the sessions work for, for the instructions; nil is none
	Roots      func(dirs []string)                // told of the directories that the client says it works in; nil: nobody asks it
	WatchFiles bool                               // load what is saved of the project's loaded systems
	Kept       *kept.File                         // where the session is kept for the next server; nil keeps none
	SessionID  func() string                      // makes the ids of connections over HTTP; nil: random ones
	Log        *slog.Logger                       // nil discards
}

// Defaults of [Options].
const (
	DefaultTimeout    = 30 * time.Second
	DefaultMaxTimeout = 600 * time.Second
	DefaultMaxOutput  = 40_000
)

// minOutput is the least MaxOutput: less has no room for the two ends of a text
// and the line between.
const minOutput = 1_000

func (o *Options) setDefaults() {
	o.Version = cmp.Or(o.Version, "devel")
	o.Session = cmp.Or(o.Session, DefaultSession)
	if o.MaxTimeout <= 0 {
		o.MaxTimeout = DefaultMaxTimeout
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	o.Timeout = min(o.Timeout, o.MaxTimeout)
	if o.JobLimit <= 0 {
		o.JobLimit = lisp.JobLimit
	}
	if o.MaxOutput <= 0 {
		o.MaxOutput = DefaultMaxOutput
	}
	o.MaxOutput = max(o.MaxOutput, minOutput)
	if o.Trees == nil {
		o.Trees = &files.Trees{}
		if dir, err := filepath.Abs(o.SessionDir); err == nil {
			o.Trees.Keep(dir)
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

func (o *Options) limits() tools.Limits {
	return tools.Limits{Timeout: o.Timeout, MaxTimeout: o.MaxTimeout, JobLimit: o.JobLimit, MaxOutput: o.MaxOutput}
}

// DefaultSession is the session of the first connection where [Options] name no
// other. Protocol 2026-07-28 has no sessions of its own, and a server on stdio has
// one connection.
const DefaultSession = "default"

// Bridge is the MCP server: the tools over one image. What belongs to a connection
// is in its workspace, so any number may be served, of any protocol version.
type Bridge struct {
	o      Options
	server *mcp.Server
	tools  []*tools.Tool // those that the client is shown
	taken  []*tools.Tool // those that it can call, by their names

	named  atomic.Bool // a workspace has the session of the name in o
	shared func() *workspace
	mu     sync.Mutex
	others map[*mcp.ServerSession]*workspace // of connections that Serve has not made

	base context.Context // parent of every handler, beside its own context
	stop context.CancelCauseFunc
}

// New returns a bridge to the sessions that o.Open opens. It starts nothing.
func New(o Options) *Bridge {
	o.setDefaults()
	b := &Bridge{o: o, tools: o.Tools.pick(), taken: o.Tools.callable(), others: map[*mcp.ServerSession]*workspace{}}
	b.base, b.stop = context.WithCancelCause(context.Background())
	b.shared = sync.OnceValue(b.newWorkspace)
	b.server = mcp.NewServer(b.implementation(), &mcp.ServerOptions{
		Instructions: b.instructions(),
		Logger:       o.Log,
		Capabilities: capabilities(),

		CompletionHandler: b.complete,
		GetSessionID:      o.SessionID,

		InitializedHandler: func(ctx context.Context, r *mcp.InitializedRequest) { b.askForRoots(ctx, r.Session) },
		//lint:ignore SA1019 see askForRoots
		RootsListChangedHandler: func(ctx context.Context, r *mcp.RootsListChangedRequest) { b.askForRoots(ctx, r.Session) },
	})
	b.server.AddReceivingMiddleware(b.guard)
	for _, t := range b.taken {
		b.register(t)
	}
	b.addResources()
	b.addPrompts()
	return b
}

func (b *Bridge) implementation() *mcp.Implementation {
	return &mcp.Implementation{Name: "swank-mcp", Title: "Common Lisp over Swank", Version: b.o.Version}
}

// capabilities are never nil: that would advertise logging, which the
// protocol has given up. None of the lists changes.
func capabilities() *mcp.ServerCapabilities {
	return &mcp.ServerCapabilities{
		Tools:       &mcp.ToolCapabilities{},
		Resources:   &mcp.ResourceCapabilities{},
		Prompts:     &mcp.PromptCapabilities{},
		Completions: &mcp.CompletionCapabilities{},
	}
}

// Server returns the SDK's server, for other transports than [Bridge.Serve]'s.
func (b *Bridge) Server() *mcp.Server { return b.server }

// Close ends every call in flight. The image is its owner's to close.
func (b *Bridge) Close() { b.stop(tools.ErrShutdown) }

// Within returns a context for connections by [Bridge.Server] that come and go, as those of
// HTTP do: all whose context it is work in the session that [Options] name, and share its
// long replies. [Bridge.Leave] ends that.
func (b *Bridge) Within(ctx context.Context) context.Context { return b.shared().within(ctx) }

// Tell has the next reply to a connection of [Bridge.Within] begin with the text, which is
// one line or more.
func (b *Bridge) Tell(text string) { b.shared().news.add(render.Safe(text)) }

// Leave ends every call in flight, and what [Bridge.Within] has begun.
func (b *Bridge) Leave() {
	b.Close()
	b.shared().close()
}

// closeGrace is how long Serve waits for handlers after ctx has ended. A
// client that does not read its pipe can hold them in a write for ever.
const closeGrace = time.Second

// stopGrace is how long handlers may take to stop after the end of input. An
// evaluation takes milliseconds, but an image that is frozen never says so.
const stopGrace = time.Second

// Serve speaks MCP over in and out until the end of in or of ctx, and closes
// them. A client that has closed its end of in and reads nothing of out ends in, too,
// however much of in is left to read. At the end of in, calls in flight are answered
// within [stdio.DefaultGrace]; at the end of ctx they are given up, and Serve returns
// within about a second. The error is nil after either.
func (b *Bridge) Serve(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := b.newWorkspace()
	defer w.close()
	keep := &keepConn{Transport: &stdio.Transport{In: stdio.PollableIn(in), Out: stdio.PollableOut(out), Order: &w.order, Aside: &w.aside}}
	session, err := b.server.Connect(w.within(context.WithoutCancel(ctx)), keep, nil)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		err := session.Wait()
		if errors.Is(err, os.ErrClosed) { // by us: the client reads nothing any more
			err = nil
		}
		ended <- err
	}()
	select {
	case err = <-ended:
		return err
	case <-ctx.Done():
	case <-keep.conn.(*stdio.Conn).InputEnded():
		// The SDK cancels what is left and waits for it, however long it takes.
		select {
		case err = <-ended:
			return err
		case <-ctx.Done():
		case <-time.After(stopGrace):
		}
	}
	w.end(tools.ErrShutdown)
	// Not session.Close, which waits for the handlers first.
	go keep.conn.Close()
	select {
	case <-ended:
	case <-time.After(closeGrace):
	}
	return nil
}

// keepConn keeps the connection of a transport.
type keepConn struct {
	mcp.Transport
	conn mcp.Connection
}

func (k *keepConn) Connect(ctx context.Context) (conn mcp.Connection, err error) {
	k.conn, err = k.Transport.Connect(ctx)
	return k.conn, err
}
