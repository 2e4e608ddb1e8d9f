package docs

import (
	"net"
	"os/exec"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
)

const httpPage = "docs/howto/http.md"

// TestDocsHTTP types what docs/howto/http.md has in its consoles, at ports that are free.
func TestDocsHTTP(t *testing.T) {
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatal("install the package curl")
	}
	p, err := readPage(httpPage)
	harness.Check(t, err)
	for _, port := range []string{"7800", "7801"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		harness.Check(t, err)
		_, free, _ := net.SplitHostPort(l.Addr().String())
		l.Close()
		for i := range p.items {
			p.items[i].text = strings.ReplaceAll(p.items[i].text, ":"+port, ":"+free)
		}
	}
	r := newReader(t, p)
	defer r.bash("kill $(cat http.pid)") // where the page did not come to its end
	for _, b := range p.items {
		if b.kind == "console" {
			r.console(b)
		}
	}
	if r.ran < 8 {
		t.Errorf("%d commands were typed", r.ran)
	}
}
