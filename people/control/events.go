package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"swank-mcp/people/transcript"
)

// signOfLife is how often one who follows the transcript hears of the server at least.
const signOfLife = 15 * time.Second

// events sends the transcript as it grows, until its end or that of the connection.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	reader, err := s.reader(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer s.o.Transcript.Watched()()
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	if out.Flush() != nil { // so that the reader knows that it is connected
		return
	}
	for {
		ctx, cancel := context.WithTimeout(r.Context(), signOfLife)
		lines, missed, err := reader.Next(ctx)
		cancel()
		if err != nil && (r.Context().Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
			return
		}
		_ = out.SetWriteDeadline(time.Now().Add(writeTimeout))
		if send(w, lines, missed) != nil || out.Flush() != nil {
			return
		}
	}
}

func send(w io.Writer, lines []transcript.Line, missed int64) (err error) {
	if missed > 0 {
		_, err = fmt.Fprintf(w, "data: %s\n\n", transcript.Missing(missed))
	} else if len(lines) == 0 {
		_, err = io.WriteString(w, ":\n\n")
	}
	for _, l := range lines {
		if err == nil {
			_, err = fmt.Fprintf(w, "id: %d\ndata: %s\n\n", l.N, l.Text)
		}
	}
	return err
}

// reader is at the place in the transcript that r asks for.
func (s *Server) reader(r *http.Request) (*transcript.Reader, error) {
	q := r.URL.Query()
	if last := q.Get("last"); last != "" {
		n, err := strconv.Atoi(last)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("last=%s is not how many entries; for example /events?last=20", last)
		}
		return s.o.Transcript.Last(n), nil
	}
	after := cmp.Or(q.Get("after"), r.Header.Get("Last-Event-ID"))
	if after == "" {
		return s.o.Transcript.Last(0), nil
	}
	n, err := strconv.ParseInt(after, 10, 64)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("after=%s is not the number of an entry; for example /events?after=17", after)
	}
	return s.o.Transcript.After(n), nil
}
