package mcpbridge

import (
	"context"
	"strings"
	"sync"

	"swank-mcp/mcpbridge/tools"
	"swank-mcp/mcpbridge/watch"
)

// news is what happened outside of calls, for the next reply. Any goroutine may use it.
type news struct {
	mu    sync.Mutex
	texts []string
}

// maxNews is how much of it is kept; what is older is dropped.
const maxNews = 5

func (n *news) add(text string) {
	if text == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts = append(n.texts, text)
	n.texts = n.texts[max(0, len(n.texts)-maxNews):]
}

// before returns text, behind what is new.
func (n *news) before(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.texts) > 0 {
		text = strings.Join(n.texts, "\n\n") + "\n\n" + text
		n.texts = nil
	}
	return text
}

// watchFiles loads what is saved of the project's systems, in turn with the calls, until
// the connection ends. Only the connection with the named session does: there is one image.
func (w *workspace) watchFiles() {
	if !w.o.WatchFiles || w.o.Project == nil || w.passing {
		return
	}
	go func() {
		for w.life.Err() == nil {
			ctx, cancel := context.WithCancel(w.life)
			w.moved.Store(&cancel)
			w.watchProject(ctx, w.o.Project().Dirs)
			cancel()
		}
	}()
}

// watchProject watches until ctx ends: the connection does, or the project moves.
func (w *workspace) watchProject(ctx context.Context, dirs []string) {
	err := watch.Sources(ctx, w.o.Trees, dirs, func() { tools.Reload(ctx, w.session, &w.spool, nil, w.news.add) })
	if err != nil {
		w.o.Log.Warn("watching the project's files", "err", err)
		w.news.add("; The files of the project are not watched: " + err.Error())
		<-ctx.Done()
	}
}

// projectMoved has the files of the project watched where it is now.
func (w *workspace) projectMoved() {
	if cancel := w.moved.Load(); cancel != nil {
		(*cancel)()
	}
}
