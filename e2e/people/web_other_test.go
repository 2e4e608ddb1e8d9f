package people

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// Another page in the same browser reads and does nothing, even if it knows where the page
// is, and even if it is of the same machine; no cookie comes to it.
func TestWebOtherPage(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("private")
	harness.Want(t, s, ":secret", "=> :SECRET")
	p := d.Page()
	b := harness.NewBrowser(t)
	b.Opens(p)
	b.Shows(".cell .values", ":SECRET")
	target := b.Address()
	target, _, _ = strings.Cut(target, "#")
	var cookies atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") != "" {
			cookies.Add(1)
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>other</title><iframe src="%[1]s"></iframe><script>
			const get = (u, o) => fetch(u, o).then(r => r.text()).catch(() => "refused");
			window.all = Promise.all([
				get("%[1]s", {credentials: "include"}), get("%[1]scells", {credentials: "include"}),
				get("%[1]spause", {credentials: "include", method: "POST"}), get("%[1]spause", {credentials: "include", method: "POST", mode: "no-cors"}),
				new Promise(r => { const e = new EventSource("%[1]sevents", {withCredentials: true}); e.onmessage = m => r(m.data); e.onerror = () => r("refused"); }),
			]).then(a => a.join(" "));
		</script><form method="post" action="%[1]spause"></form>`, target)
	}))
	defer other.Close()
	for _, host := range []string{"127.0.0.1", "localhost"} {
		b.Does(chromedp.Navigate(strings.Replace(other.URL, "127.0.0.1", host, 1) + "/p/"))
		if got := b.Js(`all`); strings.Contains(got, "SECRET") || strings.Count(got, "refused") < 4 {
			t.Errorf("a page of %s reads %s", host, got)
		}
		b.Does(chromedp.Evaluate[chromedp.Void](`document.forms[0].submit()`))
		b.Shows("body", "This address is for one browser")
	}
	if d.Statuses()[0]["paused"] == true {
		t.Error("another page has paused the calls")
	}
	if n := cookies.Load(); n > 0 {
		t.Errorf("%d cookies came to another port", n)
	}
	b.Does(chromedp.Navigate(target)) // the person comes back
	b.Shows(".cell .values", ":SECRET")
}
