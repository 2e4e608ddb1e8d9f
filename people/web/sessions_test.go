package web

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"swank-mcp/people/control"
	"swank-mcp/people/transcript"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/launch"
)

// browse opens url in Chromium. The function returned waits until an expression is true there.
func browse(t *testing.T, url string) (becomes func(expression string)) {
	t.Helper()
	profile, err := os.MkdirTemp("", "swb")
	if err != nil {
		t.Fatal(err)
	}
	all, end := chromedp.NewExecAllocator(t.Context(), chromedp.ExecPath("chromium-headless-shell"), chromedp.UserDataDir(profile),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.Env("HOME="+profile))
	ctx, endWindow := chromedp.NewContext(all)
	t.Cleanup(func() {
		chromedp.Cancel(ctx)
		endWindow()
		end()
		os.RemoveAll(profile)
	})
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		t.Fatal(err)
	}
	return func(expression string) {
		t.Helper()
		var got bool
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if got, err = chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")")); got {
				return
			}
		}
		text, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
		t.Fatalf("not so: %s (%v)\n%s", expression, err, text)
	}
}

// The page has what each session of a server has defined, and says whose a package is. Only
// what has worked is asked for again.
func TestSessions(t *testing.T) {
	im := lisp.New(lisp.Config{Launch: launch.Config{NoUserInit: true, NoCore: true}})
	tr := transcript.New(transcript.Options{})
	tr.Follow(im)
	dir, err := os.MkdirTemp("", "sws")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	c, err := control.Serve(control.Options{Image: im, Transcript: tr, Dirs: []string{dir}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		tr.Close(ctx)
		c.Close(ctx)
		im.Close(ctx)
	}()
	eval := func(session, code string) {
		t.Helper()
		res, err := im.Session(session).Evaluate(t.Context(), lisp.Request{Code: code, Timeout: time.Minute, Debug: 1})
		if err != nil || res.Failure != nil {
			t.Fatalf("%s: %+v, %v", code, res, err)
		}
	}
	eval("default", "(defun mine () 1)")
	eval("other#A&B", `(defpackage :made) (in-package :made) (cl:defun theirs () 2) (cl:defvar *theirs* 3)`)
	client := control.Find([]string{dir})[0]
	status, err := client.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Serve(Options{Client: client, Status: status, Find: func(context.Context) (*control.Client, *control.Status) { return nil, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	becomes := browse(t, s.URL())
	section := func(name string) string {
		return `[...document.querySelectorAll("#contents section")].find(s => s.querySelector("h2").textContent === "` + name + `")?.textContent.replace(/\s+/g, " ")`
	}
	has := func(name string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			becomes(section(name) + `?.includes("` + text + `")`)
		}
	}
	has("Definitions of default", "functions, 1", "MINE")
	has("Definitions of other#A&B", "functions, 1", "variables, 1", "THEIRS", "*THEIRS*")
	has("Packages", "MADE 0 exported, current in other#A&B, made by other#A&B", "COMMON-LISP-USER 0 exported, current in default")
	becomes(`[...document.querySelectorAll("#ask option")].map(o => o.textContent).join() === "default,other#A&B"`)
	before := s.side.contents["default"]
	eval("other#A&B", "(cl:defun made::more () 4)")
	has("Definitions of other#A&B", "functions, 2", "MORE")
	becomes("!" + section("Definitions of default") + `.includes("MORE")`)
	s.side.mu.Lock()
	defer s.side.mu.Unlock()
	if now := s.side.contents["default"]; now != before && len(before.Checkpoints) == len(now.Checkpoints) {
		t.Error("what has not worked was asked for")
	}
	if strings.Contains(s.side.parts["contents"], "A&B") {
		t.Error("a name is not escaped")
	}
}
