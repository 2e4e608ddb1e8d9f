package http

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
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
)

// To other machines the server speaks TLS, by the names of its certificate alone; behind a
// proxy by those that it is told.
func TestHTTPRemote(t *testing.T) {
	t.Parallel()
	cert, key, roots := certificate(t, "lisp.example")
	h := harness.StartHTTP(t, t.TempDir(), "--http", "0.0.0.0:0", "--allow-remote", "--tls-cert", cert, "--tls-key", key)
	if !strings.HasPrefix(h.Url, "https://") {
		t.Fatalf("it serves at %s", h.Url)
	}
	h.Url = strings.Replace(h.Url, "[::]", "127.0.0.1", 1)
	h.Client.Transport = &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "lisp.example"}}
	h.Wants("/mcp", "(+ 1 2)", "=> 3")
	asks(t, h, map[string]int{"lisp.example": 401, "evil.example": 403, "192.0.2.1": 403})
	list := await.Command(t, harness.Run.Binary, "sessions", "--http", strings.TrimPrefix(h.Url, "https://"), "--tls-cert", cert, "--tls-key", key)
	list.Env = harness.Environ(harness.Run.Dir, "XDG_STATE_HOME="+h.State)
	if out, err := list.CombinedOutput(); err != nil || !strings.Contains(string(out), "owner/default") {
		t.Errorf("sessions: %v, %s", err, out)
	}

	h = harness.StartHTTP(t, t.TempDir(), "--http", "0.0.0.0:0", "--allow-remote", "--behind-proxy", "--allowed-hosts", "lisp.example,other.example")
	h.Url = strings.Replace(h.Url, "[::]", "127.0.0.1", 1)
	asks(t, h, map[string]int{"lisp.example": 401, "other.example": 401, "evil.example": 403})
}

// asks asks without a token, by names, and wants these statuses.
func asks(t *testing.T, h *harness.HTTPServer, names map[string]int) {
	t.Helper()
	for name, want := range names {
		r, err := http.NewRequest("POST", h.Url+"/mcp", strings.NewReader("{}"))
		harness.Check(t, err)
		r.Host = name
		resp, err := h.Client.Do(r)
		harness.Check(t, err)
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
	harness.Check(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	harness.Check(t, err)
	keyDER, err := x509.MarshalECPrivateKey(private)
	harness.Check(t, err)
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	harness.Check(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	harness.Check(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), 0o600))
	parsed, err := x509.ParseCertificate(der)
	harness.Check(t, err)
	roots = x509.NewCertPool()
	roots.AddCert(parsed)
	return cert, key, roots
}
