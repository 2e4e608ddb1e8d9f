package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"swank-mcp/mcpbridge"
	"swank-mcp/serve"
	"swank-mcp/serve/door"
	"swank-mcp/serve/hub"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/kept"
)

// firstPrincipal is whose the token is that is made at the first start.
const firstPrincipal = "owner"

// What the checkpoints of an image may take where it is one of many, in MiB, and of all images
// in time: one part in so many, with what was not used of that in the last seconds.
const (
	httpCheckpointMB   = 8
	httpCheckpointPart = 10
	httpCheckpointSave = 20 * time.Second
)

// serveHTTP speaks MCP over HTTP until ctx ends.
func (c *command) serveHTTP(ctx context.Context) error {
	tuneForMany()
	log := slog.New(slog.NewTextHandler(c.stderr, &slog.HandlerOptions{Level: c.logLevel}))
	state := c.httpState()
	if state == "" {
		return errors.New("it is not known where to keep tokens and sessions: set HOME, or give --session-dir and --tokens")
	}
	o := door.Options{Hosts: c.http.place.Hosts, Origins: c.http.origins, Rate: c.http.rate, Log: log}
	said, err := c.loadTokens(&o, state)
	if err != nil {
		return err
	}
	box, err := c.sandbox(c.projectDirs, "", log)
	if err == nil && box != nil {
		err = box.Check(c.projectDirs())
	}
	if err == nil {
		err = c.strict(ctx, box)
	}
	if err != nil {
		return err
	}
	if box != nil { // what is missing is logged before a client comes
		var asked sync.WaitGroup
		asked.Go(func() { _, _ = box.Ask(ctx) })
		defer asked.Wait()
	}
	trace, err := c.openTrace()
	if err != nil {
		return err
	}
	defer trace.Close()
	l, err := c.http.place.Listen()
	if err != nil {
		return fmt.Errorf("listening at --http %s: %w", c.http.place.Address, err)
	}
	o.Unix, o.Cert = l.Unix, l.Cert
	rooms := c.rooms(state, trace, log)
	share, err := c.share(rooms, log)
	if err != nil {
		return err
	}
	defer share.close()
	s := serve.New(serve.Options{
		Door:  o,
		Ready: share.ready(),
		Hub: hub.Options{
			Make: func(id hub.ID, newID func() string) (*hub.Work, error) {
				return c.sessionFor(id, newID, rooms, share, trace, log)
			},
			Own:        share.own(),
			Ahead:      rooms.ahead(),
			Handshakes: share.handshakes(),
			Limits:     hub.Limits{Sessions: c.http.sessions, PerPrincipal: c.http.perPrincipal, Images: c.http.images, CPU: c.limits.cpu, Disk: int64(c.limits.diskMB) << 20},
			Hibernate:  c.http.hibernate,
			Forget:     c.http.sessionTimeout,
			Log:        log,
		},
		SessionTimeout: c.http.sessionTimeout,
		Drain:          c.http.drain,
		DrainDelay:     c.http.drainDelay,
		Log:            log,
	})
	fmt.Fprintf(c.stderr, "swank-mcp: serving MCP at %s/mcp\nswank-mcp: %s\n", l.URL, said)
	return s.Serve(ctx, l)
}

// loadTokens gives o the tokens, and says who may use the server. No token is ever said.
func (c *command) loadTokens(o *door.Options, state string) (said string, err error) {
	if c.http.place.NoAuth {
		who := "every program on this machine, of every user, can"
		if strings.HasPrefix(c.http.place.Address, "unix:") {
			who = "whoever can open the socket can"
		}
		return "WARNING: no token is wanted (--no-auth): " + who + " run code as you", nil
	}
	file, made := c.tokensFile(state), false
	if o.Tokens, made, err = door.LoadTokens(file, firstPrincipal); err != nil {
		return "", fmt.Errorf("the tokens: %w", err)
	}
	said = "clients send a token of " + file
	if made {
		said += ", which was made now, with one for " + firstPrincipal
	}
	return said, nil
}

func (c *config) tokensFile(state string) string {
	return cmp.Or(c.http.tokens, filepath.Join(state, "tokens"))
}

// openTrace opens the file of --trace-swank, which all images share.
func (c *command) openTrace() (io.WriteCloser, error) {
	if c.trace == "" {
		return nothing{}, nil
	}
	f, err := os.OpenFile(c.trace, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the trace: %w", err)
	}
	return f, nil
}

