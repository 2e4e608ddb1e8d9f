package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	gather      = 80 * time.Millisecond // for which changes are gathered
	signOfLife  = 15 * time.Second
	patience    = 30 * time.Second // for which a browser may not read
	mostChanges = pageSize         // cells that are sent at once
	many        = 20               // of them; then more time goes by until the next
)

// update is what the script is told of changes.
type update struct {
	Cells  []updated         `json:"cells,omitempty"`
	Newest int64             `json:"newest"`          // number of the newest cell
	Parts  map[string]string `json:"parts,omitempty"` // HTML of what has changed beside them, by the id of its place
}

type updated struct {
	ID   int64  `json:"id"`
	HTML string `json:"html"`
}

// events tells a browser what changes, until it goes. The id of an event is the version of
// the notebook, so that a browser that comes back gets what it has missed.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	since := r.Header.Get("Last-Event-ID")
	if since == "" {
		since = r.URL.Query().Get("since")
	}
	version, _ := strconv.ParseInt(since, 10, 64)
	defer s.side.watch()()
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	before := map[string]string{}
	life := time.NewTicker(signOfLife)
	defer life.Stop()
	for {
		change := s.book.change()
		var u update
		var cells []cell
		cells, u.Newest, version = s.book.since(version, mostChanges)
		for _, c := range cells {
			u.Cells = append(u.Cells, updated{c.id, c.html})
		}
		parts, sideChange := s.side.now()
		u.Parts = map[string]string{}
		for name, html := range parts {
			if html != before[name] {
				u.Parts[name], before[name] = html, html
			}
		}
		data, err := json.Marshal(u)
		if err != nil {
			return
		}
		_ = out.SetWriteDeadline(time.Now().Add(patience))
		if _, err := fmt.Fprintf(w, "retry: 500\nid: %d\ndata: %s\n\n", version, data); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-change:
			time.Sleep(gather)
			if len(cells) > many {
				time.Sleep(2 * gather)
			}
		case <-sideChange:
		case <-life.C:
		case <-r.Context().Done():
			return
		}
	}
}
