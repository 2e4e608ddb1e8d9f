package door

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const secret = "0123456789abcdef0123456789abcdef"

// at asks a door of these options and returns the status, and the reply's head and body.
func at(t *testing.T, o Options, method string, change func(*http.Request)) (int, http.Header, string) {
	t.Helper()
	if o.Tokens == nil {
		o.Tokens = &Tokens{}
		o.Tokens.add("anna", secret)
	}
	d := New(o)
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, "http://127.0.0.1:7800/mcp", nil)
	r.Header.Set("Authorization", "Bearer "+secret)
	change(r)
	d.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "in as "+Principal(r.Context())) })).ServeHTTP(w, r)
	return w.Code, w.Header(), w.Body.String()
}

// What comes in, and with which status the rest is refused.
func TestDoor(t *testing.T) {
	header := func(key string, values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header[key] = values }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	cert := testCertificate(t).Leaf
	for _, c := range []struct {
		name   string
		o      Options
		change func(*http.Request)
		status int
	}{
		{"the right token", Options{}, func(*http.Request) {}, 200},
		{"the scheme in small letters", Options{}, header("Authorization", "bearer "+secret), 200},
		{"localhost", Options{}, host("localhost:7800"), 200},
		{"IPv6", Options{}, host("[::1]:7800"), 200},

		// A page whose name was made to lead to this machine.
		{"another host", Options{}, host("evil.example"), 403},
		{"another host with the port", Options{}, host("evil.example:7800"), 403},
		{"a host that begins as ours", Options{}, host("localhost.evil.example"), 403},
		{"a host with ours as a user", Options{}, host("127.0.0.1@evil.example"), 403},
		{"a number that leads here", Options{}, host("0.0.0.0:7800"), 403},
		{"another machine's number", Options{}, host("192.0.2.1"), 403},
		{"no host", Options{}, host(""), 403},
		{"a host that is allowed", Options{Hosts: []string{"lisp.example"}}, host("Lisp.Example:443"), 200},
		{"a host below it", Options{Hosts: []string{"lisp.example"}}, host("a.lisp.example"), 403},
		{"a host of the certificate", Options{Cert: cert}, host("example.com"), 200},
		{"a host not of the certificate", Options{Cert: cert}, host("example.org"), 403},
		{"any host at a socket", Options{Unix: true}, host("whatever"), 200},

		// Web pages.
		{"a page", Options{}, header("Origin", "http://evil.example"), 403},
		{"a page of this machine", Options{}, header("Origin", "http://localhost:3000"), 403},
		{"a page of this server", Options{}, header("Origin", "http://127.0.0.1:7800"), 200},
		{"a page of this server, by another way", Options{}, header("Origin", "https://127.0.0.1:7800"), 403},
		{"a page of this server with TLS", Options{Cert: cert}, header("Origin", "https://127.0.0.1:7800"), 200},
		{"a page of a name that leads here", Options{}, func(r *http.Request) {
			r.Host = "evil.example:7800"
			r.Header.Set("Origin", "http://evil.example:7800")
		}, 403},
		{"a page without an origin", Options{}, header("Origin", "null"), 403},
		{"an empty origin", Options{}, header("Origin", ""), 403},
		{"a page that is allowed", Options{Origins: []string{"https://app.example"}}, header("Origin", "https://app.example"), 200},
		{"a page below it", Options{Origins: []string{"https://app.example"}}, header("Origin", "https://app.example.evil"), 403},
		{"two origins", Options{Origins: []string{"https://app.example"}}, header("Origin", "https://app.example", "https://evil"), 403},
		{"a link of a page", Options{}, header("Sec-Fetch-Site", "cross-site"), 403},
		{"an address that was typed", Options{}, header("Sec-Fetch-Site", "none"), 200},
		{"a page at a socket", Options{Unix: true}, header("Origin", "http://evil.example"), 403},

		// Tokens.
		{"no token", Options{}, header("Authorization"), 401},
		{"an empty token", Options{}, header("Authorization", "Bearer "), 401},
		{"another token", Options{}, header("Authorization", "Bearer "+strings.Repeat("x", 32)), 401},
		{"a part of the token", Options{}, header("Authorization", "Bearer "+secret[:31]), 401},
		{"another scheme", Options{}, header("Authorization", "Basic "+secret), 401},
		{"no scheme", Options{}, header("Authorization", secret), 401},
		{"two tokens", Options{}, header("Authorization", "Bearer "+secret, "Bearer "+secret), 401},
		{"the token in the address", Options{}, func(r *http.Request) {
			r.Header.Del("Authorization")
			r.URL.RawQuery = "access_token=" + secret + "&token=" + secret
		}, 401},
		{"the token in a cookie", Options{}, func(r *http.Request) {
			r.Header.Del("Authorization")
			r.AddCookie(&http.Cookie{Name: "Authorization", Value: secret})
		}, 401},
	} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			status, head, body := at(t, c.o, method, c.change)
			if status != c.status || (status == 200) != (body == "in as anna") {
				t.Errorf("%s, %s: %d %s, want %d", c.name, method, status, body, c.status)
			}
			if (status == 401) != (head.Get("WWW-Authenticate") != "") || strings.Contains(body, secret) {
				t.Errorf("%s, %s: %v %s", c.name, method, head, body)
			}
			if (head.Get("Access-Control-Allow-Origin") != "") != (status == 200 && len(c.o.Origins) > 0) {
				t.Errorf("%s, %s: %v", c.name, method, head)
			}
		}
	}
}

