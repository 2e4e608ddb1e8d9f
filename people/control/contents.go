package control

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"swank-mcp/swank/lisp"
)

// Contents are what a session has made, and the copies of the image, as GET /contents answers
// it in JSON.
type Contents struct {
	Session     string       `json:"session"`
	Sections    []Section    `json:"sections,omitempty"`    // what it has defined, by kind
	Packages    []Package    `json:"packages,omitempty"`    // that are not of the implementation
	Checkpoints []Checkpoint `json:"checkpoints,omitempty"` // oldest first
	Obstacle    string       `json:"obstacle,omitempty"`    // why there is no newer checkpoint
}

// Section is one kind of definitions: "functions", "variables", …; a line for each.
type Section struct {
	Name  string   `json:"name"`
	Lines []string `json:"lines"`
}

// Package is a package of the image.
type Package struct {
	Name     string `json:"name"`
	Exported int    `json:"exported"`          // how many symbols
	Current  bool   `json:"current,omitempty"` // the session's
	Own      bool   `json:"own,omitempty"`     // made by the session
}

// Checkpoint is a copy of the image as it was at one moment.
type Checkpoint struct {
	Number int       `json:"number"`
	Name   string    `json:"name,omitempty"` // that somebody has given it
	Taken  time.Time `json:"taken"`
	After  string    `json:"after,omitempty"`  // the beginning of what was evaluated before it
	Since  int       `json:"since"`            // steps since then
	Undone bool      `json:"undone,omitempty"` // it is of what was undone since
}

func (s *Server) contents(w http.ResponseWriter, r *http.Request) {
	name, err := s.sessionFor(r.URL.Query().Get("session"))
	if err != nil {
		fail(w, err)
		return
	}
	session, c := s.o.Image.Session(name), Contents{Session: name}
	sections, err := session.Definitions(r.Context(), "")
	var packages []lisp.Package
	if err == nil && len(sections) > 0 { // an image runs
		packages, err = session.Packages(r.Context())
	}
	if err != nil {
		fail(w, err)
		return
	}
	for _, one := range sections {
		c.Sections = append(c.Sections, Section{Name: one.Name, Lines: one.Lines})
	}
	for _, p := range packages {
		if !p.Implementation || p.Current {
			c.Packages = append(c.Packages, Package{Name: p.Name, Exported: p.Externals, Current: p.Current, Own: p.Own})
		}
	}
	list, obstacle := session.Checkpoints()
	for _, k := range list {
		c.Checkpoints = append(c.Checkpoints, Checkpoint{Number: k.Number, Name: k.Name, Taken: k.Taken, After: k.After, Since: len(k.Since), Undone: k.Undone})
	}
	if obstacle != nil {
		c.Obstacle = obstacle.Error()
	}
	answer(w, c)
}

// Contents asks for what that session, or the only one, has made.
func (c *Client) Contents(ctx context.Context, session string) (*Contents, error) {
	ctx, cancel := context.WithTimeout(ctx, StatusPatience)
	defer cancel()
	a := new(Contents)
	return a, c.do(ctx, http.MethodGet, "/contents?session="+url.QueryEscape(session), a)
}

// Restore takes the image back, or forward, to the checkpoint of that number or name.
func (c *Client) Restore(ctx context.Context, session, checkpoint string) (*Undone, error) {
	a := new(Undone)
	return a, c.act(ctx, "undo?session="+url.QueryEscape(session)+"&to="+url.QueryEscape(checkpoint), a)
}
