package web

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"swank-mcp/people/transcript"
)

var tags = regexp.MustCompile(`</?span[^>]*>`)

// texts are such as images print, to be shown as they are.
var texts = []string{
	"", "(defun f (x) \"a <b>\" #\\a 'b) ; c", "#| open #| nested |# <script>", `"never closed \`, "#\\", "<script>alert(1)</script>&amp;\"'",
	"(((", ")))", ":key ::x #:y *global* 1/2 -3.5d0 t nil", "(define-thing other (let* ((a 1)) a))", "`(,@a ,b)", "אב 日本 🙂", strings.Repeat("(list \"x\" 1 ", 2000),
}

// Highlighting adds elements of its own to code, and changes nothing in it.
func TestHighlightKeepsTheText(t *testing.T) {
	for _, text := range texts {
		got := string(highlight(text))
		if back := html.UnescapeString(tags.ReplaceAllString(got, "")); back != text {
			t.Errorf("%.80q became %.80q", text, back)
		}
		if rest := tags.ReplaceAllString(got, ""); strings.ContainsAny(rest, "<>\"") {
			t.Errorf("%.80q has elements: %.200s", text, got)
		}
		if strings.Count(got, "<span") != strings.Count(got, "</span>") {
			t.Errorf("%.80q has open elements: %.200s", text, got)
		}
	}
}

func FuzzHighlight(f *testing.F) {
	for _, text := range texts[:len(texts)-1] {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = safe(text)
		if back := html.UnescapeString(tags.ReplaceAllString(string(highlight(text)), "")); back != text {
			t.Errorf("%q became %q", text, back)
		}
	})
}

// What is not seen, or moves other text, is written out; line breaks and tabs stay.
func TestSafe(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nc é日🙂":                      "a\tb\nc é日🙂",
		"\x1b[31m\r\x00\x7f\u0085":         `\u{1B}[31m\u{D}\u{0}\u{7F}\u{85}`,
		"\u202e\u2066\u200f\u061c\ufeff":   `\u{202E}\u{2066}\u{200F}\u{61C}\u{FEFF}`,
		"\u2028\u2029\u00ad\U000E0041":     `\u{2028}\u{2029}\u{AD}\u{E0041}`,
		"bad \xff\xfe, and \x1b with \xff": "bad \ufffd, and \\u{1B} with \ufffd",
	} {
		if got := safe(text); got != want {
			t.Errorf("%q is shown as %q, not %q", text, got, want)
		}
	}
}

// A cell has all entries of one piece of work, whatever comes between; what is read again
// is not there twice; the book keeps its bounds, and its order.
func TestBook(t *testing.T) {
	b := newBook()
	b.begin("one")
	for n, e := range []transcript.Entry{
		{Kind: "begun", Job: 1, Code: "(a)"},
		{Kind: "begun", Job: 2, Code: "(b)"},
		{Kind: "output", Job: 1, Output: "so far"},
		{Kind: "checkpoint"},
		{Kind: "ended", Job: 2, Values: []string{"2"}},
		{Kind: "ended", Job: 1, Failure: &transcript.Failure{Kind: "STOPPED"}},
		{Kind: "ended", Job: 9, Title: "begun before"},
		{Kind: "left", Job: 10, Evaluation: 1},
		{Kind: "ended", Job: 10},
		{Kind: "begun", Job: 11},
	} {
		e.N = int64(n + 1)
		b.add(e)
		b.add(e)
	}
	states := func() (all string) {
		cells, _, _ := b.before(0, 100)
		for _, c := range cells {
			all += fmt.Sprintf("%d %s, ", c.begun.Job, c.state)
		}
		return all
	}
	if got := states(); got != "1 stopped, 2 done, 9 done, 10 left, 10 done, 11 running, " {
		t.Errorf("the book has %s", got)
	}
	b.lose()
	b.begin("another")
	b.add(transcript.Entry{N: 1, Kind: "begun", Job: 11})
	if got := states(); !strings.HasSuffix(got, "11 lost, 11 running, ") {
		t.Errorf("then it has %s", got)
	}
	changed, newest, version := b.since(0, 2)
	if len(changed) != 2 || changed[1].id != newest || changed[0].id != newest-1 {
		t.Errorf("what has changed is %d cells", len(changed))
	}
	if changed, _, _ := b.since(version, 2); len(changed) != 0 {
		t.Errorf("nothing has changed, but %d cells", len(changed))
	}
	for i := range 2000 {
		b.add(transcript.Entry{N: int64(i + 2), Kind: "person", Text: strings.Repeat("x", 50_000)})
	}
	cells, more, _ := b.before(0, 10)
	if b.bytes > maxBytes+100_000 || !more || len(cells) != 10 || cells[9].id != b.next {
		t.Errorf("it has %d bytes, %d cells, more: %v", b.bytes, len(cells), more)
	}
	if first, more, _ := b.after(0, 3); len(first) != 3 || !more || first[1].id != first[0].id+1 || first[0].id < 100 {
		t.Errorf("it begins with %d cells", len(first))
	}
}
