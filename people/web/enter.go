package web

import (
	"net/http"
)

const cookieName = "swank-mcp"

// enterPage has the browser send the token, which only it has: what is behind # stays there.
func (s *Server) enterPage(w http.ResponseWriter, _ *http.Request) { show(w, "enter", "") }

// enter exchanges the token for the cookie, once. The cookie is for the path of the page: a
// browser sends cookies to all ports of a machine, but not to a path that nobody else knows.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	s.mu.Lock()
	good := s.token != "" && equal(r.PostFormValue("token"), s.token)
	if good {
		s.token = ""
	}
	s.mu.Unlock()
	if !good {
		w.WriteHeader(http.StatusForbidden)
		show(w, "enter", "This code is not valid, or was used already. A new one comes with: swank-mcp watch --web")
		return
	}
	path := "/p/" + s.secret + "/"
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: s.cookie, Path: path, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	http.Redirect(w, r, path+"#newest", http.StatusSeeOther)
}
