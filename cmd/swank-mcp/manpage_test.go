package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const manPage = "../../packaging/swank-mcp.1"

// TestManPage holds the manual page equal to the pages of help, and has mandoc look for
// mistakes in it.
func TestManPage(t *testing.T) {
	made := makeManPage(t)
	is, err := os.ReadFile(manPage)
	if err != nil && !*update {
		t.Fatal(err)
	}
	if string(is) != made {
		if !*update {
			t.Fatalf("%s is not what the code says; -update rewrites it (-code +page):\n%s", manPage, cmp.Diff(made, string(is)))
		}
		if err := os.WriteFile(manPage, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("mandoc", "-T", "lint", "-W", "style", manPage).CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatalf("mandoc, which scripts/install-deps --test installs: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		// A date would have to be changed by hand.
		if !strings.Contains(line, "missing date") {
			t.Error(strings.TrimSpace(line))
		}
	}
	text, err := exec.Command("mandoc", "-T", "ascii", manPage).Output()
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(".\b").ReplaceAllString(string(text), "")
	var c config
	for _, want := range []string{"swank-mcp - live Common Lisp image", "swank-mcp [FLAGS] eval FORM...", "--checkpoint-memory MB", "claude-code", "SWANK_MCP_HEAP=4096"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page as it is shown has no %q:\n%s", want, shown)
		}
	}
	c.flags().VisitAll(func(f *flag.Flag) {
		if !strings.Contains(shown, "--"+f.Name) {
			t.Errorf("the page as it is shown has no --%s", f.Name)
		}
	})
	for _, told := range toldCommands() {
		if !strings.Contains(shown, " "+told.name) {
			t.Errorf("the page as it is shown has no command %s", told.name)
		}
	}
}

func makeManPage(t *testing.T) string {
	facts, err := os.ReadFile("../../packaging/facts.env")
	if err != nil {
		t.Fatal(err)
	}
	fact := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `='(.*)'$`).FindSubmatch(facts)
		if m == nil {
			t.Fatalf("no %s in facts.env", name)
		}
		return string(m[1])
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(".\\\" Made by go test ./cmd/swank-mcp -update from the pages of swank-mcp help.")
	line(`.TH SWANK-MCP 1 "" "swank-mcp" "User Commands"`)
	line(".SH NAME\nswank-mcp \\- %s", roff(fact("PACKAGE_SUMMARY")))
	line(".SH SYNOPSIS\n.B swank-mcp\n.RI [ FLAGS ]\n.RI [ COMMAND ]\n.RI [ ARGUMENT... ]")
	line(".SH DESCRIPTION\n%s", roff(fact("PACKAGE_DESCRIPTION")))
	line(".PP\n%s", roff("Without a command it speaks MCP on its standard input and output, as a client wants it."))
	line(".B swank-mcp install\nregisters it with a client.")
	line(".SH COMMANDS")
	for _, page := range pages {
		for _, c := range toldCommandLines(page.text) {
			line(".TP\n.B %s\n%s", roff(c[0]), roff(c[1]))
		}
	}
	line(".SH FLAGS\nFlags may stand before and after the command. Each heading is the page of help\nthat has them.")
	for _, page := range pages {
		line(".SS %s", roff(strings.TrimSpace("swank-mcp help "+page.name)))
		for _, f := range tellsOf(page.text, toldFlag) {
			line(".TP\n.BI \\-\\-%s%s\n%s", roff(f.name), strings.TrimSuffix(` " `+f.args+`"`, ` " "`), roff(f.doc))
		}
	}
	line(".SH ENVIRONMENT\nEach flag can be set in the environment; the command line wins:\n.B \\-\\-heap 4096\nis\n.BR SWANK_MCP_HEAP=4096 .")
	line(".SH EXIT STATUS\n.TP\n0\nIt is done.\n.TP\n1\nIt has failed; of\n.BR test :\na test has failed.")
	line(".TP\n2\nWrong usage; of\n.BR hook :\nthe agent is to mend the file; of\n.BR test :\nthe tests could not be run.")
	line(".SH SEE ALSO\n.BR sbcl (1)")
	return b.String()
}

// toldCommandLines are the lines of a page that tell of a command, with what they tell.
func toldCommandLines(page string) (lines [][2]string) {
	for _, m := range regexp.MustCompile(`(?m)^(swank-mcp(?: [^|\s]\S*)+?)  +([^|\s].*(?:\n {20,}.*)*)$`).FindAllStringSubmatch(page, -1) {
		lines = append(lines, [2]string{m[1], strings.Join(strings.Fields(m[2]), " ")})
	}
	return lines
}

// roff is text as the source of a manual page has it, in lines that are not long.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "~", `\(ti`, "^", `\(ha`).Replace(s)
	var lines []string
	for _, word := range strings.Fields(s) {
		if n := len(lines) - 1; n >= 0 && len(lines[n])+len(word) < 78 {
			lines[n] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
