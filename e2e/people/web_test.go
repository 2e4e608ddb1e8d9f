package people

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// A person sees in the page what the agent does, as it happens, and steers it.
func TestWebPage(t *testing.T) {
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("shop")
	harness.Want(t, s, "(defun total (prices)\n  \"Their sum.\"\n  (reduce #'+ prices)) ; as it was", "=> TOTAL")
	harness.WantError(t, s, "(defun outer (x) (list (inner x))) (defun inner (x) (/ x 0)) (outer 84)", "[ERROR]")
	p := d.Page("shop")
	b := harness.NewBrowser(t)
	b.Opens(p)

	t.Run("notebook", func(t *testing.T) {
		b.T = t
		b.Shows(".cell", "(defun total (prices)\n  \"Their sum.\"\n  (reduce #'+ prices)) ; as it was", "TOTAL", "default", "evaluate-lisp", "wire", "COMMON-LISP-USER", " ms")
		b.Shows(".cell .hk", "defun")
		b.Shows(".cell .hf", "total")
		b.Shows(".cell .hs", `"Their sum."`)
		b.Shows(".cell .hc", "; as it was")
		b.Shows(".cell.failed .condition", "DIVISION-BY-ZERO")
		b.Becomes(`/^\d\d:\d\d:\d\d$/.test(document.querySelector(".cell time").innerText)`)
		b.Becomes(`!document.querySelector(".frames li code").checkVisibility({contentVisibilityAuto: true}) || document.querySelector(".frames").open === false`)
		b.Clicks(".frames summary")
		b.Shows(".frames[open] li", "(/ 84 0)", "(OUTER 84)")
		b.Shows("#side", "wire", "default", "idle", "SBCL", "Heap", fmt.Sprint(s.PID()))
		harness.Want(t, s, `(format t "seen at once~%") (values :one "two")`, "…")
		b.Shows(".cell.done .output", "seen at once")
		b.Shows(".values li", ":ONE", `"two"`)
		b.Becomes(`document.querySelector(".frames").open`) // what was open stays so
	})
	t.Run("stop", func(t *testing.T) {
		b.T = t
		call := harness.Begun(t, s, `(progn (format t "so far~%") (finish-output) (loop))`)
		b.Shows("#lamp", "Evaluating")
		b.Shows(".cell.running .output", "so far")
		b.Shows("#side .work.running", `(progn (format t "so far~%")`)
		b.Clicks("#stop")
		harness.Says(t, harness.Answer(t, call).Text(), harness.StoppedHead, "so far")
		b.Shows(".cell.stopped", "stopped")
		b.Shows("#said", "Stopped: (progn")
		b.Shows(".event.person", "You: stopped (progn")
		b.Shows("#lamp", "Idle")
	})
	t.Run("look-ups", func(t *testing.T) {
		b.T = t
		harness.Good(t, s, "describe-symbol", harness.Object{"name": "car"})
		b.Shows(".event.looked", `Looks: describe-symbol {"name":"car"}, `, "default, wire 1")
	})
	t.Run("pause", func(t *testing.T) {
		b.T = t
		b.Clicks("#pause")
		b.Shows("#lamp", "Paused: calls wait", "Resume")
		call := harness.SendCall(t, s, "(+ 20 22)")
		b.Shows("#side .work.waiting", "1 waiting")
		b.Types("p")
		harness.WantAnswer(t, call, "=> 42")
		b.Shows("#lamp", "Idle", "Pause")
		b.Shows(".event.person", "Paused: calls that would evaluate wait", "Resumed: calls go on")
	})
	t.Run("keys", func(t *testing.T) {
		b.T = t
		b.Types("g")
		b.Types("j")
		b.Becomes(`document.activeElement.matches("#cells > li")`)
		first := b.Js("document.activeElement.id")
		b.Types("j")
		b.Becomes("document.activeElement.id !== " + first)
		b.Types("k")
		b.Becomes("document.activeElement.id === " + first)
		for range 10 {
			if b.Js(`document.activeElement.matches(".failed")`) == "true" {
				break
			}
			b.Types("j")
		}
		open := b.Js(`document.activeElement.querySelector("details").open`)
		b.Types("o")
		b.Becomes(`document.activeElement.querySelector("details").open !== ` + open)
		b.Types("?")
		b.Becomes(`document.querySelector("#keys").open`)
		b.Types(kb.Escape)
		b.Becomes(`!document.querySelector("#keys").open`)
		for _, name := range []string{"stop", "pause"} { // each is reached by Tab
			b.Js(`document.activeElement.blur(); 1`)
			for range 20 {
				b.Types(kb.Tab)
				if b.Js("document.activeElement.id") == `"`+name+`"` {
					break
				}
			}
			b.Becomes(fmt.Sprintf(`document.activeElement.id === %q`, name))
		}
		call := harness.Running(t, s, "(sleep 100)")
		b.Shows("#lamp", "Evaluating")
		b.Js(`document.querySelector("#stop").focus(); 1`)
		b.Types(kb.Enter)
		harness.WantAnswer(t, call, harness.StoppedHead+"…")
	})
	b.T = t
	b.Quiet()
}

