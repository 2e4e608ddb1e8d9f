package lisp

import (
	"context"
	_ "embed"
	"os"
	"path/filepath"
	"sync/atomic"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/attach"
	"swank-mcp/swank/lisp/launch"
)

//go:embed helper/safe-close.lisp
var safeClose string

//go:embed helper/inject.lisp
var helperInjector string

// attachTo connects to the image that c names and makes it ready. The error is that
// of [attach.Connect].
func attachTo(ctx context.Context, c Config, handler func(*swank.Debug)) (*instance, error) {
	var of atomic.Pointer[instance] // nil until it is ready
	g, err := attach.Connect(ctx, attach.Config{
		Target: c.Attach, Handler: handler, Message: func(text string) { c.told(of.Load(), text) }, Trace: c.Trace, Progress: c.progress,
		Code: attach.Code{
			SafeClose: safeClose, Inject: helperInjector, Helper: helperParts(),
			Share: func(hash string) []string { return shareHelper(c.Launch.CacheDir, hash) },
		},
	})
	if err != nil {
		return nil, err
	}
	inst := newInstance(g)
	inst.conn, inst.info, inst.control, inst.single = g.Conn, g.Info, g.Control, g.Single()
	of.Store(inst)
	return inst, nil
}

// shareHelper writes the source where an image on this machine, run by the same
// user, finds it and keeps its fasl. It returns the files, or none if the cache
// cannot be used: the source then goes over the connection every time.
func shareHelper(cacheDir, hash string) []string {
	dir, err := launch.OpenCache(cacheDir)
	if err != nil {
		return nil
	}
	dir = filepath.Join(dir, "attached")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil
	}
	files, err := launch.WriteParts(filepath.Join(dir, "swank-mcp-helper-"+hash), helperParts())
	if err != nil {
		return nil
	}
	return files
}

// attached reports whether the image is somebody else's.
func (inst *instance) attached() bool {
	_, ok := inst.proc.(*attach.Guest)
	return ok
}

// imageID returns the identity of an attached image, "" of a launched one,
// which has none but its process.
func (inst *instance) imageID() string {
	if g, ok := inst.proc.(*attach.Guest); ok {
		return g.Image
	}
	return ""
}
