package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// row is one suite in both Lisps.
type row struct {
	suite, how     string
	plain, session answer
}

// equal reports whether the suite came to the same in both.
func (r row) equal() bool {
	return r.plain.outcome == r.session.outcome && r.plain.counts == r.session.counts && slices.Equal(r.plain.said, r.session.said)
}

type table struct {
	rows   []row
	differ int
}

// add prints r, too.
func (t *table) add(r row) {
	if len(t.rows) == 0 {
		fmt.Print(head)
	}
	t.rows = append(t.rows, r)
	if !r.equal() {
		t.differ++
	}
	fmt.Print(r.line())
}

const head = "| suite | run by | plain SBCL | session | equal |\n| --- | --- | --- | --- | --- |\n"

func (r row) line() string {
	verdict := "yes"
	if !r.equal() {
		verdict = "NO"
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |\n", r.suite, r.how, r.plain.cell(), r.session.cell(), verdict)
}

func (a answer) cell() string {
	text := a.counts
	if a.outcome != "returned" {
		text = a.outcome + ", " + text
	}
	if len(text) > 80 {
		text = text[:80] + "…"
	}
	return strings.ReplaceAll(text, "|", "/")
}

// showDifferences prints the first lines that are only in one of the two.
func (t *table) showDifferences() {
	for _, r := range t.rows {
		if r.equal() {
			continue
		}
		fmt.Printf("\n%s, %s: %s / %s\n", r.suite, r.how, r.plain.outcome, r.session.outcome)
		only := func(mark string, a, b answer) {
			shown := 0
			for _, line := range a.said {
				if shown < 10 && !slices.Contains(b.said, line) {
					fmt.Printf("%s %.200s\n", mark, line)
					shown++
				}
			}
		}
		only("-", r.plain, r.session)
		only("+", r.session, r.plain)
	}
}

// writeInto puts the table into a page.
func (t *table) writeInto(page string) error {
	text := head
	for _, r := range t.rows {
		text += r.line()
	}
	return writeInto(page, "foreign", text)
}

// writeInto puts text into a page, between the comments mark and /mark.
func writeInto(page, mark, text string) error {
	data, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+mark+" -->\n", "<!-- /"+mark+" -->"
	before, rest, begun := strings.Cut(string(data), begin)
	_, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		return fmt.Errorf("%s has no %s … %s", page, strings.TrimSpace(begin), end)
	}
	return os.WriteFile(page, []byte(before+begin+text+end+after), 0o644)
}
