package mcpbridge

import (
	"context"
	"net/url"
	"path/filepath"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rootsPatience is how long a client may take to say where it works.
const rootsPatience = 10 * time.Second

// askForRoots asks a client that has roots for them, beside its calls, and passes on
// those that are directories. The protocol is giving roots up; clients have them still,
// and some start servers in a directory that is not the project's.
func (b *Bridge) askForRoots(ctx context.Context, s *mcp.ServerSession) {
	p := s.InitializeParams()
	//lint:ignore SA1019 clients that have roots are the reason
	if b.o.Roots == nil || p == nil || p.Capabilities == nil || p.Capabilities.RootsV2 == nil {
		return
	}
	life, w := b.lifeOf(ctx), b.workspace(ctx, s)
	go func() { // ends with the connection, or when its patience does
		ctx, cancel := context.WithTimeout(life, rootsPatience)
		defer cancel()
		//lint:ignore SA1019 as above
		list, err := s.ListRoots(ctx, nil)
		if err != nil {
			b.o.Log.Info("asking the client for its roots", "err", err)
			return
		}
		var dirs []string
		for _, r := range list.Roots {
			if u, err := url.Parse(r.URI); err == nil && u.Scheme == "file" && filepath.IsAbs(u.Path) {
				dirs = append(dirs, filepath.Clean(u.Path))
			}
		}
		if len(dirs) > 0 {
			b.o.Roots(dirs)
			w.projectMoved()
		}
	}()
}
