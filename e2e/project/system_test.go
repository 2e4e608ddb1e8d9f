package project

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/tier"
)

func wantLoad(t *testing.T, s *harness.Server, system, text string) string {
	t.Helper()
	return harness.WantReply(t, s, "load-system", harness.Object{"system": system}, text)
}

// loaded is the reply for a fixture or a system of Debian's.
func loaded(system string, lines ...string) string {
	file := harness.Testdata("systems", system+".asd")
	if _, err := os.Stat(file); err != nil {
		file = "/usr/share/common-lisp/source/" + system + "/" + system + ".asd"
	}
	return loadedFrom(file, system, lines...)
}

func loadedFrom(file, system string, lines ...string) string {
	all := append([]string{"Loading system: " + system, `; Loading "` + system + `"`}, lines...)
	return strings.Join(append(all, "Loaded: "+system, "Defined in: "+file), "\n")
}

func TestLoadDebianSystems(t *testing.T) {
	t.Parallel()
	s := harness.WithSystems(t)
	for _, c := range []struct{ system, debian, use, value string }{
		{"alexandria", "cl-alexandria", "(alexandria:flatten '((1 2) (3 4)))", "=> (1 2 3 4)"},
		{"cl-ppcre", "cl-ppcre", `(cl-ppcre:split "\\s+" "hello world")`, `=> ("hello" "world")`},
	} {
		text := harness.WithoutBuilt(harness.Have(t, s, c.system, c.debian))
		// cl-ppcre's style warnings follow under [warnings], one line each;
		// what the compiler writes about them itself is noise.
		head, rest, _ := strings.Cut(text, "\n\n")
		if head != loaded(c.system) || rest != "" && !strings.HasPrefix(rest, "[warnings]\nSTYLE-WARNING: ") {
			t.Errorf("loading %s answered:\n%s", c.system, harness.Clip(text))
		}
		harness.Want(t, s, c.use, c.value)
		wantLoad(t, s, c.system, loaded(c.system))
	}
	harness.Want(t, s, "(use-package :alexandria)", "=> T")
	harness.Want(t, s, "(when-let ((x 1)) (+ x 1))", "=> 2")
}

func TestLoadSystemByItsNames(t *testing.T) {
	t.Parallel()
	s := harness.WithSystems(t)
	for _, args := range []harness.Object{
		{"system": "swt-alias"}, {"system-name": "swt-alias"}, {"name": "swt-alias"}, {"system_name": "swt-alias"}, {"system": " :swt-alias "},
	} {
		harness.WantReply(t, s, "load-system", args, loaded("swt-alias"))
	}
	for _, c := range []struct {
		args map[string]any
		text string
	}{
		{harness.Object{}, "[ERROR] INVALID-ARGUMENTS\nload-system needs the argument \"system\"."},
		{harness.Object{"system": " "}, "[ERROR] INVALID-ARGUMENTS\nsystem is empty"},
		{harness.Object{"system": "swt-alias", "quiet": true}, "[ERROR] INVALID-ARGUMENTS\nload-system has no argument \"quiet\"."},
	} {
		harness.WantReply(t, s, "load-system", c.args, c.text+harness.Elided)
	}
	harness.WantList(t, s, harness.Object{}, "[Loaded Systems]\n- SWT-ALIAS")
}

// An evaluation may tell ASDF of a directory; force compiles and loads again.
func TestLoadSystemForce(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, `(require :asdf) (setf asdf:*central-registry* (list "`+harness.SystemsDir()+`/")) :ok`, "=> :OK")
	first := loaded("swt-good", "; swt-good is there")
	for _, c := range []struct {
		args  map[string]any
		text  string
		loads string
	}{
		{harness.Object{"system": "swt-good"}, first, "=> 1"},
		{harness.Object{"system": "swt-good"}, loaded("swt-good"), "=> 1"},
		{harness.Object{"system": "swt-good", "force": true}, first, "=> 2"},
		{harness.Object{"system": "swt-good", "force": "true"}, first, "=> 3"},
		{harness.Object{"system": "swt-good", "force": false}, loaded("swt-good"), "=> 3"},
	} {
		harness.WantReply(t, s, "load-system", c.args, c.text)
		harness.Want(t, s, "swt-good::*loads*", c.loads)
	}
	harness.Want(t, s, "(list (swt-good:answer) (package-name *package*))", `=> (42 "COMMON-LISP-USER")`)
}

