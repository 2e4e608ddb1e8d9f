package docs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// maxNotRun is how many blocks of all pages together may be marked
// <!-- not run: reason -->. Raise it only for what no test can run.
const maxNotRun = 2

// pagesWithoutExamples are for those who work on swank-mcp, or are tested elsewhere.
var pagesWithoutExamples = []string{
	"docs/design.md", "docs/development.md", "docs/limits.md",
	"docs/howto/people.md",    // TestDocsPeople
	"docs/howto/http.md",      // TestDocsHTTP
	"docs/howto/emacs.md",     // TestEmacsBeside makes its screens
	"docs/attach.md",          // needs a person's Lisp: attach_test.go
	"docs/compose.md",         // needs containers: scripts/compose-test
	"docs/howto/many.md",      // needs an engine: scripts/swarm-test
	"docs/comparison.md",      // TestDocsComparison
	"docs/implementations.md", // a table that its test makes
	"docs/foreign.md",         // a table that scripts/foreign makes
}

// userPages are the pages for users, from the top of the repository.
func userPages(t *testing.T) (pages []string) {
	t.Helper()
	err := filepath.WalkDir(harness.InTree("docs"), func(path string, d fs.DirEntry, err error) error {
		path = strings.TrimPrefix(path, harness.InTree()+"/")
		if err == nil && filepath.Ext(path) == ".md" && !slices.Contains(pagesWithoutExamples, path) {
			pages = append(pages, path)
		}
		return err
	})
	harness.Check(t, err)
	return append(pages, "README.md")
}

