package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A person sees in the page what the agent does, as it happens, and steers it.
func TestWebPage(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.server("shop")
	want(t, s, "(defun total (prices)\n  \"Their sum.\"\n  (reduce #'+ prices)) ; as it was", "=> TOTAL")
	wantError(t, s, "(defun outer (x) (list (inner x))) (defun inner (x) (/ x 0)) (outer 84)", "[ERROR]")
	p := d.page("shop")
	b := newBrowser(t)
	b.opens(p)

	t.Run("notebook", func(t *testing.T) {
		b.t = t
		b.shows(".cell", "(defun total (prices)\n  \"Their sum.\"\n  (reduce #'+ prices)) ; as it was", "TOTAL", "default", "evaluate-lisp", "wire", "COMMON-LISP-USER", " ms")
		b.shows(".cell .hk", "defun")
		b.shows(".cell .hf", "total")
		b.shows(".cell .hs", `"Their sum."`)
		b.shows(".cell .hc", "; as it was")
		b.shows(".cell.failed .condition", "DIVISION-BY-ZERO")
		b.becomes(`/^\d\d:\d\d:\d\d$/.test(document.querySelector(".cell time").innerText)`)
		b.becomes(`!document.querySelector(".frames li code").checkVisibility({contentVisibilityAuto: true}) || document.querySelector(".frames").open === false`)
		b.clicks(".frames summary")
		b.shows(".frames[open] li", "(/ 84 0)", "(OUTER 84)")
		b.shows("#side", "wire", "default", "idle", "SBCL", "Heap", fmt.Sprint(s.PID()))
		want(t, s, `(format t "seen at once~%") (values :one "two")`, "…")
		b.shows(".cell.done .output", "seen at once")
		b.shows(".values li", ":ONE", `"two"`)
		b.becomes(`document.querySelector(".frames").open`) // what was open stays so
	})
	t.Run("stop", func(t *testing.T) {
		b.t = t
		call := running(t, s, `(progn (format t "so far~%") (finish-output) (loop))`)
		b.shows("#lamp", "Evaluating")
		b.shows(".cell.running .output", "so far")
		b.shows("#side .work.running", `(progn (format t "so far~%")`)
		b.clicks("#stop")
		says(t, answer(t, call).Text(), stoppedHead, "so far")
		b.shows(".cell.stopped", "stopped")
		b.shows("#said", "Stopped: (progn")
		b.shows(".event.person", "You: stopped (progn")
		b.shows("#lamp", "Idle")
	})
	t.Run("look-ups", func(t *testing.T) {
		b.t = t
		good(t, s, "describe-symbol", object{"name": "car"})
		b.shows(".event.looked", `Looks: describe-symbol {"name":"car"}, `, "default, wire 1")
	})
	t.Run("pause", func(t *testing.T) {
		b.t = t
		b.clicks("#pause")
		b.shows("#lamp", "Paused: calls wait", "Resume")
		call := sendCall(t, s, "(+ 20 22)")
		b.shows("#side .work.waiting", "1 waiting")
		b.types("p")
		wantAnswer(t, call, "=> 42")
		b.shows("#lamp", "Idle", "Pause")
		b.shows(".event.person", "Paused: calls that would evaluate wait", "Resumed: calls go on")
	})
	t.Run("keys", func(t *testing.T) {
		b.t = t
		b.types("g")
		b.types("j")
		b.becomes(`document.activeElement.matches("#cells > li")`)
		first := b.js("document.activeElement.id")
		b.types("j")
		b.becomes("document.activeElement.id !== " + first)
		b.types("k")
		b.becomes("document.activeElement.id === " + first)
		for range 10 {
			if b.js(`document.activeElement.matches(".failed")`) == "true" {
				break
			}
			b.types("j")
		}
		open := b.js(`document.activeElement.querySelector("details").open`)
		b.types("o")
		b.becomes(`document.activeElement.querySelector("details").open !== ` + open)
		b.types("?")
		b.becomes(`document.querySelector("#keys").open`)
		b.types(kb.Escape)
		b.becomes(`!document.querySelector("#keys").open`)
		for _, name := range []string{"stop", "pause"} { // each is reached by Tab
			b.js(`document.activeElement.blur(); 1`)
			for range 20 {
				b.types(kb.Tab)
				if b.js("document.activeElement.id") == `"`+name+`"` {
					break
				}
			}
			b.becomes(fmt.Sprintf(`document.activeElement.id === %q`, name))
		}
		call := running(t, s, "(sleep 100)")
		b.shows("#lamp", "Evaluating")
		b.js(`document.querySelector("#stop").focus(); 1`)
		b.types(kb.Enter)
		wantAnswer(t, call, stoppedHead+"…")
	})
	t.Run("looks", func(t *testing.T) {
		b.t = t
		want(t, s, `(warn "not so fast") (format *error-output* "careful~%") (list 1 2.5 #\a :key '*print-base*)`, "…")
		running := sendTool(t, s, "evaluate-lisp", object{"code": `(loop for i from 1 do (sleep 0.2))`, "timeout": 600}) // as long as the looks take
		b.shows("#lamp", "Evaluating")
		for _, width := range []int{360, 820, 1400} {
			for _, dark := range []bool{false, true} {
				name := fmt.Sprintf("page-%d-%s", width, map[bool]string{false: "light", true: "dark"}[dark])
				b.size(width, 900, dark)
				b.becomes(fmt.Sprintf(`document.documentElement.scrollWidth <= %d`, width)) // nothing sticks out
				b.js(`window.scrollTo(0, document.documentElement.scrollHeight); 1`)
				b.picture(name)
				if width != 820 || *picturesFlag != "" {
					b.accessible(name)
				}
			}
		}
		b.js(`window.scrollTo(0, 0); 1`)
		b.size(360, 900, false)
		b.picture("page-360-top")
		b.size(1280, 900, false)
		b.types("?")
		b.accessible("keys")
		b.picture("keys")
		b.types(kb.Escape)
		b.clicks("#stop")
		wantAnswer(t, running, stoppedHead+"…")
	})
	b.t = t
	b.quiet()
}

