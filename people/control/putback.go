package control

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"swank-mcp/people/transcript"
)

// PutBack tells what was put back of what an evaluation had redefined.
type PutBack struct {
	Definitions []string `json:"definitions"`    // that are as before: "function AREA"
	Left        []string `json:"left,omitempty"` // what is not put back, and why, each a sentence
}

func (s *Server) putBack(w http.ResponseWriter, r *http.Request) {
	entry, bad1 := strconv.ParseInt(r.URL.Query().Get("entry"), 10, 64)
	token, bad2 := strconv.ParseInt(r.URL.Query().Get("token"), 10, 64)
	if bad1 != nil || bad2 != nil {
		fail(w, errors.New("name an entry and its token, as the transcript has them of what redefines something, for example /put-back?entry=5&token=17"))
		return
	}
	text, err := s.o.Image.PutBack(r.Context(), entry, token)
	if err != nil {
		fail(w, err)
		return
	}
	a := PutBack{Definitions: []string{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimPrefix(line, "; "), "\n")
		if done, ok := strings.CutPrefix(line, "Put back: "); ok {
			a.Definitions = append(a.Definitions, done)
		} else if line != "" {
			a.Left = append(a.Left, line)
		}
	}
	if len(a.Definitions) > 0 {
		s.o.Transcript.Add(transcript.Entry{Kind: transcript.KindPerson, Entry: entry, Token: token, Text: "put back " + strings.Join(a.Definitions, ", ")})
	}
	answer(w, a)
}

// PutBack puts back what an evaluation has redefined: Entry and Token of its entry in the
// transcript name it.
func (c *Client) PutBack(ctx context.Context, entry, token int64) (*PutBack, error) {
	a := new(PutBack)
	q := url.Values{"entry": {strconv.FormatInt(entry, 10)}, "token": {strconv.FormatInt(token, 10)}}
	return a, c.act(ctx, "put-back?"+q.Encode(), a)
}
