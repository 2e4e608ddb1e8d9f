package mcpbridge

import (
	"context"
	"crypto/rand"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/mcpbridge/aside"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/spool"
	"swank-mcp/mcpbridge/stdio"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp/kept"
)

// workspace is what belongs to one connection, and the bridge as its client sees it.
// Handlers find it by [Bridge.workspace]. Nothing holds it after the connection has
// ended and its handlers have returned.
type workspace struct {
	*Bridge
	session  tools.Session  // no other connection works in it
	kept     *kept.File     // where the session is kept for the next server, or nil
	spool    spool.Spool    // of the replies that were too long
	files    tools.Files    // that replies name by path
	profiles tools.Profiles // the last of each form
	order    stdio.Order    // in which calls reach their handlers
	aside    aside.Store    // of the long arguments of calls
	news     news           // what happened outside of calls

	moved atomic.Pointer[context.CancelFunc] // begins to watch the project's files anew; nil if they are not watched

	passing bool // the session ends with the connection: no other one can name it

	life context.Context // ends with the service of the connection
	end  context.CancelCauseFunc
}

type workspaceKey struct{}

// newWorkspace makes a workspace, which its caller closes. The session named in
// [Options], which is kept for the next server, belongs to one workspace at a time. The
// others have sessions of their own. Their names are random, so that two servers at one
// image do not choose the same, and have a character that --session does not take.
func (b *Bridge) newWorkspace() *workspace {
	w := &workspace{Bridge: b, kept: b.o.Kept}
	if name := b.o.Session; b.named.Swap(true) {
		w.session, w.kept, w.passing = b.o.Open(name+"#"+rand.Text()[:8]), nil, true
	} else {
		w.session = b.o.Open(name)
	}
	w.life, w.end = context.WithCancelCause(b.base)
	w.watchFiles()
	return w
}

// sessionGrace is how long the image may take to give up a session: what is suspended in
// it runs its cleanup forms.
const sessionGrace = 5 * time.Second

// close ends what the workspace has, when its connection has ended.
func (w *workspace) close() {
	w.end(tools.ErrShutdown)
	if err := w.files.Remove(); err != nil {
		w.o.Log.Warn("removing the files of a connection", "err", err)
	}
	if !w.passing {
		w.named.Store(false)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), sessionGrace)
	defer cancel()
	if err := w.session.Close(ctx); err != nil {
		w.o.Log.Warn("closing the session of a connection", "err", err)
	}
}

// within is the context to connect with: handlers get its values, though not its end.
func (w *workspace) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, workspaceKey{}, w)
}

// workspace returns the workspace of the connection whose handler has ctx and s. A
// connection that was made by [Bridge.Server], not by [Bridge.Serve], gets its
// workspace with the first call.
func (b *Bridge) workspace(ctx context.Context, s *mcp.ServerSession) *workspace {
	if w, ok := ctx.Value(workspaceKey{}).(*workspace); ok {
		return w
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.others[s]
	if w == nil {
		w = b.newWorkspace()
		b.others[s] = w
		go func() {
			_ = s.Wait() // however it ended
			w.close()
			b.mu.Lock()
			defer b.mu.Unlock()
			delete(b.others, s)
		}()
	}
	return w
}

// lifeOf returns the context with which the calls of a connection end.
func (b *Bridge) lifeOf(ctx context.Context) context.Context {
	if w, ok := ctx.Value(workspaceKey{}).(*workspace); ok {
		return w.life
	}
	return b.base
}

// env is what the tools work with.
func (w *workspace) env() tools.Env {
	return tools.Env{
		Session: w.session, Spool: &w.spool, Files: &w.files, Profiles: &w.profiles, Limits: w.o.limits(),
		ReadOnly: w.o.Tools.ReadOnly, Trees: w.o.Trees, SessionDir: w.o.SessionDir, Project: w.o.Project, Kept: w.kept, Takes: w.takes,
	}
}

// cut returns text within the limit of size of a reply.
func (w *workspace) cut(text string) string { return w.spool.Cut(text, w.o.MaxOutput) }

// maxErrorOutput is how many characters of an error are shown: hosts cut those of
// more than about 10,000.
const maxErrorOutput = 8_000

// result is a reply as the protocol wants it, within the limits of size.
func (w *workspace) result(r tools.Reply) *mcp.CallToolResult {
	for _, text := range w.session.Shown() {
		w.news.add(render.Safe(text))
	}
	limit := w.o.MaxOutput
	if r.Failed {
		limit = min(limit, maxErrorOutput)
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: w.spool.Cut(w.news.before(r.Text), limit)}},
		IsError: r.Failed,
	}
}