// What code prints is shown as text, whatever it is, and as much of it as can be read.
func TestWebHostile(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := newDesk(t)
	s := d.server("hostile")
	p := d.page()
	b := newBrowser(t)
	b.opens(p)
	b.shows("#empty", "Nothing was evaluated yet")
	hostile := `<script>window.hacked = 1</script><img src=x onerror="window.hacked = 2"></pre></li><style>body{display:none}</style>`
	want(t, s, fmt.Sprintf(`(princ %q) (format t "~%%~C[31mred~C]0;title~C ~Cgnol~C ~C~C" (code-char 27) (code-char 27) (code-char 7) (code-char #x202e) (code-char #x202c) (code-char #x200f) (code-char #x2066)) (values %q %q)`,
		hostile, hostile, "\u05d0\u05d1 1 < 2"), "…")
	b.shows(".cell .output", hostile, `\u{1B}[31mred\u{1B}]0;title\u{7} \u{202E}gnol\u{202C} \u{200F}\u{2066}`)
	b.shows(".cell .code", "window.hacked = 1")
	b.shows(".values", "onerror=", "\u05d0\u05d1 1 < 2")
	wantError(t, s, fmt.Sprintf("(error %q)", hostile), "[ERROR]")
	b.shows(".failure", hostile)
	b.becomes(`window.hacked === undefined && document.querySelectorAll("script").length === 1 && !document.querySelector("main img, main style")`)
	b.becomes(`!/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(document.body.textContent)`)

	// A line of 5 MB: its beginning, more on a click, and how much nobody has kept.
	want(t, s, `(write-string (make-string 5000000 :initial-element #\x)) (values)`, "…")
	b.shows(".cell:last-child .more", "more characters of the output")
	b.shows(".cell:last-child .cut", "4980000 characters in the middle of the output were not kept")
	b.becomes(`document.querySelector(".cell:last-child .output pre").innerText.length === 3000`)
	b.becomes(`document.querySelector(".cell:last-child").offsetHeight < 1500 && document.documentElement.scrollWidth <= innerWidth`)
	b.clicks(".cell:last-child .more")
	b.becomes(`document.querySelector(".cell:last-child .output pre").innerText.length > 20000 && !document.querySelector(".cell:last-child .more")`)
	b.accessible("hostile")
	b.quiet()
}

