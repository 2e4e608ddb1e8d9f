package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/syntax"
	"swank-mcp/swank/lisp"
)

var writeDefinitionTool = Tool{
	Name:  "write-definition",
	Title: "Write a definition",
	Set:   Core,
	Shown: true,
	Doc:   "Write what this session has defined as name into its file in the project, in place of its form there, and show the diff.",
	Params: []args.Param{
		{Name: "name", Kind: args.Text, Required: true, Aliases: []args.Alias{{Name: "symbol"}}, Doc: "As for find-definition."},
		{Name: "file", Kind: args.Text, Aliases: []args.Alias{{Name: "path"}}, Doc: "A file to add it to."},
		{Name: "force", Kind: args.Flag, Doc: "Even if the form has changed since it was loaded."},
		hiddenPackage,
	},
	Example: `{"name": "my-app:total"}`,
	Effect:  Effect{Destructive: true, Idempotent: true, InTurn: always},
	run:     writeDefinition,
}

func writeDefinition(ctx context.Context, r *Request) (Reply, error) {
	name, pkg, force := r.Named("name"), r.Text("package"), r.Flag("force")
	file := r.projectFile("file")
	if r.Err != nil {
		return Reply{}, r.Err
	}
	sources, err := r.Session.Sources(ctx, name, pkg, r.Limits.Timeout)
	if err != nil {
		return Reply{}, r.lookupFailed(err, "name", name)
	}
	w := writing{Request: r, ctx: ctx, name: name, file: file, force: force, sources: sources, texts: map[string]*text{}, read: map[string][]stretch{}}
	if err := w.plan(); err != nil {
		return Reply{}, err
	}
	return w.carryOut()
}

// writing is a call of write-definition: first it is planned as a whole, then carried out.
type writing struct {
	*Request
	ctx     context.Context
	name    string // as it was given
	file    string // that was named, or ""
	force   bool
	sources *lisp.Sources

	texts map[string]*text     // by path
	order []string             // of the paths
	said  []string             // what becomes of each definition
	read  map[string][]stretch // how texts of files are read
}

// text is a file as it is, and as it is to be.
type text struct {
	path          string
	before, after string
	has           []string // labels of the definitions that it has then, as the image has them
}

const nothingWritten = "Nothing was written."

// refuse is an error of the call, of that type, with the next call to make.
func (w *writing) refuse(kind, next, format string, v ...any) error {
	message := fmt.Sprintf(format, v...)
	if strings.Contains(message, "\n") {
		message += "\n"
	} else {
		message += " "
	}
	return &lookError{&lisp.LookupError{Type: kind, Message: message + nothingWritten}, next}
}

// carryOut writes the files that are to be others.
func (w *writing) carryOut() (Reply, error) {
	var written []string
	var diffs strings.Builder
	for _, path := range w.order {
		t := w.texts[path]
		if t.before == t.after {
			continue
		}
		if err := w.write(path, t); err != nil {
			if look := (*lookError)(nil); len(written) > 0 && errors.As(err, &look) {
				look.err.Message = strings.TrimSuffix(look.err.Message, nothingWritten) + "Written: " + strings.Join(written, ", ") + "."
			}
			return Reply{}, err
		}
		written = append(written, path)
		if err := w.Session.Written(w.ctx, w.name, w.Text("package"), path, t.has); err != nil {
			w.said = append(w.said, "; "+render.OneLine(err.Error())) // it is written all the same
		}
		diffs.WriteString("\n\n" + diffText(path, t.before, path, t.after))
	}
	return Reply{Text: render.Safe(strings.Join(w.said, "\n")) + diffs.String()}, nil
}

func (w *writing) write(path string, t *text) error {
	root, name, err := w.Trees.Find(path, w.writableDirs()...)
	if err == nil && root == nil {
		return w.outside(path)
	}
	if err == nil {
		defer root.Close()
		err = replaceIn(root, name, t.before, t.after)
	}
	if errors.Is(err, errChanged) {
		return w.refuse("FILE-CHANGED", w.again(), "%s: %v.", path, err)
	} else if err != nil {
		return w.refuse("FILE-ERROR", "", "%s cannot be written: %v.", path, err)
	}
	return nil
}

// again is the same call once more.
func (w *writing) again() string { return w.Asking("name", w.name) }

// forced is the same call once more, with force.
func (w *writing) forced() string { return w.With("force", json.RawMessage("true")) }

// trial returns the error that the call would end with for a file and force.
func (w *writing) trial(file string, force bool) error {
	other := writing{Request: w.Request, ctx: w.ctx, name: w.name, file: file, force: force, sources: w.sources, texts: map[string]*text{}, read: w.read}
	return other.plan()
}

// load returns the text of the file at path, as it is to be so far.
func (w *writing) load(path string) (*text, error) {
	if t := w.texts[path]; t != nil {
		return t, nil
	}
	root, name, err := w.Trees.Find(path, w.writableDirs()...)
	if err != nil {
		return nil, w.refuse("FILE-ERROR", "", "%s cannot be read: %v.", path, err)
	}
	if root == nil {
		return nil, w.outside(path)
	}
	defer root.Close()
	before, err := readIn(root, name, maxChanged)
	if err != nil {
		return nil, w.refuse("FILE-ERROR", "", "%s cannot be read: %v.", path, err)
	}
	if report := syntax.Check(w.ctx, before); len(report.Problems) > 0 {
		return nil, w.refuse("NOT-WELL-FORMED", nextCall("validate-syntax", "path", path),
			"%s is not well-formed: %d:%d: %s", path, report.Problems[0].Line, report.Problems[0].Column, report.Problems[0].Message)
	}
	t := &text{path: path, before: before, after: before}
	w.texts[path], w.order = t, append(w.order, path)
	return t, nil
}
