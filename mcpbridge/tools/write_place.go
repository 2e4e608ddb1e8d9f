package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/syntax"
	"swank-mcp/swank/lisp"
)

// home is a file of the project to which a definition may be added, with the reasons.
type home struct {
	path    string
	named   bool // it defines something else of that name
	redone  int  // its place among the files whose definitions the session has made anew, from 1; 0 if it has none
	defines int  // how many definitions it has in its last package
}

// nowhere returns the error of a definition that no file has. Its next call names the file to
// which the definition can be added with the best reason.
func (w *writing) nowhere(source *lisp.Source, f *form) error {
	said := fmt.Sprintf("No file of the project defines the %s; name the one to add it to.", source.Label)
	homes, where := w.homes(func(pkg string) bool { return pkg == f.pkg }), "In the package "+f.pkg
	if len(homes) == 0 {
		said += fmt.Sprintf(" None is in the package %s.", f.pkg)
		homes, where = w.homes(func(pkg string) bool { return slices.Contains(w.sources.Packages, pkg) }), "In packages that have the name"
	}
	if len(homes) > 0 {
		var paths []string
		for _, h := range homes[:min(len(homes), maxHomes)] {
			paths = append(paths, h.path)
		}
		said += fmt.Sprintf(" %s are %s.", where, strings.Join(paths, ", "))
	}
	for _, h := range homes[:min(len(homes), maxHomes)] {
		if w.trial(h.path, w.force) == nil {
			return w.refuse("NO-PLACE", w.With("file", json.RawMessage(rawtext.Quote(h.path))), "%s%s", said, h.reason(len(homes)))
		}
	}
	next := ""
	if w.Takes("list-definitions") {
		next = nextCall("list-definitions", "package", f.pkg)
	}
	return w.refuse("NO-PLACE", next, "%s", said)
}

// maxHomes bounds the files that an error offers.
const maxHomes = 5

// homes returns the files of the project whose last package satisfies in, the one with the best
// reason first.
func (w *writing) homes(in func(pkg string) bool) (homes []home) {
	for _, path := range w.candidates(&lisp.Source{}) {
		text, err := readSource(w.Trees, path)
		if err != nil {
			continue
		}
		all, pkg, ok := syntax.Definitions(w.ctx, text, w.readAs(""))
		said := pkg != ""
		if pkg = orUser(pkg); !ok || !in(pkg) {
			continue
		}
		h := home{path: path, redone: 1 + slices.Index(w.sources.Files, path)}
		for _, d := range all {
			if orUser(d.Package) == pkg && d.Kind() != "package" {
				h.defines++
			}
			h.named = h.named || d.Name == w.sources.Name && w.means(&d)
		}
		if said || h.defines > 0 {
			homes = append(homes, h)
		}
	}
	last := len(w.sources.Files) + 1
	slices.SortStableFunc(homes, func(a, b home) int {
		switch {
		case a.named && !b.named:
			return -1
		case b.named && !a.named:
			return 1
		}
		rank := func(h home) int {
			if h.redone == 0 {
				return last
			}
			return h.redone
		}
		return cmp.Or(rank(a)-rank(b), b.defines-a.defines)
	})
	return homes
}

// reason says why h comes first of that many files, or nothing for the only one.
func (h *home) reason(of int) string {
	switch {
	case h.named:
		return " " + h.path + " has another definition of that name."
	case h.redone > 0:
		return " " + h.path + " has most of those definitions of the package that this session has made anew."
	case of > 1:
		return " " + h.path + " has the most definitions of them."
	}
	return ""
}
