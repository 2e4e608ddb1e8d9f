package serve

import (
	"encoding/json"
	"net/http"

	"swank-mcp/serve/door"
	"swank-mcp/serve/hub"
)

// list answers with the sessions of who asks, as JSON: a list of [hub.Info].
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	list := []hub.Info{}
	for _, i := range s.hub.List() {
		if i.Principal == door.Principal(r.Context()) {
			list = append(list, i)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list) // whoever has asked has gone
}

// show answers with what is known of a session of who asks, as JSON: a [hub.Detail].
func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	d := s.hub.Detail(r.Context(), door.Principal(r.Context()), r.PathValue("name"))
	if d == nil {
		http.Error(w, noSession, http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(d) // whoever has asked has gone
}

// noSession is what who asks is told of a session that there is not, or is another's.
const noSession = "Not Found: you have no session of that name."

// endSession ends a session of who asks.
func (s *Server) endSession(w http.ResponseWriter, r *http.Request) {
	if !s.hub.End(door.Principal(r.Context()), r.PathValue("name")) {
		http.Error(w, noSession, http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
