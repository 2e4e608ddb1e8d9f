package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// To other machines the server speaks TLS, by the names of its certificate alone; behind a
// proxy by those that it is told.
func TestHTTPRemote(t *testing.T) {
	t.Parallel()
	cert, key, roots := certificate(t, "lisp.example")
	h := startHTTP(t, t.TempDir(), "--http", "0.0.0.0:0", "--allow-remote", "--tls-cert", cert, "--tls-key", key)
	if !strings.HasPrefix(h.url, "https://") {
		t.Fatalf("it serves at %s", h.url)
	}
	h.url = strings.Replace(h.url, "[::]", "127.0.0.1", 1)
	h.client.Transport = &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "lisp.example"}}
	h.wants("/mcp", "(+ 1 2)", "=> 3")
	asks(t, h, map[string]int{"lisp.example": 401, "evil.example": 403, "192.0.2.1": 403})
	list := exec.Command(run.binary, "sessions", "--http", strings.TrimPrefix(h.url, "https://"), "--tls-cert", cert, "--tls-key", key)
	list.Env = environ(run.dir, "XDG_STATE_HOME="+h.state)
	if out, err := list.CombinedOutput(); err != nil || !strings.Contains(string(out), "owner/default") {
		t.Errorf("sessions: %v, %s", err, out)
	}

	h = startHTTP(t, t.TempDir(), "--http", "0.0.0.0:0", "--allow-remote", "--behind-proxy", "--allowed-hosts", "lisp.example,other.example")
	h.url = strings.Replace(h.url, "[::]", "127.0.0.1", 1)
	asks(t, h, map[string]int{"lisp.example": 401, "other.example": 401, "evil.example": 403})
}

// asks asks without a token, by names, and wants these statuses.
func asks(t *testing.T, h *httpServer, names map[string]int) {
	t.Helper()
	for name, want := range names {
		r, err := http.NewRequest("POST", h.url+"/mcp", strings.NewReader("{}"))
		check(t, err)
		r.Host = name
		resp, err := h.client.Do(r)
		check(t, err)
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("as %s: %s, want %d", name, resp.Status, want)
		}
	}
}

// certificate makes one for the name, and its key, as files; roots are those who trust it.
func certificate(t *testing.T, name string) (cert, key string, roots *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	check(t, err)
	keyDER, err := x509.MarshalECPrivateKey(private)
	check(t, err)
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	check(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	check(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), 0o600))
	parsed, err := x509.ParseCertificate(der)
	check(t, err)
	roots = x509.NewCertPool()
	roots.AddCert(parsed)
	return cert, key, roots
}