func TestLoadSystemFailures(t *testing.T) {
	t.Parallel()
	s := harness.WithSystems(t)
	l := harness.Begin(t, s)
	dir := harness.SystemsDir()
	for _, c := range []struct {
		system, prefix string
		parts          []string
	}{
		{"swt-missing-dependency", "[ERROR] ASDF:MISSING-DEPENDENCY\nComponent \"no-such-dependency\" not found, required by ", []string{"swt-missing-dependency"}},
		{"swt-compile-error", "[ERROR] UIOP:COMPILE-FILE-ERROR\n",
			[]string{dir + "/compile-error.lisp:" /* 5 or 6 */, "swt-broken", "The LET binding spec (Y 1 2) is malformed."}},
		{"swt-reader-error", "[ERROR] UIOP:COMPILE-FILE-ERROR\n",
			[]string{dir + "/reader-error.lisp:4:", "SWT-NO-SUCH-PACKAGE"}},
		{"swt-open-end", "[ERROR] UIOP:COMPILE-FILE-ERROR\n",
			[]string{"The text ends inside the form that begins here.", dir + "/open-end.lisp:5:1 | "}},
		{"swt-load-error", "[ERROR] SIMPLE-ERROR\nno luck at load: 42\nIn " + dir + "/load-error.lisp:4:1; what comes before it was loaded.\n   4 | (error \"no luck at load: ~D\" 42)\n\n[stdout]\n; Loading \"swt-load-error\"\nbefore the error", nil},
		{"swt-conflict", "[ERROR] SB-EXT:NAME-CONFLICT\n", []string{"SWT-BOTH", "SAME"}},
		{"swt-god", "[ERROR] ASDF:MISSING-COMPONENT\nComponent \"swt-god\" not found", []string{"swt-good"}},
		{"nonexistent", "[ERROR] ASDF:MISSING-COMPONENT\nComponent \"nonexistent\" not found", nil},
		{"../../x y\"", "[ERROR] ASDF:MISSING-COMPONENT\nComponent \"../../x y\\\"\" not found", nil},
	} {
		t.Run(c.system, func(t *testing.T) {
			text := wantLoad(t, s, c.system, c.prefix+harness.Elided)
			harness.Says(t, text, c.parts...)
			harness.SaysNot(t, text, "[stderr]", "caught ERROR", "compilation unit", "[Backtrace]", "SB-C:", "SB-INT:", "SB-KERNEL:") // the compiler's noise
			if strings.Contains(text, "compile-error.lisp:") && !regexp.MustCompile(`compile-error\.lisp:[56]:\d+ `).MatchString(text) {
				t.Errorf("loading %s names a wrong line, the form stands in 5 and 6:\n%s", c.system, harness.Clip(text))
			}
			l.GoesOn(t, s)
		})
	}
	harness.WantList(t, s, harness.Object{"type": "systems"}, "No user definitions.") // those that failed do not count
}

func TestLoadSystemWithWarnings(t *testing.T) {
	t.Parallel()
	s := harness.WithSystems(t)
	_, rest, _ := strings.Cut(wantLoad(t, s, "swt-warnings", loaded("swt-warnings")+"\n\n…"), "\n\n")
	file := regexp.QuoteMeta(harness.SystemsDir() + "/warnings.lisp")
	if !regexp.MustCompile(`^\[warnings\]\n` +
		`WARNING: undefined variable: SWT-WARNINGS::\*SWT-NOWHERE\*\n  ` + file + `:8:\d+ \| [^\n]*\*swt-nowhere\*[^\n]*\n` +
		`STYLE-WARNING: The variable (SWT-WARNINGS::)?UNUSED is defined but never used\.\n  ` + file + `:[456]:\d+ \| [^\n]*$`).MatchString(rest) {
		t.Errorf("below the head are not the two warnings with their places:\n%s", harness.Clip(rest))
	}
	harness.Want(t, s, "(swt-warnings:half 3)", "=> 3/2")
	wantLoad(t, s, "swt-warnings", loaded("swt-warnings"))
}