// nothing is no trace.
type nothing struct{}

func (nothing) Write(b []byte) (int, error) { return len(b), nil }
func (nothing) Close() error                { return nil }

// httpState is the directory of the tokens and of what is kept of sessions, "" if it is not
// known where.
func (c *config) httpState() string {
	if c.sessionDir != "" {
		dir, err := filepath.Abs(c.sessionDir)
		if err != nil {
			return ""
		}
		return dir
	}
	if state := stateDir(); state != "" {
		return filepath.Join(state, "http")
	}
	return ""
}

// sessionFor makes what a session works with: an image of its own, not started, and a
// directory of its own, below that of its principal. Sessions without a name share one.
func (c *command) sessionFor(id hub.ID, newID func() string, rooms *rooms, share *share, trace io.Writer, log *slog.Logger) (_ *hub.Work, err error) {
	log = log.With("principal", id.Principal, "session", id.Name)
	if err = rooms.make(id); err != nil {
		return nil, err
	}
	dir, ahead, endAhead := rooms.of(id)
	defer func() {
		if err != nil {
			endAhead()
		}
	}()
	cfg := c.lisp
	cfg.Ahead = ahead
	cfg.Log = log
	cfg.Launch.Yields = true
	if c.trace != "" {
		cfg.Trace = trace
	}
	if cfg.CheckpointMB == 0 {
		cfg.CheckpointMB = httpCheckpointMB
	}
	cfg.CopyShare = rooms.copying
	if cfg.Trees, err = c.trees(dir); err != nil {
		return nil, err
	}
	var left *kept.File
	keptDir := ""
	if id.Name != "" {
		keptDir = keptDirOf(rooms.state, id)
		// The key of the session alone: a core of another one's is not its own, however it came there.
		if cfg.Cores, err = kept.CoresIn(cfg.Trees, dir, keptDir); err != nil {
			return nil, err
		}
		if cfg.Autosave {
			cfg.Resume = kept.Last
		}
		if !c.noJournal {
			if left, err = share.open(id, keptDir); err != nil {
				return nil, err
			}
		}
	} else {
		cfg.Autosave = false // nobody could go on from it
	}
	confined, _, err := c.confine(&cfg, dir, nil)
	if err != nil {
		return nil, err
	}
	im := lisp.New(cfg)
	confined(im)
	if dir, _ := c.projectDir(); dir != "" {
		im.WorkIn(dir)
	}
	name := cmp.Or(id.Name, mcpbridge.DefaultSession)
	im.Session(name).KeepIn(left)
	o := c.bridgeOptions(context.Background(), im)
	o.Session, o.SessionDir, o.Kept, o.SessionID = name, dir, left, newID
	o.Log = slog.New(onlyWarnings{log.Handler()}) // the SDK tells of each request
	b := mcpbridge.New(o)
	w := &hub.Work{Image: im, Session: name, Bridge: b, Kept: left, Dir: dir, KeptDir: keptDir}
	hide, shown := c.showToPeople(context.Background(), im, b, true, log)
	w.Ending = hide
	w.Ended = func() {
		endAhead()
		shown()
		cfg.Trees.Close()
	}
	return w, nil
}

// sessionDirOf is the directory of a session, in which its code may write: whatever is in it may
// be a link.
func sessionDirOf(state string, id hub.ID) string {
	dir := filepath.Join(state, "sessions", fileName(id.Principal))
	if id.Name == "" {
		return filepath.Join(dir, "nameless")
	}
	return filepath.Join(dir, "named", fileName(id.Name))
}

// keptDirOf is the directory in which servers keep what the next one has to know of a named
// session: what it defines, who has it, and the key of its checkpoints. No image can reach it.
func keptDirOf(state string, id hub.ID) string {
	return filepath.Join(state, "sessions", fileName(id.Principal), "kept", fileName(id.Name))
}

// onlyWarnings leaves out what is less.
type onlyWarnings struct{ slog.Handler }

// Enabled implements slog.Handler.
func (h onlyWarnings) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && h.Handler.Enabled(ctx, l)
}

// fileName is the name as that of a directory, also where those do not tell capital letters
// from small ones.
func fileName(name string) string {
	lower := strings.ToLower(name)
	if lower == name {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return lower + "~" + hex.EncodeToString(sum[:4])
}
