package mcpbridge

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

var readOutputTool = tool{
	name:  "read-output",
	title: "Read long output",
	set:   inCore,
	shown: true,
	doc: "Read on in a reply that was cut because it was too long, by the handle (such as out-3) that the cut reply gave. " +
		"Pages through it in characters with offset and limit, or shows only the lines that match grep, each with its offset. " +
		fmt.Sprintf("The newest %d long replies are kept, %d MB in all, as long as the server runs.", spoolTexts, spoolBytes>>20),
	params:     readOutputParams,
	example:    `{"handle": "out-1"}`,
	readOnly:   true,
	idempotent: true,
	run:        readOutput,
}

// pageChars is the default size of a page.
const pageChars = 20_000

func readOutputParams(o limits) []param {
	most := float64(o.MaxOutput - pageRoom)
	return []param{
		{name: "handle", kind: kindText, required: true,
			doc: "The handle given in the line where the reply was cut."},
		{name: "offset", kind: kindInteger, def: 0.0, min: 0, max: spoolBytes,
			doc: "Characters to skip from the beginning."},
		{name: "limit", kind: kindInteger, def: min(pageChars, most), min: 1, max: most,
			doc: "Characters to show at most."},
		{name: "grep", kind: kindText, aliases: []alias{{name: "pattern"}},
			doc: "Regular expression (RE2; (?i) ignores case): show only matching lines, from offset on."},
	}
}

// pageRoom is what the lines around a page may need, in characters.
const pageRoom = 300

func readOutput(_ context.Context, r *request) (reply, error) {
	handle, grep := r.text("handle"), r.text("grep")
	offset, limit := r.integer("offset"), r.integer("limit")
	if r.err != nil {
		return reply{}, r.err
	}
	t, err := r.spool.get(handle)
	if err != nil {
		return reply{}, err
	}
	if offset >= t.chars {
		return reply{}, &argError{
			fmt.Sprintf("offset is %s; %s has %s characters.", count(offset), t.handle, count(t.chars)),
			fmt.Sprintf("Next: read-output {\"handle\": %q, \"offset\": %d}", t.handle, max(0, t.chars-limit)),
		}
	}
	rest := t.text[runeOffset(t.text, offset):]
	if grep == "" {
		return reply{text: page(t, rest, offset, limit)}, nil
	}
	re, err := regexp.Compile(grep)
	if err != nil {
		return reply{}, &argError{
			fmt.Sprintf("grep is no regular expression: %v.", err),
			fmt.Sprintf("To search for the text itself:\nNext: read-output {\"handle\": %q, \"grep\": %s}", t.handle, quote(regexp.QuoteMeta(grep))),
		}
	}
	return reply{text: matches(t, rest, offset, limit, re)}, nil
}

// page is limit characters of rest, which begins at offset of t.
func page(t spooled, rest string, offset, limit int) string {
	end := runeOffset(rest, limit)
	next := offset + utf8.RuneCountInString(rest[:end])
	var b strings.Builder
	fmt.Fprintf(&b, "; %s, characters %s to %s of %s\n", t.handle, count(offset), count(next), count(t.chars))
	b.WriteString(rest[:end])
	if next < t.chars {
		fmt.Fprintf(&b, "\n; more: read-output {\"handle\": %q, \"offset\": %d}", t.handle, next)
	}
	return b.String()
}

// maxMatch is how much of a matching line is shown, in bytes.
const maxMatch = 300

// matches is the lines of rest that match, each as "offset: line".
func matches(t spooled, rest string, offset, limit int, re *regexp.Regexp) string {
	var b strings.Builder
	n, used := 0, 0
	for line := range strings.Lines(rest) {
		if re.MatchString(strings.TrimSuffix(line, "\n")) {
			shown := fmt.Sprintf("%d: %s\n", offset, clip(strings.TrimSuffix(line, "\n"), maxMatch))
			if used += utf8.RuneCountInString(shown); used > limit && n > 0 {
				fmt.Fprintf(&b, "; more matches: read-output {\"handle\": %q, \"grep\": %s, \"offset\": %d}", t.handle, quote(re.String()), offset)
				return b.String()
			}
			b.WriteString(shown)
			n++
		}
		offset += utf8.RuneCountInString(line)
	}
	if n == 0 {
		return fmt.Sprintf("No line of %s matches %s.%s", t.handle, quote(re.String()), t.gap())
	}
	fmt.Fprintf(&b, "; %s in %s.%s", plural(n, "matching line"), t.handle, t.gap())
	return b.String()
}