func TestLoadSystemProgress(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.WithSystems(t)
	var mu sync.Mutex
	var seen []wire.Progress
	p, err := s.GoTool("load-system", harness.Object{"system": "swt-slow"},
		wire.CallOptions{Progress: func(p wire.Progress) { mu.Lock(); seen = append(seen, p); mu.Unlock() }})
	harness.Check(t, err)
	harness.WantAnswer(t, p, loaded("swt-slow", "; step 0", "; step 1", "; step 2", "; step 3", "; step 4"))
	mu.Lock()
	defer mu.Unlock()
	var all strings.Builder
	for _, n := range seen {
		all.WriteString(n.Message)
	}
	if len(seen) < 3 || !strings.Contains(all.String(), "; step 0") || !strings.Contains(all.String(), "; step 3") {
		t.Errorf("%d notifications show: %q", len(seen), all.String())
	}
	if len(seen) > 0 && strings.Contains(seen[0].Message, "; step 4") {
		t.Errorf("the first notification came at the end: %q", seen[0].Message)
	}
}

func TestLoadSystemTimeout(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.WithSystems(t)
	l := harness.Begin(t, s)
	// How soon the load gets to the system is the machine's affair.
	const output = `; Loading "swt-loop"`
	text := ""
	for limit := 2; limit <= 64 && !strings.Contains(text, output); limit *= 2 {
		began := time.Now()
		r := harness.Call(t, s, "load-system", harness.Object{"system": "swt-loop", "timeout": limit})
		text = r.Text()
		if d := time.Since(began); d < time.Duration(limit)*time.Second {
			t.Errorf("a limit of %d s took %v", limit, d)
		}
		if whole := fmt.Sprintf("exceeded %d seconds", limit); !r.IsError || !strings.HasPrefix(text, "[TIMEOUT] Evaluation "+whole) && !strings.HasPrefix(text, "[TIMEOUT] Loading swt-loop "+whole) {
			t.Fatalf("a looping system answered (isError %v):\n%s", r.IsError, harness.Clip(text))
		}
	}
	harness.Says(t, text, output) // the output so far
	l.GoesOn(t, s)
	wantLoad(t, s, "swt-good", loaded("swt-good", "; swt-good is there"))
}

// There is no Quicklisp here: a fixture defines its names and its condition.
func TestLoadSystemWithQuicklispFixture(t *testing.T) {
	t.Parallel()
	s := harness.WithSystems(t)
	l := harness.Begin(t, s)
	harness.Want(t, s, `(require :asdf) (load "`+harness.SystemsDir()+`/quicklisp-fixture.lisp") :ok`, "=> :OK")
	const notFound = "[ERROR] QUICKLISP-CLIENT:SYSTEM-NOT-FOUND\nSystem "
	wantLoad(t, s, "swt-good", "Loading system: swt-good\nTo load \"swt-good\":\n  Load 1 ASDF system:\n    swt-good\n; Loading \"swt-good\"\n; swt-good is there\nLoaded: swt-good\nDefined in: "+harness.SystemsDir()+"/swt-good.asd")
	wantLoad(t, s, "nonexistent", notFound+`"nonexistent" not found in any known distribution.`)
	wantLoad(t, s, "swt-god", notFound+"\"swt-god\" not found in any known distribution.\n…swt-good…")
	// A system that fails by itself is not unknown.
	wantLoad(t, s, "swt-load-error", "[ERROR] SIMPLE-ERROR\nno luck at load: 42\n…")
	l.GoesOn(t, s)
}

// What SBCL's own modules define is not the session's, UIOP's and ASDF's included:
// where Swank does not load ASDF, a session's code may.
func TestModulesAreNotTheSessions(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, `(load (merge-pathnames "contrib/uiop.fasl" (sb-int:sbcl-homedir-pathname)))`, "=> T")
	harness.WantList(t, s, nil, "No user definitions.")
	harness.Good(t, s, "reset-session", nil)
	harness.Want(t, s, "(pathnamep (uiop:getcwd))", "=> T")
}