// The page looks as it should in three widths, light and dark, and axe-core finds nothing.
func TestWebLooks(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("shop")
	harness.Want(t, s, "(defun total (prices)\n  \"Their sum.\"\n  (reduce #'+ prices)) ; as it was", "=> TOTAL")
	harness.WantError(t, s, "(defun outer (x) (list (inner x))) (defun inner (x) (/ x 0)) (outer 84)", "[ERROR]")
	b := harness.NewBrowser(t)
	b.Opens(d.Page("shop"))
	harness.Want(t, s, `(warn "not so fast") (format *error-output* "careful~%") (list 1 2.5 #\a :key '*print-base*)`, "…")
	running := harness.SendTool(t, s, "evaluate-lisp", harness.Object{"code": `(loop for i from 1 do (sleep 0.2))`, "timeout": 600}) // as long as the looks take
	b.Shows("#lamp", "Evaluating")
	for _, width := range []int{360, 820, 1400} {
		for _, dark := range []bool{false, true} {
			name := fmt.Sprintf("page-%d-%s", width, map[bool]string{false: "light", true: "dark"}[dark])
			b.Size(width, 900, dark)
			b.Becomes(fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, width)) // nothing sticks out
			b.Js(`window.scrollTo(0, document.documentElement.scrollHeight); 1`)
			b.Picture(name)
			if width != 820 || *harness.PicturesFlag != "" {
				b.Accessible(name)
			}
		}
	}
	b.Js(`window.scrollTo(0, 0); 1`)
	b.Size(360, 900, false)
	b.Picture("page-360-top")
	b.Size(1280, 900, false)
	b.Types("?")
	b.Accessible("keys")
	b.Picture("keys")
	b.Types(kb.Escape)
	b.Clicks("#stop")
	harness.WantAnswer(t, running, harness.StoppedHead+"…")
	b.Quiet()
}

// What code prints is shown as text, whatever it is, and as much of it as can be read.
func TestWebHostile(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("hostile")
	p := d.Page()
	b := harness.NewBrowser(t)
	b.Opens(p)
	b.Shows("#empty", "Nothing was evaluated yet")
	hostile := `<script>window.hacked = 1</script><img src=x onerror="window.hacked = 2"></pre></li><style>body{display:none}</style>`
	harness.Want(t, s, fmt.Sprintf(`(princ %q) (format t "~%%~C[31mred~C]0;title~C ~Cgnol~C ~C~C" (code-char 27) (code-char 27) (code-char 7) (code-char #x202e) (code-char #x202c) (code-char #x200f) (code-char #x2066)) (values %q %q)`,
		hostile, hostile, "\u05d0\u05d1 1 < 2"), "…")
	b.Shows(".cell .output", hostile, `\u{1B}[31mred\u{1B}]0;title\u{7} \u{202E}gnol\u{202C} \u{200F}\u{2066}`)
	b.Shows(".cell .code", "window.hacked = 1")
	b.Shows(".values", "onerror=", "\u05d0\u05d1 1 < 2")
	harness.WantError(t, s, fmt.Sprintf("(error %q)", hostile), "[ERROR]")
	b.Shows(".failure", hostile)
	b.Becomes(`window.hacked === undefined && document.querySelectorAll("script").length === 1 && !document.querySelector("main img, main style")`)
	b.Becomes(`!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(document.body.textContent)`)

	// A line of 5 MB: its beginning, more on a click, and how much nobody has kept.
	harness.Want(t, s, `(write-string (make-string 5000000 :initial-element #\x)) (values)`, "…")
	b.Shows(".cell:last-child .more", "more characters of the output")
	b.Shows(".cell:last-child .cut", "4980000 characters in the middle of the output were not kept")
	b.Becomes(`document.querySelector(".cell:last-child .output pre").innerText.length === 3000`)
	b.Becomes(`document.querySelector(".cell:last-child").offsetHeight < 1500 && document.documentElement.scrollWidth <= innerWidth`)
	b.Clicks(".cell:last-child .more")
	b.Becomes(`document.querySelector(".cell:last-child .output pre").innerText.length > 20000 && !document.querySelector(".cell:last-child .more")`)
	b.Accessible("hostile")
	b.Quiet()
}

