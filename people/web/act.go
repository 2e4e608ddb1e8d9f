package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// said keeps what came of what a person did, until the page shows it: for browsers without
// a script, which are sent back to the page.
type said struct {
	mu    sync.Mutex
	next  int
	texts map[string]string
}

func (k *said) put(text string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.texts) > 20 || k.texts == nil {
		k.texts = map[string]string{}
	}
	k.next++
	id := strconv.Itoa(k.next)
	k.texts[id] = text
	return id
}

func (k *said) take(id string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	text := k.texts[id]
	delete(k.texts, id)
	return text
}

// act is the handler of what a person does. What comes of it is told as a sentence: to the
// script as JSON, else on the page.
func (s *Server) act(do func(*http.Request) (string, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxCode)
		text, err := do(r)
		if err != nil {
			text = "Not done: " + line(err.Error())
		}
		s.side.stale()
		if strings.Contains(r.Header.Get("Accept"), "application/json") {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"said": text, "done": err == nil}) // whoever has asked has gone
			return
		}
		http.Redirect(w, r, "./?said="+s.said.put(text)+"#newest", http.StatusSeeOther)
	}
}

// maxCode is how many bytes a person may send.
const maxCode = 1 << 20

func (s *Server) stop(r *http.Request) (string, error) {
	a, err := s.server().Stop(r.Context())
	if err != nil {
		return "", err
	}
	if len(a.Stopped) == 0 {
		return "Nothing runs.", nil
	}
	var codes []string
	for _, one := range a.Stopped {
		codes = append(codes, line(one.Code))
	}
	return "Stopped: " + strings.Join(codes, "; "), nil
}

func (s *Server) pause(r *http.Request) (string, error) { return s.setPaused(r.Context(), true) }

func (s *Server) resume(r *http.Request) (string, error) { return s.setPaused(r.Context(), false) }

func (s *Server) setPaused(ctx context.Context, on bool) (string, error) {
	a, err := s.server().Pause(ctx, on)
	if err != nil {
		return "", err
	}
	if a.Paused {
		return "Paused: calls that would evaluate wait. What runs goes on.", nil
	}
	return "Calls go on.", nil
}

// restore takes the image back to a checkpoint. The agent's next reply says so.
func (s *Server) restore(r *http.Request) (string, error) {
	a, err := s.server().Restore(r.Context(), r.PostFormValue("session"), r.PostFormValue("to"))
	if err != nil {
		return "", err
	}
	text := "The image is as it was at " + a.Time.Local().Format(time.TimeOnly) + "."
	if len(a.Undone) > 0 {
		what := " Undone: "
		if a.Forward {
			what = " Done again: "
		}
		text += what + line(strings.Join(a.Undone, "; "))
	}
	return text, nil
}
