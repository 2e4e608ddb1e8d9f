package main

import (
	"os"
	"strings"
	"testing"
)

// The configuration of the proxy for Kubernetes is that of the stack, which is tried, but for
// what a cluster calls otherwise.
func TestSameProxy(t *testing.T) {
	t.Parallel()
	read := func(path string) string {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := strings.NewReplacer(
		"nameserver dns 127.0.0.11:53  # of Docker; for Kubernetes, that of the cluster", "parse-resolv-conf",
		"/run/secrets/proxy-cert", "/run/secrets/tls.pem",
		"http:7800", "http.swank-mcp.svc.cluster.local:7800",
	).Replace(read("../../compose/haproxy.cfg"))
	got := read("../../deploy/kubernetes/haproxy.cfg")
	head, rest, _ := strings.Cut(got, "\n")
	if !strings.HasPrefix(head, "# ") || rest != want {
		t.Errorf("deploy/kubernetes/haproxy.cfg is not compose/haproxy.cfg for Kubernetes; it should be a line of comment and:\n%s", want)
	}
}
