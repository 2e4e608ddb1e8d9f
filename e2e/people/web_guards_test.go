package people

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// Who is not the browser that had the token gets nothing: another page, another name for the
// same address, a request without the token or the cookie, or with the token a second time.
func TestWebGuards(t *testing.T) {
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("guarded")
	harness.Want(t, s, "(list :secret 42)", "=> (:SECRET 42)")
	p := d.Page()
	host, token := strings.TrimPrefix(p.Base(), "http://"), strings.SplitN(p.Url, "#", 2)[1]
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	var page string // path of the page
	cookie := ""    // that lets in
	asks := func(method, path string, status int, headers ...string) string {
		t.Helper()
		r, err := http.NewRequest(method, p.Base()+path, strings.NewReader("token="+token))
		harness.Check(t, err)
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
		harness.Check(t, err)
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
	own := "Origin: " + p.Base()
	foreign := []string{"Origin: http://evil.example", "Origin: null", "Origin: http://localhost:" + host[strings.LastIndex(host, ":")+1:], "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"}
	names := []string{"Host: evil.example", "Host: localhost", "Host: " + strings.Replace(host, "127.0.0.1", "rebound.example", 1), "Host: 127.0.0.1"}
	harness.SaysNot(t, asks("GET", "/", 200), "SECRET", "guarded")
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
	if st := d.Statuses(); st[0]["paused"] == true || st[0]["policy"] != "everything" {
		t.Errorf("it is paused, or allows less: %v", st[0])
	}
}

// A notebook of 10,000 entries has a window on them in the page; the page stays fluent while
// they come, and while the person looks for the oldest.
func TestWebLong(t *testing.T) {
	tier.Nightly(t)
	d := harness.NewDesk(t)
	s := d.Server("long")
	harness.Want(t, s, "(values 9999)", "=> 9999")
	p := d.Page()
	b := harness.NewBrowser(t)
	b.Opens(p)
	b.Shows(".values", "9999")
	b.Js(`window.gaps = []; window.last = performance.now();
		(function frame(now) { gaps.push(now - last); last = now; requestAnimationFrame(frame) })(last); 1`)
	const n, atOnce = 10_000, 100
	last := harness.Burst(t, s, n, atOnce)
	b.Shows(".cell:last-child .values", fmt.Sprint(last))
	few := func(what string) {
		t.Helper()
		b.Becomes(`document.querySelectorAll("#cells > li").length <= 300`)
		var gaps []float64
		harness.Check(t, json.Unmarshal([]byte(b.Js("gaps.splice(0)")), &gaps))
		slices.Sort(gaps)
		p50 := gaps[len(gaps)/2]
		t.Logf("%s: %d frames, p50 %.0f ms, p95 %.0f ms, longest %.0f ms", what, len(gaps), p50, gaps[len(gaps)*95/100], gaps[len(gaps)-1])
		if p50 > 100 {
			t.Errorf("%s: a frame takes %.0f ms", what, p50)
		}
	}
	few("while they come")
	b.Types("g")
	b.Shows(".cell .values", "9999")
	b.Becomes("scrollY === 0")
	few("oldest")
	b.Becomes(`scrollBy(0, 2000), Number(document.querySelector(".cell:last-child").dataset.id) > 600`)
	b.Becomes(`document.querySelector("#newer") && document.querySelector("#older")`)
	few("down")
	b.Types("G")
	b.Shows(".cell:last-child .values", fmt.Sprint(last))
	at := b.Js(`scrollTo(0, 3000); document.querySelector("#cells > li").dataset.id`)
	b.Becomes(`scrollBy(0, -2000), Number(document.querySelector("#cells > li").dataset.id) < ` + strings.Trim(at, `"`) + ` - 400`)
	few("up")
	// Who reads further up is told of what comes, and is not moved.
	b.Js(`scrollBy(0, -200); new Promise(r => setTimeout(r, 500))`) // what is loaded for that has come
	b.Js(`window.mark = [...cells.children].find(c => c.getBoundingClientRect().top > 100); window.top0 = mark.getBoundingClientRect().top; 1`)
	harness.Want(t, s, ":newest", "=> :NEWEST")
	b.Shows("#unseen", "1 new")
	b.Becomes("Math.abs(mark.getBoundingClientRect().top - top0) < 2")
	b.Clicks("#unseen")
	b.Shows(".cell:last-child .values", ":NEWEST")
	b.Becomes(`document.querySelector("#unseen").hidden`)
	b.Quiet()
}