// Without a script the page shows the same, and its buttons and links work.
func TestWebWithoutScript(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := newDesk(t)
	s := d.server("plain")
	for i := range 150 {
		want(t, s, fmt.Sprintf("(values %d)", 1000+i), "…")
	}
	p := d.page()
	b := newBrowser(t)
	b.does(devtools(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}), chromedp.Navigate(p.base()+"/"))
	b.does(chromedp.SendKeys(chromedp.CSS("#token"), strings.SplitN(p.url, "#", 2)[1]), chromedp.Click(chromedp.CSS("#enter button")))
	b.shows(".cell .values", "1149")
	loop := running(t, s, "(loop)")
	b.does(chromedp.Reload())
	b.shows("#lamp", "Evaluating")
	b.clicks("#stop")
	wantAnswer(t, loop, stoppedHead+"…")
	b.shows("#said", "Stopped: (loop)")
	b.clicks("#pause")
	b.shows("#said", "Paused: calls that would evaluate wait.")
	b.clicks("#pause")
	b.shows("#said", "Calls go on.")
	b.clicks("#older a")
	b.shows(".cell .values", "1000")
	b.becomes(`![...document.querySelectorAll(".values")].some(e => e.textContent.includes("1149"))`)
	b.clicks("#newer a")
	b.shows(".cell .values", "1149")
	want(t, s, `(dotimes (i 1000) (print i))`, "…")
	whole, _, _ := strings.Cut(b.address(), "?")
	until := func(selector string) { // the page has read of it
		for range 50 {
			if b.does(chromedp.Navigate(whole)); b.js(fmt.Sprintf(`document.querySelector(%q) !== null`, selector)) == "true" {
				return
			}
		}
		t.Fatalf("there is no %s", selector)
	}
	until(".cell:last-child .more")
	b.clicks(".cell:last-child .more")
	b.shows(".cell .output", "\n999")
	// A frame of a suspended evaluation is a page of its own.
	stuck := call(t, s, "evaluate-lisp", object{"on-error": "debug", "debug": 3, "code": `(let ((few (list 1 2))) (error "of ~S" few))`})
	says(t, stuck.Text(), "of (1 2)")
	until(".cell.suspended .frame")
	b.clicks(".cell.suspended .frames > summary")
	b.clicks(".frame > summary")
	b.clicks(".frame a")
	b.shows("h2", "Frame 0 of evaluation 1")
	b.shows(".locals", "FEW", "(1 2)")
	b.clicks("header a")
	b.shows(".restarts", "RETRY")
	b.quiet()
}

// When the server ends the page says so, and goes on with the next one for the project.
func TestWebReconnects(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := newDesk(t)
	s := d.server("restarted")
	want(t, s, ":before", "=> :BEFORE")
	p := d.page()
	b := newBrowser(t)
	b.opens(p)
	b.shows(".cell .values", ":BEFORE")
	running(t, s, "(sleep 100)")
	b.shows("#lamp", "Evaluating")
	s.Kill()
	b.shows("#lamp", "The server has ended; waiting for the next")
	b.shows(".cell.lost", "not known: the server has ended")
	b.clicks("#stop")
	b.shows("#said", "Not done: ")
	next := d.server("restarted")
	b.shows("#side", fmt.Sprint(next.PID()))
	want(t, next, ":after", "=> :AFTER")
	b.shows(".cell .values", ":BEFORE", ":AFTER")
	b.shows("#lamp", "Idle")
	b.becomes(`document.querySelectorAll(".cell").length === 3`)
	b.quiet()
	// The page's own process ends.
	p.cmd.Process.Kill()
	b.shows("#lamp", "swank-mcp watch does not answer")
}

