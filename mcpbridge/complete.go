package mcpbridge

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/swank/lisp"
)

// maxCompletions is the most values that the protocol allows in an answer.
const maxCompletions = 100

// complete answers completion/complete for the arguments of prompts and of
// resource templates, by the argument's name: package, name, system, handle.
// What cannot be completed has no completions.
func (b *Bridge) complete(ctx context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	w, typed := b.workspace(ctx, r.Session), r.Params.Argument.Value
	var pkg string
	if c := r.Params.Context; c != nil {
		pkg = c.Arguments["package"]
	}
	var values []string
	var err error
	switch r.Params.Argument.Name {
	case "package":
		values, err = w.completePackage(ctx, typed)
	case "name":
		values, err = w.completeName(ctx, typed, pkg)
	case "system":
		values, err = w.completeSystem(ctx, typed)
	case "handle":
		values = w.spool.Handles(typed)
	}
	var failed *lisp.LookupError
	if err != nil && !errors.As(err, &failed) {
		return nil, err
	}
	d := mcp.CompletionResultDetails{Values: []string{}, Total: len(values)}
	for room := b.o.MaxOutput; len(values) > 0; values = values[1:] { // the names are the image's
		if room -= utf8.RuneCountInString(values[0]); room < 0 || len(d.Values) == maxCompletions {
			d.HasMore = true
			break
		}
		d.Values = append(d.Values, values[0])
	}
	return &mcp.CompleteResult{Completion: d}, nil
}

// completePackage returns the packages that typed begins, in any case, in the
// case in which it was typed.
func (w *workspace) completePackage(ctx context.Context, typed string) ([]string, error) {
	all, err := w.session.Packages(ctx)
	if err != nil {
		return nil, err
	}
	lower := typed == strings.ToLower(typed)
	var own, others []string
	for _, p := range all {
		for _, name := range append([]string{p.Name}, p.Nicknames...) {
			if len(name) < len(typed) || !strings.EqualFold(name[:len(typed)], typed) {
				continue
			}
			if lower && name == strings.ToUpper(name) {
				name = strings.ToLower(name)
			}
			if p.Implementation {
				others = append(others, name)
			} else {
				own = append(own, name)
			}
			break
		}
	}
	return slices.Concat(own, others), nil
}

func (w *workspace) completeName(ctx context.Context, typed, pkg string) ([]string, error) {
	found, err := w.session.CompleteSymbol(ctx, typed, pkg, maxCompletions+1)
	if err != nil {
		return nil, err
	}
	return found.Names, nil
}

func (w *workspace) completeSystem(ctx context.Context, typed string) ([]string, error) {
	found, err := w.session.DescribeSystem(ctx, "")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range found.Names {
		if strings.HasPrefix(strings.ToLower(name), strings.ToLower(typed)) {
			names = append(names, name)
		}
	}
	return names, nil
}
