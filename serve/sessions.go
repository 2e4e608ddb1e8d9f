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

// endSession ends a session of who asks.
func (s *Server) endSession(w http.ResponseWriter, r *http.Request) {
	if !s.hub.End(door.Principal(r.Context()), r.PathValue("name")) {
		http.Error(w, "Not Found: you have no session of that name.", http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