// From the key in the page to the agent's reply it takes half a second at most.
func TestWebStops(t *testing.T) {
	tier.Nightly(t)
	d := newDesk(t)
	s := d.server("busy")
	want(t, s, "(defun all () (loop (compile nil '(lambda (x) (loop for i below x collect (list i (1+ i)))))))", "=> ALL")
	p := d.page()
	b := newBrowser(t)
	b.opens(p)
	var took []time.Duration
	for range 2 {
		for _, code := range []string{"(loop)", "(sleep 100)", "(all)",
			`(let ((l (make-string 999999 :initial-element #\p))) (dotimes (i 100000) (write-line l)))`} {
			call := running(t, s, code)
			began := time.Now()
			b.types("s")
			says(t, answer(t, call).Text(), stoppedHead)
			took = append(took, time.Since(began))
		}
	}
	tookLog(t, "from the key to the agent's reply", took)
	b.quiet()
}

// Who is not the browser that had the token gets nothing: another page, another name for the
// same address, a request without the token or the cookie, or with the token a second time.
func TestWebGuards(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.server("guarded")
	want(t, s, "(list :secret 42)", "=> (:SECRET 42)")
	p := d.page()
	host, token := strings.TrimPrefix(p.base(), "http://"), strings.SplitN(p.url, "#", 2)[1]
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var page string // path of the page
	cookie := ""    // that lets in
	asks := func(method, path string, status int, headers ...string) string {
		t.Helper()
		r, err := http.NewRequest(method, p.base()+path, strings.NewReader("token="+token))
		check(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if cookie != "" {
			r.Header.Set("Cookie", cookie)
		}
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			if r.Header.Set(name, value); name == "Host" {
				r.Host = value
			}
		}
		res, err := client.Do(r)
		check(t, err)
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		if res.StatusCode != status {
			t.Errorf("%s %s %v: %s", method, path, headers, res.Status)
		}
		if status == http.StatusForbidden && (strings.Contains(string(body), "SECRET") || res.Header.Get("Set-Cookie") != "") {
			t.Errorf("%s %s %v tells %s", method, path, headers, body)
		}
		for name := range res.Header {
			if strings.HasPrefix(name, "Access-Control") {
				t.Errorf("%s %s has %s", method, path, name)
			}
		}
		if csp := res.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; script-src 'self';") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s %s has the policy %q", method, path, csp)
		}
		page, cookie = cmp.Or(res.Header.Get("Location"), page), cmp.Or(res.Header.Get("Set-Cookie"), cookie)
		return string(body)
	}
	own := "Origin: " + p.base()
	foreign := []string{"Origin: http://evil.example", "Origin: null", "Origin: http://localhost:" + host[strings.LastIndex(host, ":")+1:], "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"}
	names := []string{"Host: evil.example", "Host: localhost", "Host: " + strings.Replace(host, "127.0.0.1", "rebound.example", 1), "Host: 127.0.0.1"}
	saysNot(t, asks("GET", "/", 200), "SECRET", "guarded")
	for _, h := range slices.Concat(foreign, names) {
		asks("POST", "/enter", 403, own, h)
		asks("GET", "/", 403, h)
	}
	asks("POST", "/enter", 403) // no Origin
	right := token
	token = "WRONG"
	asks("POST", "/enter", 403, own)
	token = right
	asks("POST", "/enter", 303, own)
	if c := strings.Split(cookie, "; "); len(c) != 4 || c[1] != "Path="+strings.TrimSuffix(page, "#newest") || c[2] != "HttpOnly" || c[3] != "SameSite=Strict" {
		t.Errorf("the cookie is %s", cookie)
	}
	full := cookie
	cookie, _, _ = strings.Cut(full, ";")
	page = strings.TrimSuffix(page, "#newest")
	if await.Until(func() bool { return strings.Contains(asks("GET", page, 200), "SECRET") }) != nil {
		t.Error("the one who had the token gets nothing")
	}
	for _, h := range slices.Concat(foreign, names) {
		for _, path := range []string{"", "cells", "cell?id=2", "frame?evaluation=1&frame=0", "flame?id=2", "events"} {
			asks("GET", page+path, 403, h)
		}
		for _, path := range []string{"stop", "put-back", "restart", "allow?policy=nothing", "answer?question=1&answer=yes"} {
			asks("POST", page+path, 403, own, h)
		}
	}
	asks("POST", page+"pause", 403)
	asks("POST", "/enter", 403, own) // a second time
	good := cookie
	for _, wrong := range []string{"swank-mcp=", "swank-mcp=WRONG", "other=1"} {
		cookie = wrong
		asks("GET", page, 403)
		asks("POST", page+"stop", 403, own)
	}
	cookie = good
	asks("GET", "/p/WRONG/", 403)
	asks("GET", "/p//", 403)
	asks("OPTIONS", page, 403, "Origin: http://evil.example", "Access-Control-Request-Method: POST")
	if st := d.statuses(); st[0]["paused"] == true || st[0]["policy"] != "everything" {
		t.Errorf("it is paused, or allows less: %v", st[0])
	}
}