// A browser that asks for a page that is allowed learns that it is, without a token; for
// others it does not.
func TestPreflight(t *testing.T) {
	ask := func(origin string) (int, http.Header) {
		status, head, _ := at(t, Options{Origins: []string{"https://app.example"}}, "OPTIONS", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.Header.Set("Origin", origin)
			r.Header.Set("Access-Control-Request-Method", "POST")
		})
		return status, head
	}
	if status, head := ask("https://app.example"); status != 204 || !strings.Contains(head.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("allowed: %d %v", status, head)
	}
	if status, head := ask("https://evil.example"); status != 403 || head.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("not allowed: %d %v", status, head)
	}
}

// A principal that sends too much is told when to come back; another one is not affected.
func TestRate(t *testing.T) {
	tokens := &Tokens{}
	tokens.add("anna", secret)
	tokens.add("bert", strings.Repeat("b", 32))
	d := New(Options{Tokens: tokens, Rate: 5})
	h := d.Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	send := func(token string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", "http://localhost/mcp", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		h.ServeHTTP(w, r)
		return w
	}
	refused := 0
	for range 50 {
		if w := send(secret); w.Code == 429 {
			refused++
			if w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), "at most 5 a second") {
				t.Fatalf("%v %s", w.Header(), w.Body)
			}
		}
	}
	if refused < 35 || refused > 40 {
		t.Errorf("of 50 at once %d were refused, with 5 a second and 10 at once", refused)
	}
	if w := send(strings.Repeat("b", 32)); w.Code != 200 {
		t.Errorf("another principal: %d", w.Code)
	}
}

// Where a server may listen, and with what.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		p    Place
		want string // of the error; "" is none
	}{
		{Place{Address: "127.0.0.1:7800"}, ""},
		{Place{Address: "127.0.0.1:7800", NoAuth: true}, ""},
		{Place{Address: "[::1]:7800"}, ""},
		{Place{Address: "localhost:0"}, ""},
		{Place{Address: "unix:/run/mcp.sock", NoAuth: true}, ""},
		{Place{Address: "unix:mcp.sock"}, "must be absolute"},
		{Place{Address: "7800"}, "neither HOST:PORT"},
		{Place{Address: ":7800"}, "--allow-remote"},
		{Place{Address: "0.0.0.0:7800"}, "--allow-remote"},
		{Place{Address: "192.0.2.1:7800"}, "--allow-remote"},
		{Place{Address: "lisp.example:7800"}, "--allow-remote"},
		{Place{Address: ":7800", AllowRemote: true}, "--tls-cert and --tls-key, or --behind-proxy"},
		{Place{Address: ":7800", AllowRemote: true, NoAuth: true, Certificate: "c", Key: "k"}, "--no-auth is for 127.0.0.1"},
		{Place{Address: ":7800", AllowRemote: true, NoAuth: true, BehindProxy: true, Hosts: []string{"a"}}, "--no-auth is for 127.0.0.1"},
		{Place{Address: ":7800", AllowRemote: true, Certificate: "c", Key: "k"}, ""},
		{Place{Address: ":7800", AllowRemote: true, BehindProxy: true}, "--allowed-hosts"},
		{Place{Address: ":7800", AllowRemote: true, BehindProxy: true, Hosts: []string{"a"}}, ""},
		{Place{Address: "127.0.0.1:7800", Certificate: "c"}, "give both"},
	} {
		err := c.p.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.p, err, c.want)
		}
	}
}

// A socket is its user's alone from the beginning, takes the name of a server that is dead,
// and of no other one, nor of a file.
func TestSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "door") // short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	p := Place{Address: "unix:" + path}
	l, err := p.Listen()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || !l.Unix {
		t.Errorf("%v, %v, %+v", info, err, l)
	}
	if _, err := p.Listen(); err == nil || !strings.Contains(err.Error(), "another server listens there") {
		t.Errorf("a second server: %v", err)
	}
	l.Close()
	if _, err := os.Stat(path); err == nil {
		t.Error("the name stays")
	}
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	if l, err = p.Listen(); err != nil {
		t.Fatalf("after a dead server: %v", err)
	}
	l.Close()
	os.WriteFile(path, []byte("text"), 0o600)
	if _, err := p.Listen(); err == nil || !strings.Contains(err.Error(), "is no socket") {
		t.Errorf("a file: %v", err)
	}
}

// With a certificate it speaks TLS and HTTP/2, and nothing older than TLS 1.2.
func TestTLS(t *testing.T) {
	cert, key := certificateFiles(t)
	l, err := Place{Address: "127.0.0.1:0", Certificate: cert, Key: key}.Listen()
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) })}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	roots := x509.NewCertPool()
	roots.AddCert(l.Cert)
	get := func(max uint16) error {
		transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots, MaxVersion: max, ServerName: "example.com"}}
		defer transport.CloseIdleConnections()
		resp, err := (&http.Client{Transport: transport, Timeout: 5 * time.Second}).Get(l.URL)
		if err == nil {
			if resp.Body.Close(); resp.ProtoMajor != 2 {
				t.Errorf("it speaks %s", resp.Proto)
			}
		}
		return err
	}
	if err := get(0); err != nil || !strings.HasPrefix(l.URL, "https://127.0.0.1:") {
		t.Errorf("%s: %v", l.URL, err)
	}
	if err := get(tls.VersionTLS11); err == nil {
		t.Error("it speaks TLS 1.1")
	}
	if _, err := (Place{Address: "127.0.0.1:0", Certificate: key, Key: key}).Listen(); err == nil || !strings.Contains(err.Error(), "--tls-cert") {
		t.Errorf("a key as a certificate: %v", err)
	}
}
