package hyperspec

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEverySymbol asks SBCL which symbols COMMON-LISP exports.
func TestEverySymbol(t *testing.T) {
	out, err := exec.Command("sbcl", "--noinform", "--no-sysinit", "--no-userinit", "--non-interactive",
		"--eval", `(do-external-symbols (s :cl) (write-line (symbol-name s)))`).Output()
	if err != nil {
		t.Fatalf("this test needs sbcl (scripts/install-deps installs it): %v", err)
	}
	want := strings.Fields(string(out))
	slices.Sort(want)
	if got := Symbols(); len(want) != 978 || !slices.Equal(got, want) {
		t.Errorf("%d symbols, SBCL has %d", len(got), len(want))
		for _, s := range want {
			if Symbol(s) == nil {
				t.Errorf("no page for %s", s)
			}
		}
	}
	for _, s := range want {
		if len(Permuted(s)) == 0 {
			t.Errorf("%s is not in the permuted index", s)
		}
	}
}

func TestPages(t *testing.T) {
	file := regexp.MustCompile(`^` + regexp.QuoteMeta(Root) + `Body/([fmsvtedr]_[a-z0-9_]{1,6}|0[37]_[a-z]+)\.htm$`)
	for _, s := range Symbols() {
		for _, p := range Symbol(s) {
			if !file.MatchString(p.URL) {
				t.Errorf("%s: %s", s, p.URL)
			}
			if !slices.Contains(p.Names, s) {
				t.Errorf("%s is not on its page %v", s, p.Names)
			}
		}
	}
	for name, want := range map[string][]string{
		"car":    {"Function f_car_c"},
		"LIST":   {"Function f_list_", "Type t_list"},
		"*":      {"Function f_st", "Variable v__stst_"},
		"if":     {"Special Operator s_if"},
		"&key":   {"Lambda List Keyword 03_da"},
		"abort":  {"Function f_abortc", "Restart r_abort"},
		"error":  {"Condition Type e_error", "Function f_error"},
		"lambda": {"Macro m_lambda", "Special Operator s_lambda"},
		"cadr":   {"Function f_car_c"},
		"ignore": {"Declaration d_ignore"},
		"foo":    nil,
	} {
		var got []string
		for _, p := range Symbol(name) {
			got = append(got, p.Kind+" "+strings.TrimSuffix(p.URL[strings.LastIndex(p.URL, "/")+1:], ".htm"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("Symbol(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestPermuted(t *testing.T) {
	if got := Word("hash"); !slices.Contains(got, "MAKE-HASH-TABLE") || !slices.Contains(got, "HASH-TABLE-COUNT") {
		t.Errorf("Word(hash) = %q", got)
	}
	for name, want := range map[string][]string{
		"multiple-value-bind": {"B", "M", "V"},
		"*print-base*":        {"B", "P"},
		"1+":                  {"9"},
		"*":                   {"9"},
	} {
		var urls []string
		for _, l := range want {
			urls = append(urls, Root+"Front/X_Perm_"+l+".htm")
		}
		if got := Permuted(name); !slices.Equal(got, urls) {
			t.Errorf("Permuted(%q) = %q, want %q", name, got, urls)
		}
	}
}

func TestSyntax(t *testing.T) {
	for text, want := range map[string]string{
		"~a": "22_cda", "~:@(": "22_cha", "~3,'0d": "", "~5d": "22_cbb", "~<": "22_cfb", "~%": "22_cab", "~v%": "22_cab",
		"#'": "02_dhb", "#+": "02_dhq", "`": "02_df", "#\\": "02_dha", "~q": "", "car": "", "~": "", "~:>": "22_ceb",
	} {
		got := ""
		if p := Syntax(text); p != nil {
			got = strings.TrimSuffix(strings.TrimPrefix(p[0].URL, Root+"Body/"), ".htm")
		}
		if got != want {
			t.Errorf("Syntax(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestAgainstSlime compares with the table of the SLIME that is installed.
func TestAgainstSlime(t *testing.T) {
	found, err := filepath.Glob("/usr/share/emacs/site-lisp/elpa-src/slime-*/lib/hyperspec.el")
	if err != nil || len(found) == 0 {
		t.Fatalf("no SLIME with a hyperspec.el is installed (%v); scripts/install-deps --test brings it", err)
	}
	path := found[0]
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, m := range regexp.MustCompile(`\("([^" ]+)" "([a-z]_[^"]+|0[37]_[^"]+)\.htm"\)`).FindAllStringSubmatch(string(text), -1) {
		name, file := m[1], m[2]
		if strings.HasPrefix(file, "a_") { // a list of pages
			continue
		}
		n++
		if !slices.ContainsFunc(Symbol(name), func(p Page) bool { return strings.HasSuffix(p.URL, "/"+file+".htm") }) {
			t.Errorf("%s: SLIME has %s, we %v", name, file, Symbol(name))
		}
	}
	if n < 930 {
		t.Errorf("only %d entries found in %s", n, path)
	}
}
