//go:build unix

package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"swank-mcp/internal/await"
)

// PicturesFlag names the directory that gets pictures of the page.
var PicturesFlag = flag.String("pictures", "", "write the pictures of the page to this directory")

// browser is a window of the run's Chromium, with a profile of its own.
type browser struct {
	T        *testing.T
	ctx      context.Context
	mu       sync.Mutex
	problems []string // what the console says, and exceptions
}

// NewBrowser opens a window for the test, and closes it at its end.
func NewBrowser(t *testing.T) *browser {
	t.Helper()
	all, err := chromium()
	Check(t, err)
	ctx, endWindow := chromedp.NewContext(all, chromedp.WithNewBrowserContext())
	t.Cleanup(endWindow)
	// The window lives as long as the context of the first actions, which has no deadline
	// therefore. Windows of other tests would take the focus.
	Check(t, chromedp.Do(ctx, chromedp.Navigate("about:blank"), chromedp.EmulateViewport(1280, 900),
		Devtools(emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})))
	b := &browser{T: t, ctx: ctx}
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.problems = append(b.problems, m.String())
			b.mu.Unlock()
		}
	}()
	return b
}

// endChromium ends the run's Chromium; nil if there is none. [Main] calls it.
var endChromium func()

// chromium starts the Chromium in which all tests of a run have their windows, and returns the
// context of chromedp that windows are opened in.
var chromium = sync.OnceValues(func() (context.Context, error) {
	path, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		return nil, errors.New("no chromium-headless-shell is installed; scripts/install-deps --quick installs it")
	}
	// Chromium ends now and then before it has said anything.
	ctx, err := startChromium(path)
	for tries := 1; err != nil && tries < 3; tries++ {
		fmt.Fprintln(os.Stderr, "e2e: Chromium is started again:", err)
		ctx, err = startChromium(path)
	}
	return ctx, err
})

// startChromium starts the program at path with a profile of its own.
func startChromium(path string) (context.Context, error) {
	profile, err := os.MkdirTemp(Run.Dir, "b")
	if err != nil {
		return nil, err
	}
	all, end := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("disable-renderer-backgrounding", true), chromedp.Flag("disable-backgrounding-occluded-windows", true),
		chromedp.Flag("disable-background-timer-throttling", true),
		chromedp.Flag("hide-scrollbars", false), chromedp.WindowSize(1280, 900),
		chromedp.Env("HOME="+profile))
	ctx, endWindow := chromedp.NewContext(all)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		endWindow()
		end()
		return nil, err
	}
	endChromium = func() {
		chromedp.Cancel(ctx)
		endWindow()
		end()
	}
	return ctx, nil
}

type action = chromedp.Action[chromedp.Void]

// Does runs actions, each of which must come to its end.
func (b *browser) Does(actions ...action) {
	b.T.Helper()
	ctx, stop := await.Limited(b.ctx)
	defer stop()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.Picture("failed")
		b.T.Fatalf("the browser: %v\n%s", err, Tail(b.text("body"), 3000))
	}
}

// Js is the value of an expression in the page, as JSON.
func (b *browser) Js(expression string) (value string) {
	b.T.Helper()
	value, err := b.tryJS(expression)
	if err != nil {
		b.T.Fatalf("%.300s: %v", expression, err)
	}
	return value
}

func (b *browser) tryJS(expression string) (value string, err error) {
	ctx, stop := await.Limited(b.ctx)
	defer stop()
	raw, err := chromedp.Run(ctx, chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise))
	return string(raw), err
}

// text is what is read in the first element that a selector chooses.
func (b *browser) text(selector string) string {
	var text string
	_ = json.Unmarshal([]byte(b.Js(fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector))), &text)
	return text
}

// Becomes waits until an expression is true in the page. It may be asked while another page
// takes this one's place, and gets no answer then.
func (b *browser) Becomes(expression string) {
	b.T.Helper()
	var value string
	var err error
	if await.Until(func() bool {
		value, err = b.tryJS("Boolean((" + expression + "))")
		return value == "true"
	}) != nil {
		b.Picture("failed")
		b.T.Fatalf("not so: %s (%v)\n%s", expression, err, Tail(b.text("body"), 3000))
	}
}

// Shows waits until an element that a selector chooses has these texts. What is out of sight
// is not laid out, and has no innerText.
func (b *browser) Shows(selector string, texts ...string) {
	b.T.Helper()
	for _, text := range texts {
		b.Becomes(fmt.Sprintf("[...document.querySelectorAll(%q)].some(e => e.checkVisibility() && (e.innerText.includes(%q) || e.textContent.includes(%q)))", selector, text, text))
	}
}

