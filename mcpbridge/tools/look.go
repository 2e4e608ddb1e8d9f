package tools

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

// nextCall is the line that ends an error: a call to make, with its arguments
// as pairs of name and value.
func nextCall(tool string, pairs ...string) string {
	var fields []string
	for i := 0; i+1 < len(pairs); i += 2 {
		fields = append(fields, rawtext.Quote(pairs[i])+": "+rawtext.Quote(pairs[i+1]))
	}
	return "Next: " + tool + " {" + strings.Join(fields, ", ") + "}"
}

// lookupFailed is nil without an error. It adds to a look-up's error the same call with the first name that
// may have been meant, which needs no package beside it, or else a search for
// what was asked. The argument is the one that the name was given as.
func (r *Request) lookupFailed(err error, argument, given string) error {
	failed := lookupError(err)
	if failed == nil {
		return err
	}
	if len(failed.Names) == 0 {
		return &lookError{failed, nextCall("apropos-search", "pattern", bareName(given))}
	}
	return &lookError{failed, r.Asking(argument, failed.Names[0], "package")}
}

// lookUp is the run of a tool that asks the image about the symbol called name; the
// text of the answer is made by text.
func lookUp(ask func(s Session, ctx context.Context, name, pkg string) (*lisp.Finding, error), text func(*Request, *lisp.Finding) string) func(context.Context, *Request) (Reply, error) {
	return func(ctx context.Context, r *Request) (Reply, error) {
		name, pkg := r.Named("name"), r.Text("package")
		if r.Err != nil {
			return Reply{}, r.Err
		}
		found, err := ask(r.Session, ctx, name, pkg)
		if err != nil {
			return Reply{}, r.lookupFailed(err, "name", name)
		}
		return Reply{Text: text(r, found)}, nil
	}
}

// foundReply is the reply to a look-up, with the sentence nothing for what has no
// sections.
func foundReply(f *lisp.Finding, err error, nothing string) (Reply, error) {
	if err != nil {
		return Reply{}, err
	}
	return Reply{Text: render.Found(f, nothing)}, nil
}

// or is the text of a finding, with the sentence nothing for one without sections.
func or(nothing string) func(*Request, *lisp.Finding) string {
	return func(_ *Request, f *lisp.Finding) string { return render.Found(f, nothing) }
}

// page is the text of a finding; where that is shortened to a page, the spool has it in
// full.
func (r *Request) page(f *lisp.Finding, text func(*lisp.Finding) string) string {
	if f.Whole != nil {
		all := *f
		all.Sections = f.Whole
		whole := text(&all)
		chars := utf8.RuneCountInString(whole)
		f.Notes = append(f.Notes, fmt.Sprintf("Shortened; each name with arguments and documentation, %s characters: read-output {\"handle\": %q}",
			render.Count(chars), r.Spool.Add(whole, chars)))
	}
	return text(f)
}

// hyphened is s in lower case, with - for _ and blanks.
func hyphened(s string) string {
	return strings.ToLower(strings.NewReplacer("_", "-", " ", "-").Replace(s))
}

// bareName is a symbol's name without prefix, quotes and bars, to search for.
func bareName(given string) string {
	s := given[strings.LastIndexByte(given, ':')+1:]
	if place, ok := strings.CutPrefix(strings.ToLower(s), "(setf "); ok {
		s = place
	}
	return strings.Trim(strings.TrimSpace(strings.NewReplacer("|", "", `\`, "", "(", "", ")", "", `"`, "").Replace(s)), "'#")
}
