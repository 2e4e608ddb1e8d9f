package door

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Options of a [Door].
type Options struct {
	Tokens  *Tokens           // nil: whoever comes is Anybody
	Unix    bool              // requests come over a socket of this machine, where no name leads to
	Hosts   []string          // names that Host may have, beside those of loopback
	Cert    *x509.Certificate // whose names it may have too; nil is none
	Origins []string          // those of web pages that may use the server, as "https://app.example"
	Rate    int               // requests of one principal in a second; 0 is no limit
	Refused func(why string)  // told of each that is refused: host, origin, token, rate; may be nil
	Log     *slog.Logger      // nil discards
}

// Anybody is the principal where no tokens are wanted.
const Anybody = "anybody"

// Door lets requests in, or answers them.
type Door struct {
	o      Options
	mu     sync.Mutex
	rates  map[string]*rate.Limiter // by principal
	quotas int                      // of a burst
}

// New returns a door.
func New(o Options) *Door {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Refused == nil {
		o.Refused = func(string) {}
	}
	return &Door{o: o, rates: map[string]*rate.Limiter{}, quotas: 2 * o.Rate}
}

type principalKey struct{}

// Principal returns who has sent the request whose context that is.
func Principal(ctx context.Context) string {
	name, _ := ctx.Value(principalKey{}).(string)
	return name
}

// Guard passes to next the requests that may come in, with their principal. The names are
// looked at first, so that a web page of somebody else's learns nothing about tokens.
func (d *Door) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Accel-Buffering", "no") // a proxy is not to hold streams back
		if !d.host(r) {
			d.refuse(w, r, "host", http.StatusForbidden, fmt.Sprintf("Forbidden: this server has no name %q. Whoever runs it allows one by --allowed-hosts.", clip(r.Host)))
			return
		}
		if !d.origin(w, r) {
			d.refuse(w, r, "origin", http.StatusForbidden, "Forbidden: web pages of that origin may not use this server. Whoever runs it allows one by --allowed-origins.")
			return
		}
		if r.Method == http.MethodOptions && r.Header.Get("Origin") != "" { // a browser asks before it sends
			w.WriteHeader(http.StatusNoContent)
			return
		}
		principal, ok := d.principal(r)
		if !ok {
			w.Header().Set("WWW-Authenticate", challenge(r))
			d.refuse(w, r, "token", http.StatusUnauthorized, "Unauthorized: send the header Authorization: Bearer TOKEN, with a token of this server's token file.")
			return
		}
		if !d.allow(principal, 1) {
			w.Header().Set("Retry-After", "1")
			d.refuse(w, r, "rate", http.StatusTooManyRequests, fmt.Sprintf("Too many requests: at most %d a second. Send it again in 1 second.", d.o.Rate))
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, principal)))
	})
}

// refuse answers a request that does not come in. Of what it has sent, only the method is
// logged: a token may stand anywhere else.
func (d *Door) refuse(w http.ResponseWriter, r *http.Request, why string, status int, text string) {
	d.o.Refused(why)
	d.o.Log.Info("refused a request", "why", why, "status", status, "from", r.RemoteAddr, "method", clip(r.Method))
	http.Error(w, text, status)
}

// host reports whether the request names this server: a page whose own name was made to
// lead here does not.
func (d *Door) host(r *http.Request) bool {
	if d.o.Unix {
		return true
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	switch {
	case host == "":
		return false
	case loopback(host):
		return true
	case slices.ContainsFunc(d.o.Hosts, func(h string) bool { return strings.EqualFold(h, host) }):
		return true
	}
	return d.o.Cert != nil && d.o.Cert.VerifyHostname(host) == nil
}

// origin reports whether no web page of another server's has sent the request, or one that
// may; then its browser is told so.
func (d *Door) origin(w http.ResponseWriter, r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		site := r.Header.Get("Sec-Fetch-Site") // of browsers, which send no Origin with some
		return site == "" || site == "none" || site == "same-origin"
	}
	scheme := "http://"
	if d.o.Cert != nil {
		scheme = "https://"
	}
	switch {
	case len(origins) > 1:
		return false
	case origins[0] == scheme+r.Host && !d.o.Unix: // a page of this server's, which has none
		return true
	case !slices.Contains(d.o.Origins, origins[0]):
		return false
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origins[0])
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Retry-After, WWW-Authenticate")
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name")
	return true
}

// principal returns whose the token of the request is.
func (d *Door) principal(r *http.Request) (string, bool) {
	if d.o.Tokens == nil {
		return Anybody, true
	}
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return "", false
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	return d.o.Tokens.Principal(strings.TrimSpace(token))
}

func challenge(r *http.Request) string {
	if r.Header.Get("Authorization") == "" {
		return `Bearer realm="swank-mcp"`
	}
	return `Bearer realm="swank-mcp", error="invalid_token"`
}

// Most returns how many messages one request can carry without exceeding the rate by itself.
func (d *Door) Most() int {
	if d.o.Rate <= 0 {
		return math.MaxInt
	}
	return d.quotas
}

// Charge counts the messages of a request that was let in beyond its first one. If they are
// too many it answers the request and returns false.
func (d *Door) Charge(w http.ResponseWriter, r *http.Request, messages int) bool {
	if messages < 2 || d.allow(Principal(r.Context()), messages-1) {
		return true
	}
	seconds := (messages + d.o.Rate - 1) / d.o.Rate
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	d.refuse(w, r, "rate", http.StatusTooManyRequests, fmt.Sprintf("Too many requests: at most %d a second, and each message of a batch counts as one. This batch has %d. Send it again in %d seconds.", d.o.Rate, messages, seconds))
	return false
}

// allow counts n requests of the principal, and reports whether they are not too many.
func (d *Door) allow(principal string, n int) bool {
	if d.o.Rate <= 0 {
		return true
	}
	d.mu.Lock()
	l := d.rates[principal]
	if l == nil {
		l = rate.NewLimiter(rate.Limit(d.o.Rate), d.quotas)
		d.rates[principal] = l
	}
	d.mu.Unlock()
	return l.AllowN(time.Now(), n)
}

func clip(s string) string { return s[:min(len(s), 100)] }