// Without a script the page shows the same, and its buttons and links work.
func TestWebWithoutScript(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("plain")
	for i := range 150 {
		harness.Want(t, s, fmt.Sprintf("(values %d)", 1000+i), "…")
	}
	p := d.Page()
	b := harness.NewBrowser(t)
	b.Does(harness.Devtools(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}), chromedp.Navigate(p.Base()+"/"))
	b.Does(chromedp.SendKeys(chromedp.CSS("#token"), strings.SplitN(p.Url, "#", 2)[1]), chromedp.Click(chromedp.CSS("#enter button")))
	b.Shows(".cell .values", "1149")
	loop := harness.Begun(t, s, "(loop)")
	b.Does(chromedp.Reload())
	b.Shows("#lamp", "Evaluating")
	b.Clicks("#stop")
	harness.WantAnswer(t, loop, harness.StoppedHead+"…")
	b.Shows("#said", "Stopped: (loop)")
	b.Clicks("#pause")
	b.Shows("#said", "Paused: calls that would evaluate wait.")
	b.Clicks("#pause")
	b.Shows("#said", "Calls go on.")
	b.Clicks("#older a")
	b.Shows(".cell .values", "1000")
	b.Becomes(`![...document.querySelectorAll(".values")].some(e => e.textContent.includes("1149"))`)
	b.Clicks("#newer a")
	b.Shows(".cell .values", "1149")
	harness.Want(t, s, `(dotimes (i 1000) (print i))`, "…")
	whole, _, _ := strings.Cut(b.Address(), "?")
	until := func(selector string) { // the page has read of it
		for range 50 {
			if b.Does(chromedp.Navigate(whole)); b.Js(fmt.Sprintf(`document.querySelector(%q) !== null`, selector)) == "true" {
				return
			}
		}
		t.Fatalf("there is no %s", selector)
	}
	until(".cell:last-child .more")
	b.Clicks(".cell:last-child .more")
	b.Shows(".cell .output", "\n999")
	// A frame of a suspended evaluation is a page of its own.
	stuck := harness.Call(t, s, "evaluate-lisp", harness.Object{"on-error": "debug", "debug": 3, "code": `(let ((few (list 1 2))) (error "of ~S" few))`})
	harness.Says(t, stuck.Text(), "of (1 2)")
	until(".cell.suspended .frame")
	b.Clicks(".cell.suspended .frames > summary")
	b.Clicks(".frame > summary")
	b.Clicks(".frame a")
	b.Shows("h2", "Frame 0 of evaluation 1")
	b.Shows(".locals", "FEW", "(1 2)")
	b.Clicks("header a")
	b.Shows(".restarts", "RETRY")
	b.Quiet()
}

// When the server ends the page says so, and goes on with the next one for the project.
func TestWebReconnects(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("restarted")
	harness.Want(t, s, ":before", "=> :BEFORE")
	p := d.Page()
	b := harness.NewBrowser(t)
	b.Opens(p)
	b.Shows(".cell .values", ":BEFORE")
	harness.Running(t, s, "(sleep 100)")
	b.Shows("#lamp", "Evaluating")
	s.Kill()
	b.Shows("#lamp", "The server has ended; waiting for the next")
	b.Shows(".cell.lost", "not known: the server has ended")
	b.Clicks("#stop")
	b.Shows("#said", "Not done: ")
	next := d.Server("restarted")
	b.Shows("#side", fmt.Sprint(next.PID()))
	harness.Want(t, next, ":after", "=> :AFTER")
	b.Shows(".cell .values", ":BEFORE", ":AFTER")
	b.Shows("#lamp", "Idle")
	b.Becomes(`document.querySelectorAll(".cell").length === 3`)
	b.Quiet()
	// The page's own process ends.
	p.Cmd.Process.Kill()
	b.Shows("#lamp", "swank-mcp watch does not answer")
}

// From the key in the page to the agent's reply it takes half a second at most.
func TestWebStops(t *testing.T) {
	tier.Nightly(t)
	d := harness.NewDesk(t)
	s := d.Server("busy")
	harness.Want(t, s, "(defun all () (loop (compile nil '(lambda (x) (loop for i below x collect (list i (1+ i)))))))", "=> ALL")
	p := d.Page()
	b := harness.NewBrowser(t)
	b.Opens(p)
	var took []time.Duration
	for range 2 {
		for _, code := range []string{"(loop)", "(sleep 100)", "(all)",
			`(let ((l (make-string 999999 :initial-element #\p))) (dotimes (i 100000) (write-line l)))`} {
			call := harness.Running(t, s, code)
			began := time.Now()
			b.Types("s")
			harness.Says(t, harness.Answer(t, call).Text(), harness.StoppedHead)
			took = append(took, time.Since(began))
		}
	}
	harness.TookLog(t, "from the key to the agent's reply", took)
	b.Quiet()
}
