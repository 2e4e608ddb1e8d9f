package mcpbridge

import (
	"context"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
	go func() { // ends with the answer, or with the connection
		//lint:ignore SA1019 as above
		list, err := s.ListRoots(life, nil)
		if err != nil {
			b.o.Log.Info("asking the client for its roots", "err", err)
			return
		}
		var dirs []string
		for _, r := range list.Roots {
			if dir := rootDir(r.URI, runtime.GOOS == "windows"); dir != "" {
				dirs = append(dirs, filepath.Clean(dir))
			}
		}
		if len(dirs) > 0 {
			b.o.Roots(dirs)
			w.projectMoved()
		}
	}()
}

// drive is how the path of a URI begins that has a drive: file:///C:/work.
var drive = regexp.MustCompile(`^/[A-Za-z]:(/|$)`)

// rootDir is the absolute path of the directory that a file URI names, "" for any other
// URI and for one of another kind of system.
func rootDir(uri string, windows bool) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	onDrive, host := drive.MatchString(u.Path), strings.TrimPrefix(u.Host, "localhost")
	switch {
	case windows && onDrive && host == "":
		if len(u.Path) == len("/C:") {
			u.Path += "/" // without it, it is the working directory of that drive
		}
		return strings.ReplaceAll(strings.TrimPrefix(u.Path, "/"), "/", `\`)
	case windows && host != "":
		return strings.ReplaceAll("//"+host+u.Path, "/", `\`)
	case windows || onDrive || host != "" || !path.IsAbs(u.Path):
		return ""
	}
	return u.Path
}
