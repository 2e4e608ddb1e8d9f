package lisp

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"swank-mcp/sexp"
	"swank-mcp/swank"
	"swank-mcp/swank/lisp/launch"
)

//go:embed helper/bring.lisp
var helperBringer string

// readForm returns a form that reads text in the image, whatever syntax its owner has
// set, in a package of its own. That stays: what goes through all packages in another
// thread, as Swank does when somebody connects, does not bear that one is deleted.
func readForm(text string) sexp.List {
	return sexp.List{
		sexp.Symbol("cl:with-standard-io-syntax"),
		sexp.List{
			sexp.Symbol("cl:let"), sexp.Raw(`((cl:*package* (cl:or (cl:find-package "SWANK-MCP-BRING") (cl:make-package "SWANK-MCP-BRING" :use cl:nil))))`),
			sexp.Raw(`(cl:import (cl:quote (cl:nil cl:t cl:quote)))`),
			sexp.List{sexp.Symbol("cl:read-from-string"), text},
		},
	}
}

// wireBrought is the answer of bring.lisp.
type wireBrought struct {
	_    struct{} `sexp:",list"`
	How  sexp.Symbol
	Text string
}

// loadHelper sees to it that the image has the helper of this program: it is
// there already, or comes from a fasl that the image finds where we put the
// source, or over the connection.
func (a *attachment) loadHelper(ctx context.Context, c Config) error {
	source := helperSource()
	sum := sha256.Sum256(source)
	hash := hex.EncodeToString(sum[:])[:20]
	loaded, err := a.load(ctx, hash, shareHelper(c, hash), "")
	if err == nil && loaded.How == ":source-wanted" {
		loaded, err = a.load(ctx, hash, nil, string(source))
	}
	switch {
	case err != nil:
		return a.notReady(err)
	case loaded.How == ":failed":
		return a.notReady(fmt.Errorf("loading it: %s", loaded.Text))
	case loaded.How == ":other-version":
		return &StartError{
			Problem: fmt.Sprintf("another version of swank-mcp is attached to the Lisp at %s, and there is room for one", a.target),
			Advice:  "End that server, or use the same version of swank-mcp for both.",
		}
	case loaded.Text != "":
		a.notes = append(a.notes, loaded.Text)
	}
	return nil
}

func (a *attachment) load(ctx context.Context, hash string, files []string, source string) (w wireBrought, err error) {
	form := sexp.List{sexp.Symbol("cl:funcall"), sexp.List{sexp.Symbol("cl:eval"), readForm(helperBringer)}, hash, sexp.List{sexp.Symbol("cl:quote"), files}, source}
	return w, a.conn.Call(ctx, swank.Request{Form: form}, &w)
}

// shareHelper writes the source where an image on this machine, run by the same
// user, finds it and keeps its fasl. It returns the files, or none if the cache
// cannot be used: the source then goes over the connection every time.
func shareHelper(c Config, hash string) []string {
	dir, err := launch.OpenCache(c.Launch.CacheDir)
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
