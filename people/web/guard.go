package web

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// policy lets the page have its own script and style only.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guarded answers only requests of the page itself. The Host says that no other name was
// made to lead here; Origin and Sec-Fetch-Site say that no other page asks; behind /p/ the
// path and the cookie say that it is the browser that had the token. Everybody else is told
// nothing.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // with less the browser would not tell the Origin of a form
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !s.known(r) {
			http.Error(w, "This address is for one browser: the one that has opened what `swank-mcp watch --web` has printed.", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) known(r *http.Request) bool {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err != nil || !net.ParseIP(host).IsLoopback() || r.Host != s.host {
		return false
	}
	origin, own := r.Header.Get("Origin"), "http://"+s.host
	if r.Method != http.MethodGet && origin != own || origin != "" && origin != own {
		return false
	}
	// Where the token is asked for, a link may lead to from anywhere: there is nothing to see.
	coming := r.Method == http.MethodGet && r.URL.Path == "/" && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" && !coming {
		return false
	}
	rest, inside := strings.CutPrefix(r.URL.Path, "/p/")
	if !inside {
		return true
	}
	secret, _, _ := strings.Cut(rest, "/")
	cookie, err := r.Cookie(cookieName)
	return err == nil && equal(secret, s.secret) && equal(cookie.Value, s.cookie)
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