// Clicks clicks on the first element that the selector finds.
func (b *browser) Clicks(selector string) {
	b.T.Helper()
	b.Does(chromedp.Click(chromedp.CSS(selector)))
}

// Types types keys into the page.
func (b *browser) Types(keys string) {
	b.T.Helper()
	b.Does(chromedp.KeyEvent(keys))
}

// Size makes the window so wide, as on a phone or not, light or dark.
func (b *browser) Size(width, height int, dark bool) {
	b.T.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.Does(chromedp.EmulateViewport(int64(width), int64(height)), Devtools(emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}))
}

// Devtools is an action that gives a command to the browser.
func Devtools[P, R any](c cdp.Command[P, R], params P) action {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// Picture writes a picture of the window, if that is wanted.
func (b *browser) Picture(name string) {
	b.T.Helper()
	if *PicturesFlag == "" {
		return
	}
	if shot := b.shot(); shot != nil {
		Check(b.T, os.MkdirAll(*PicturesFlag, 0o755))
		Check(b.T, os.WriteFile(filepath.Join(*PicturesFlag, name+".png"), shot, 0o644))
	}
}

// shot is a picture of the window as PNG, or nil.
func (b *browser) shot() []byte {
	b.T.Helper()
	ctx, stop := await.Limited(b.ctx)
	defer stop()
	shot, err := chromedp.Run(ctx, func(ctx context.Context, t *chromedp.Target) (cdppage.CaptureScreenshotResult, error) {
		return cdp.Call(ctx, t, cdppage.CaptureScreenshot, cdppage.CaptureScreenshotParams{})
	})
	if err != nil {
		b.T.Logf("no picture: %v", err)
	}
	return shot.Data
}

// Quiet says that neither the script has failed nor the browser has refused anything.
func (b *browser) Quiet() {
	b.T.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.T.Errorf("the page's console: %s", p)
	}
	b.problems = nil
}

var axeInstall = sync.OnceValues(func() (string, error) {
	if err := InstallPackages("axe"); err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(Run.Dir, "axe", "node_modules", "axe-core", "axe.min.js"))
	return string(text), err
})

// Accessible runs axe-core, which must find nothing.
func (b *browser) Accessible(what string) {
	b.T.Helper()
	axe, err := axeInstall()
	Check(b.T, err)
	b.Js(axe + "; 1")
	var found []struct {
		ID    string
		Help  string
		Nodes []struct {
			HTML           string
			FailureSummary string
		}
	}
	result := b.Js("axe.run().then(r => r.passes.length < 10 ? [{id: 'few', help: 'axe-core has looked at nothing', nodes: []}] : r.violations)")
	Check(b.T, json.Unmarshal([]byte(result), &found))
	for _, v := range found {
		for _, n := range v.Nodes[:min(2, len(v.Nodes))] {
			b.T.Errorf("%s: %s (%s): %s\n%s", what, v.Help, v.ID, n.HTML, n.FailureSummary)
		}
		if len(v.Nodes) == 0 {
			b.T.Errorf("%s: %s (%s)", what, v.Help, v.ID)
		}
	}
}

// shown is a page that watch --web serves.
type shown struct {
	*watching
	Url string
}

// Page runs watch --web beside a server.
func (d *desk) Page(args ...string) *shown {
	d.t.Helper()
	w := d.Watches(append([]string{"--web", "--json"}, args...)...)
	var a struct{ URL string }
	if await.Until(func() bool {
		return json.NewDecoder(bytes.NewReader([]byte(w.Out.String()))).Decode(&a) == nil
	}) != nil {
		d.t.Fatalf("watch --web says:\n%s", w.Out.String())
	}
	d.t.Cleanup(func() {
		if strings.Contains(w.Out.String(), "DATA RACE") || strings.Contains(w.Out.String(), "panic:") {
			d.t.Errorf("watch --web says:\n%s", w.Out.String())
		}
	})
	return &shown{w, a.URL}
}

// Opens opens the page, as a person would.
func (b *browser) Opens(s *shown) {
	b.T.Helper()
	b.Does(chromedp.Navigate(s.Url))
	b.Becomes(`location.pathname.startsWith("/p/") && document.querySelector("#lamp .lamp") && document.documentElement.classList.contains("long")`)
}

// Base is the address without the token.
func (s *shown) Base() string { return s.Url[:strings.Index(s.Url, "/#")] }

// Address is where the browser is.
func (b *browser) Address() string {
	b.T.Helper()
	url, err := chromedp.Run(b.ctx, chromedp.Location())
	Check(b.T, err)
	return url
}