// A notebook of 10,000 entries has a window on them in the page; the page stays fluent while
// they come, and while the person looks for the oldest.
func TestWebLong(t *testing.T) {
	tier.Nightly(t)
	d := newDesk(t)
	s := d.server("long")
	want(t, s, "(values 9999)", "=> 9999")
	p := d.page()
	b := newBrowser(t)
	b.opens(p)
	b.shows(".values", "9999")
	b.js(`window.gaps = []; window.last = performance.now();
		(function frame(now) { gaps.push(now - last); last = now; requestAnimationFrame(frame) })(last); 1`)
	const n, atOnce = 10_000, 100
	for i := 0; i < n; i += atOnce {
		var calls []*wire.Pending
		for j := range atOnce {
			calls = append(calls, sendCall(t, s, fmt.Sprintf("(values %d)", 10000+i+j)))
		}
		for _, c := range calls {
			answer(t, c)
		}
	}
	b.shows(".cell:last-child .values", fmt.Sprint(10000+n-1))
	few := func(what string) {
		t.Helper()
		b.becomes(`document.querySelectorAll("#cells > li").length <= 300`)
		var gaps []float64
		check(t, json.Unmarshal([]byte(b.js("gaps.splice(0)")), &gaps))
		slices.Sort(gaps)
		p50 := gaps[len(gaps)/2]
		t.Logf("%s: %d frames, p50 %.0f ms, p95 %.0f ms, longest %.0f ms", what, len(gaps), p50, gaps[len(gaps)*95/100], gaps[len(gaps)-1])
		if p50 > 100 {
			t.Errorf("%s: a frame takes %.0f ms", what, p50)
		}
	}
	few("while they come")
	b.types("g")
	b.shows(".cell .values", "9999")
	b.becomes("scrollY === 0")
	few("oldest")
	b.becomes(`scrollBy(0, 2000), Number(document.querySelector(".cell:last-child").dataset.id) > 600`)
	b.becomes(`document.querySelector("#newer") && document.querySelector("#older")`)
	few("down")
	b.types("G")
	b.shows(".cell:last-child .values", fmt.Sprint(10000+n-1))
	at := b.js(`scrollTo(0, 3000); document.querySelector("#cells > li").dataset.id`)
	b.becomes(`scrollBy(0, -2000), Number(document.querySelector("#cells > li").dataset.id) < ` + strings.Trim(at, `"`) + ` - 400`)
	few("up")
	// Who reads further up is told of what comes, and is not moved.
	b.js(`scrollBy(0, -200); new Promise(r => setTimeout(r, 500))`) // what is loaded for that has come
	b.js(`window.mark = [...cells.children].find(c => c.getBoundingClientRect().top > 100); window.top0 = mark.getBoundingClientRect().top; 1`)
	want(t, s, ":newest", "=> :NEWEST")
	b.shows("#unseen", "1 new")
	b.becomes("Math.abs(mark.getBoundingClientRect().top - top0) < 2")
	b.clicks("#unseen")
	b.shows(".cell:last-child .values", ":NEWEST")
	b.becomes(`document.querySelector("#unseen").hidden`)
	b.quiet()
}