// TestDocs runs the examples of each page, in their order, in one session, and
// compares what is answered with what the page shows. docs_page_test.go has the
// forms.
func TestDocs(t *testing.T) {
	tier.More(t)
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	notRun := 0
	for _, path := range userPages(t) {
		t.Run(strings.ReplaceAll(path, "/", "-"), func(t *testing.T) {
			p, err := readPage(path)
			harness.Check(t, err)
			r := newReader(t, p)
			r.read()
			if r.ran == 0 {
				t.Errorf("no example of %s was run", path)
			}
			t.Logf("%d examples", r.ran)
			notRun += r.notRun
			if *harness.Update && len(r.edits) > 0 {
				if err := p.rewrite(r.edits); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if notRun > maxNotRun {
		t.Errorf("%d blocks are marked as not run, %d may be", notRun, maxNotRun)
	}
}

// reader does what a page says, as its reader would.
type reader struct {
	t           *testing.T
	page        *page
	home, dir   string // the home and the working directory
	flags       string
	server      *harness.Server // nil before the first call
	ran, notRun int
	edits       []edit
}

func newReader(t *testing.T, p *page) *reader {
	harness.Check(t, harness.Run.Warm())
	top := t.TempDir()
	r := &reader{t: t, page: p, home: filepath.Join(top, "home"), dir: filepath.Join(top, "project")}
	for _, dir := range []string{r.home, filepath.Join(r.dir, "bin")} {
		harness.Check(t, os.MkdirAll(dir, 0o755))
	}
	// As scripts/try leaves it.
	harness.Check(t, os.Symlink(harness.Run.Binary, filepath.Join(r.dir, "bin", "swank-mcp")))
	return r
}

// env is what a reader has who put swank-mcp where PATH finds it.
func (r *reader) env() []string {
	env := slices.DeleteFunc(harness.Environ(r.home), func(v string) bool { return strings.HasPrefix(v, "SWANK_MCP_") })
	return append(env, "PATH="+filepath.Dir(harness.Run.Binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func (r *reader) errorf(b item, format string, args ...any) {
	r.t.Helper()
	r.t.Errorf("%s:%d: %s", r.page.path, b.line, fmt.Sprintf(format, args...))
}

// read goes through the page.
func (r *reader) read() {
	items := r.page.items
	for i := 0; i < len(items); i++ {
		b := items[i]
		reply := func() (item, bool) {
			if i+1 < len(items) && items[i+1].kind == "text" && items[i+1].notRun == "" {
				i++
				return items[i], true
			}
			r.errorf(b, "no reply follows: the next block must be one of text")
			return item{}, false
		}
		switch {
		case b.notRun != "":
			r.notRun++
		case b.kind == "server":
			if r.server != nil { // the reader starts another one in its place
				harness.Check(r.t, r.server.Close(await.Ceiling))
			}
			r.flags, r.server = b.text, nil
		case b.kind == "file":
			r.fixture(b)
		case b.kind == "lisp" && r.writeFile(b):
		case b.kind == "lisp":
			if shown, ok := reply(); ok {
				r.call(b, "evaluate-lisp", harness.Object{"code": strings.TrimSuffix(b.text, "\n")}, shown)
			}
		case b.kind == "call", b.kind == "request":
			name, arguments, err := parseCall(b.text)
			if err != nil {
				r.errorf(b, "%v", err)
			} else if shown, ok := reply(); !ok {
			} else if b.kind == "call" {
				r.call(b, name, arguments, shown)
			} else {
				r.request(b, name, arguments, shown)
			}
		case b.kind == "console":
			r.console(b)
		case b.kind == "sh":
			r.shell(b)
		case b.kind == "json", b.kind == "toml", b.kind == "elisp":
			r.registration(b)
		default:
			r.errorf(b, "the test does not know what to do with a block of %q; see docs_page_test.go", b.kind)
		}
	}
}

// fixture lets a file of the reader's load one of the repository: what a page
// needs and cannot show.
func (r *reader) fixture(b item) {
	name, ours, ok := strings.Cut(b.text, " is ")
	source := harness.InTree(ours)
	if _, missing := os.Stat(source); !ok || missing != nil {
		r.errorf(b, "the form is <!-- file: NAME is FILE-OF-THE-REPOSITORY -->")
		return
	}
	r.write(name, fmt.Sprintf("(require \"asdf\")\n(load %q)\n", source))
}

var fileHead = regexp.MustCompile(`^;;;; ([\w./~-]*\.(?:lisp|asd|sbclrc))\n`)

// writeFile makes the file that the first line of a block names.
func (r *reader) writeFile(b item) bool {
	m := fileHead.FindStringSubmatch(b.text)
	if m != nil {
		r.write(m[1], b.text)
	}
	return m != nil
}

func (r *reader) write(name, text string) {
	path := filepath.Join(r.dir, name)
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		path = filepath.Join(r.home, rest)
	}
	harness.Write(r.t, path, text)
}

// parseCall takes a call apart: the tool's name, or a method's, then its
// arguments as JSON.
func parseCall(text string) (tool string, arguments map[string]any, err error) {
	tool, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	if rest = strings.TrimSpace(rest); rest == "" {
		return tool, harness.Object{}, nil
	}
	if err := json.Unmarshal([]byte(rest), &arguments); err != nil {
		return "", nil, fmt.Errorf("a call is a tool's or a method's name and JSON: %w", err)
	}
	return tool, arguments, nil
}

// running is the reader's server, started if it is not yet.
func (r *reader) running() *harness.Server {
	if r.server == nil {
		r.server = harness.StartWith(r.t, wire.Options{Env: r.env(), Dir: r.dir}, strings.Fields(r.flags)...)
	}
	return r.server
}

func (r *reader) call(b item, tool string, arguments map[string]any, shown item) {
	r.t.Helper()
	ctx := await.Context(r.t)
	result, err := r.running().Tool(ctx, tool, arguments)
	if refused := (*jsonrpc2.Error)(nil); errors.As(err, &refused) {
		r.compare(shown, refused.Message)
		return
	} else if err != nil {
		r.t.Fatalf("%s:%d: %v", r.page.path, b.line, err)
	}
	r.compare(shown, result.Text())
	// The description of an error that was is not itself a failure.
	if result.IsError != harness.Failure(result.Text()) && (result.IsError || tool == "evaluate-lisp") {
		r.errorf(b, "isError is %v, and the reply begins %.40q", result.IsError, result.Text())
	}
}

// compare holds what was answered against what the page shows.
func (r *reader) compare(shown item, got string) {
	r.t.Helper()
	r.ran++
	if harness.Matches(shown.text, got) && (shows(shown.text) || got == "") {
		return
	}
	if *harness.Update && !strings.Contains(shown.text, harness.Elided) {
		r.edits = append(r.edits, edit{shown.from, shown.to, harness.Seen(got) + "\n"})
		return
	}
	hint := "-update rewrites it"
	if strings.Contains(shown.text, harness.Elided) {
		hint = "as it leaves something out with " + harness.Elided + ", mend it by hand"
	}
	r.errorf(shown, "the page shows (%s):\n%s\nanswered was:\n%s", hint, shown.text, harness.Clip(got))
}

// bash runs a command as the reader would type it, with nothing to read.
func (r *reader) bash(command string) (string, error) {
	cmd := await.Command(r.t, "bash", "-c", command)
	cmd.Env, cmd.Dir = r.env(), r.dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// console: lines that begin with "$ " are typed, those between are the output.
func (r *reader) console(b item) {
	if !strings.HasPrefix(b.text, "$ ") {
		r.errorf(b, "a console begins with a line \"$ command\"")
		return
	}
	from := b.from
	for _, part := range regexp.MustCompile(`(?m)^\$ `).Split(b.text, -1)[1:] {
		command, shown, _ := strings.Cut(part, "\n")
		from += len("$ ") + len(command) + 1
		got, err := r.bash(command)
		r.compare(item{text: shown, line: b.line, from: from, to: from + len(shown)}, got)
		if (err != nil) != harness.Failure(got) {
			r.errorf(b, "$ %s\nended with %v:\n%s", command, err, harness.Clip(got))
		}
		from += len(shown)
	}
}

var addition = regexp.MustCompile(`^(?:claude|codex|gemini) mcp add (?:--scope \w+ )?lisp (?:-- )?(.*)$`)

// shell: every line must end well, given no input. What a line registers with
// a client is started as the client would.
func (r *reader) shell(b item) {
	for _, line := range strings.Split(strings.TrimSpace(b.text), "\n") {
		line, _, _ = strings.Cut(line, "  #")
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if m := addition.FindStringSubmatch(line); m != nil {
			words, err := r.bash("printf '%s\\n' " + m[1])
			if err != nil {
				r.errorf(b, "%s: %v", line, err)
				continue
			}
			list := strings.Split(strings.TrimSpace(words), "\n")
			r.starts(b, list[0], list[1:], nil)
			continue
		}
		r.ran++
		if out, err := r.bash(line); err != nil {
			r.errorf(b, "%s: %v\n%s", line, err, harness.Clip(out))
		}
	}
}
