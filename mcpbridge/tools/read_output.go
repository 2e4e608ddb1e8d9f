package tools

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/spool"
)

var readOutputTool = Tool{
	Name:  "read-output",
	Title: "Read long output",
	Set:   Core,
	Shown: true,
	Doc: "Read on in a reply that was cut because it was too long, by the handle (such as out-3) that the cut reply gave; or a job's output and result (job-3). " +
		fmt.Sprintf("The newest %d long replies are kept.", spool.MaxTexts),
	Params: []args.Param{
		{Name: "handle", Kind: args.Text, Required: true,
			Doc: "The handle given in the line where the reply was cut."},
		{Name: "offset", Kind: args.Integer, Def: 0.0, Min: 0, Max: spool.MaxBytes,
			Doc: "Characters to skip from the beginning."},
		{Name: "limit", Kind: args.Integer, Def: float64(pageChars), Min: 1,
			Doc: "Characters to show at most."},
		{Name: "grep", Kind: args.Text, Aliases: []args.Alias{{Name: "pattern"}},
			Doc: "Regular expression (RE2; (?i) ignores case): show only matching lines, from offset on."},
	},
	Example: `{"handle": "out-1"}`,
	Effect:  looks,
	run:     readOutput,
}

// pageChars is the default size of a page.
const pageChars = 20_000

// pageRoom is what the lines around a page may need, in characters.
const pageRoom = 300

func readOutput(ctx context.Context, r *Request) (Reply, error) {
	handle, grep := r.Text("handle"), r.Text("grep")
	offset, limit := r.Integer("offset"), r.Integer("limit")
	var about string
	t, err := r.Spool.Get(handle)
	if number, ok := jobNumber(handle); ok {
		about, t, err = r.readJob(ctx, number)
	}
	if err != nil {
		return Reply{}, err
	}
	if about != "" {
		if grep == "" && offset == 0 && t.Chars <= limit {
			return Reply{Text: strings.TrimRight(about+"\n\n"+t.All, "\n")}, nil
		}
		about += "\n"
	}
	if offset >= t.Chars {
		return Reply{}, &args.Error{
			Problem: fmt.Sprintf("offset is %s; %s has %s characters.", render.Count(offset), t.Handle, render.Count(t.Chars)),
			Advice:  fmt.Sprintf("Next: read-output {\"handle\": %q, \"offset\": %d}", t.Handle, max(0, t.Chars-limit)),
		}
	}
	rest := t.All[rawtext.RuneOffset(t.All, offset):]
	if grep == "" {
		return Reply{Text: about + page(t, rest, offset, limit)}, nil
	}
	re, err := regexp.Compile(grep)
	if err != nil {
		return Reply{}, &args.Error{
			Problem: fmt.Sprintf("grep is no regular expression: %v.", err),
			Advice:  fmt.Sprintf("To search for the text itself:\nNext: read-output {\"handle\": %q, \"grep\": %s}", t.Handle, rawtext.Quote(regexp.QuoteMeta(grep))),
		}
	}
	return Reply{Text: about + matches(t, rest, offset, limit, re)}, nil
}

// page is limit characters of rest, which begins at offset of t.
func page(t spool.Text, rest string, offset, limit int) string {
	end := rawtext.RuneOffset(rest, limit)
	next := offset + utf8.RuneCountInString(rest[:end])
	var b strings.Builder
	fmt.Fprintf(&b, "; %s, characters %s to %s of %s", t.Handle, render.Count(offset), render.Count(next), render.Count(t.Chars))
	if t.Lost > 0 {
		fmt.Fprintf(&b, "; %s more were not kept", render.Count(t.Lost))
	}
	b.WriteByte('\n')
	b.WriteString(rest[:end])
	if next < t.Chars {
		fmt.Fprintf(&b, "\n; more: read-output {\"handle\": %q, \"offset\": %d}", t.Handle, next)
	}
	return b.String()
}

// maxMatch is how much of a matching line is shown, in bytes.
const maxMatch = 300

// matches is the lines of rest that match, each as "offset: line".
func matches(t spool.Text, rest string, offset, limit int, re *regexp.Regexp) string {
	var b strings.Builder
	n, used := 0, 0
	for line := range strings.Lines(rest) {
		if re.MatchString(strings.TrimSuffix(line, "\n")) {
			shown := fmt.Sprintf("%d: %s\n", offset, rawtext.Clip(strings.TrimSuffix(line, "\n"), maxMatch))
			if used += utf8.RuneCountInString(shown); used > limit && n > 0 {
				fmt.Fprintf(&b, "; more matches: read-output {\"handle\": %q, \"grep\": %s, \"offset\": %d}", t.Handle, rawtext.Quote(re.String()), offset)
				return b.String()
			}
			b.WriteString(shown)
			n++
		}
		offset += utf8.RuneCountInString(line)
	}
	if n == 0 {
		return fmt.Sprintf("No line of %s matches %s.%s", t.Handle, rawtext.Quote(re.String()), t.Gap())
	}
	fmt.Fprintf(&b, "; %s in %s.%s", render.Plural(n, "matching line"), t.Handle, t.Gap())
	return b.String()
}
