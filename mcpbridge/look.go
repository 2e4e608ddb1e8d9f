package mcpbridge

import (
	"context"
	"errors"
	"strings"

	"swank-mcp/swank/lisp"
)

// looker is the part of [Image] that looks without touching: nothing of the
// user's is read or evaluated, nothing interned. Printing a value may call
// print-object methods, within a time limit. Errors may be *lisp.LookupError.
type looker interface {
	// DescribeSymbol describes what name means to the session; see lisp.Image.
	DescribeSymbol(ctx context.Context, session, name, pkg string) (*lisp.Finding, error)
	FindDefinition(ctx context.Context, session, name, pkg string) (*lisp.Finding, error)
	CrossReference(ctx context.Context, session, name, kind, pkg string, limit int) (*lisp.Finding, error)
	Apropos(ctx context.Context, session string, q lisp.AproposQuery) (*lisp.Finding, error)
	CompleteSymbol(ctx context.Context, session, typed, pkg string, limit int) (*lisp.Finding, error)
	DescribeSystem(ctx context.Context, session, name string) (*lisp.Finding, error)
}

// foundText shows a title, sections and notes; nothing is said where nothing
// was found.
func foundText(f *lisp.Finding, nothing string) string {
	var parts []string
	if f.Title != "" {
		parts = append(parts, sanitize(f.Title))
	}
	for _, s := range f.Sections {
		lines := sanitize(strings.Join(s.Lines, "\n"))
		if s.Name != "" {
			lines = "[" + sanitize(s.Name) + "]\n" + lines
		}
		parts = append(parts, lines)
	}
	if len(f.Sections) == 0 && nothing != "" {
		parts = append(parts, nothing)
	}
	if len(f.Notes) > 0 {
		parts = append(parts, "; "+sanitize(strings.Join(f.Notes, "\n; ")))
	}
	return strings.Join(parts, "\n\n")
}

// lookError is a failed look-up with the next call to make.
type lookError struct {
	err  *lisp.LookupError
	next string
}

func (e *lookError) Error() string { return e.err.Error() }

// nextCall is the line that ends an error: a call to make, with its arguments
// as pairs of name and value.
func nextCall(tool string, pairs ...string) string {
	var fields []string
	for i := 0; i+1 < len(pairs); i += 2 {
		fields = append(fields, quote(pairs[i])+": "+quote(pairs[i+1]))
	}
	return "Next: " + tool + " {" + strings.Join(fields, ", ") + "}"
}

// lookupFailed adds to a look-up's error the same call with the first name that
// may have been meant, which needs no package beside it, or else a search for
// what was asked. The argument is the one that the name was given as.
func (r *request) lookupFailed(err error, argument, given string) error {
	var failed *lisp.LookupError
	if !errors.As(err, &failed) {
		return err
	}
	if len(failed.Names) == 0 {
		return &lookError{failed, nextCall("apropos-search", "pattern", bareName(given))}
	}
	return &lookError{failed, r.asking(argument, failed.Names[0], "package")}
}

// bareName is a symbol's name without prefix, quotes and bars, to search for.
func bareName(given string) string {
	s := given[strings.LastIndexByte(given, ':')+1:]
	if place, ok := strings.CutPrefix(strings.ToLower(s), "(setf "); ok {
		s = place
	}
	return strings.Trim(strings.TrimSpace(strings.NewReplacer("|", "", `\`, "", "(", "", ")", "", `"`, "").Replace(s)), "'#")
}
