package attach

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"swank-mcp/sexp"
	"swank-mcp/swank"
	"swank-mcp/swank/lisp/host"
)

// readForm returns a form that reads text in the image, whatever syntax its owner has
// set, in a package of its own. The package stays: another thread that goes through all
// packages, as Swank does for each new connection, fails when one is deleted.
func readForm(text string) sexp.List {
	return sexp.List{
		sexp.Symbol("cl:with-standard-io-syntax"),
		sexp.List{
			sexp.Symbol("cl:let"), sexp.Raw(`((cl:*package* (cl:or (cl:find-package "SWANK-MCP-INJECT") (cl:make-package "SWANK-MCP-INJECT" :use cl:nil))))`),
			sexp.Raw(`(cl:import (cl:quote (cl:nil cl:t cl:quote)))`),
			sexp.List{sexp.Symbol("cl:read-from-string"), text},
		},
	}
}

// wireInjected is the answer of Code.Inject.
type wireInjected struct {
	_    struct{} `sexp:",list"`
	How  sexp.Symbol
	Text string
}

// loadHelper sees to it that the image has the helper of this program: it is
// there already, or comes from a fasl that the image finds where we put the
// source, or over the connection.
func (g *Guest) loadHelper(ctx context.Context, c Code) error {
	sum := sha256.Sum256(bytes.Join(c.Helper, nil))
	hash := hex.EncodeToString(sum[:])[:20]
	loaded, err := g.load(ctx, c.Inject, hash, c.Share(hash), nil)
	if err == nil && loaded.How == ":source-wanted" {
		loaded, err = g.load(ctx, c.Inject, hash, nil, c.Helper)
	}
	switch {
	case err != nil:
		return g.notReady(err)
	case loaded.How == ":failed":
		return g.notReady(fmt.Errorf("loading it: %s", loaded.Text))
	case loaded.How == ":other-version":
		return &host.StartError{
			Problem: fmt.Sprintf("another version of swank-mcp is attached to the Lisp at %s, and there is room for one", g.target),
			Advice:  "End that server, or use the same version of swank-mcp for both.",
		}
	case loaded.Text != "":
		g.notes = append(g.notes, loaded.Text)
	}
	return nil
}

func (g *Guest) load(ctx context.Context, inject, hash string, files []string, parts [][]byte) (w wireInjected, err error) {
	sources := make([]string, len(parts))
	for i, p := range parts {
		sources[i] = string(p)
	}
	quoted := func(list []string) sexp.List { return sexp.List{sexp.Symbol("cl:quote"), list} }
	form := sexp.List{sexp.Symbol("cl:funcall"), sexp.List{sexp.Symbol("cl:eval"), readForm(inject)}, hash, quoted(files), quoted(sources)}
	return w, g.Conn.Call(ctx, swank.Request{Form: form}, &w)
}

// notReady is the error of an image in which Swank answers and the helper does not.
func (g *Guest) notReady(err error) error {
	return &host.StartError{
		Problem: fmt.Sprintf("Swank %s of %s %s at %s answers, but the helper of swank-mcp does not work in it",
			g.Info.Version, g.Info.Implementation.Type, g.Info.Implementation.Version, g.target),
		Advice: "Nothing was evaluated. Send the call again; if this comes again, evaluate (delete-package :swank-mcp) in that Lisp, or restart it.",
		Err:    err,
	}
}
