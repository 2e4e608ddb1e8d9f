package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"swank-mcp/swank/lisp"
)

// Kinds of entries, beside those of events of package lisp.
const (
	KindServer  = "server"   // begins a file: which server it is of
	KindPerson  = "person"   // somebody has done something from outside: Text says what
	KindLeftOut = "left out" // Count entries are missing here; Text says why
)

// An Entry is one line of a transcript. What is empty is left out of the JSON. Texts have
// bounds: see Cut.
type Entry struct {
	N       int64     `json:"n,omitempty"`       // counted from 1 for the server; not of one that a reader or a file alone has
	Time    time.Time `json:"time"`              // UTC
	Kind    string    `json:"kind"`              // of an event of package lisp, or a Kind of this package
	Session string    `json:"session,omitempty"` // "" is the image, or the server
	Client  string    `json:"client,omitempty"`  // name and version
	Tool    string    `json:"tool,omitempty"`    // by which the client asked for it
	Job     int64     `json:"job,omitempty"`     // number of the piece of work, the same in all its entries

	Title   string  `json:"title,omitempty"`   // of work: its beginning, one line
	Package string  `json:"package,omitempty"` // that the code is read in
	Code    string  `json:"code,omitempty"`
	Ms      float64 `json:"ms,omitempty"`     // milliseconds since it has its turn; of a checkpoint, for which the image did not answer
	Output  string  `json:"output,omitempty"` // of "output": printed since the one before

	Values     []string  `json:"values,omitempty"`
	Stdout     string    `json:"stdout,omitempty"`
	Stderr     string    `json:"stderr,omitempty"`
	Background string    `json:"background,omitempty"` // what the image's process wrote to its own stdout and stderr
	Warnings   []Warning `json:"warnings,omitempty"`
	Notes      []string  `json:"notes,omitempty"`
	Failure    *Failure  `json:"failure,omitempty"`
	Evaluation int       `json:"evaluation,omitempty"` // of "suspended": its number for the debugger; of "left": N of job-N
	Restarts   []Restart `json:"restarts,omitempty"`   // of "suspended": the ways on, by their numbers
	Error      string    `json:"error,omitempty"`      // why there is no result
	Bytes      int64     `json:"bytes,omitempty"`      // that were allocated
	GCMs       float64   `json:"gc_ms,omitempty"`      // of that time for collecting garbage

	Redefined []Redefinition `json:"redefined,omitempty"` // definitions that were replaced
	Entry     int64          `json:"entry,omitempty"`     // in the image's history, of one with Redefined; of "person" the one that they have put back
	Token     int64          `json:"token,omitempty"`     // tells it from another Entry of that number, after a restore

	Profile *Profile `json:"profile,omitempty"`

	Cut map[string]int64 `json:"cut,omitempty"` // how many characters are left out in the middle of a text, by its field; of values and warnings, how many of them

	PID      int     `json:"pid,omitempty"`      // of the image's process; of "server", the server's
	Question int     `json:"question,omitempty"` // of "asked" and "answered": its number
	Seconds  float64 `json:"seconds,omitempty"`  // of "asked": for how long the call waits for an answer
	Text     string  `json:"text,omitempty"`
	Count    int64   `json:"count,omitempty"`
	Project  string  `json:"project,omitempty"` // of "server"
	Version  string  `json:"version,omitempty"` // of "server"
}

// Warning is a warning of the compiler or of the code.
type Warning struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	File    string `json:"file,omitempty"` // "" is the code
	Line    int    `json:"line,omitempty"`
}

// Restart is a way on from an error.
type Restart struct {
	Name   string `json:"name,omitempty"`
	Text   string `json:"text"`             // what it does
	Values bool   `json:"values,omitempty"` // it wants values
}

// Redefinition is a definition that was replaced.
type Redefinition struct {
	What   string `json:"what"`
	Before string `json:"before,omitempty"` // its source, if it is known and not too long
	After  string `json:"after,omitempty"`  // that of the new one
}

// Profile is the tree of the stacks that a profiler has sampled.
type Profile struct {
	Mode string  `json:"mode"` // "cpu", "time" or "alloc"
	Root Sampled `json:"root"` // "all"
}

// Sampled is a function on those stacks, with what it has called there.
type Sampled struct {
	Function string    `json:"function"`
	Kind     int64     `json:"kind"`            // 0 is of the project, 1 of another program, 2 the Lisp's, 3 of its inside
	Samples  int64     `json:"samples"`         // with what it has called
	Calls    []Sampled `json:"calls,omitempty"` // those sampled most first; without what is too narrow to be seen
}

func sampled(n *lisp.ProfileNode) Sampled {
	s := Sampled{Function: n.Function, Kind: int64(n.Kind), Samples: n.Samples}
	for _, a := range n.Above {
		s.Calls = append(s.Calls, sampled(a))
	}
	return s
}

// Failure says why code has no values.
type Failure struct {
	Kind    string   `json:"kind"` // ERROR, TIMEOUT, …, as in replies
	Type    string   `json:"type,omitempty"`
	Message string   `json:"message,omitempty"`
	Frames  []string `json:"frames,omitempty"`
	More    int      `json:"more,omitempty"` // further frames
}

// of is the entry that notes ev.
func of(ev lisp.Event) Entry {
	e := Entry{
		Time: ev.Time.UTC(), Kind: string(ev.Kind), Session: ev.Session, Client: strings.TrimSpace(ev.Client + " " + ev.Version), Tool: ev.Tool, Job: ev.Job,
		Ms: ms(ev.Elapsed), Output: ev.Output, PID: ev.PID, Package: ev.Package, Evaluation: ev.Number,
	}
	if ev.Job == 0 {
		e.Text = ev.Text
		e.Question, e.Evaluation, e.Seconds = ev.Number, 0, ev.Limit.Seconds()
	} else {
		e.Title = ev.Text
	}
	e.Code = e.text("code", ev.Source)
	if ev.Err != nil {
		e.Error = ev.Err.Error()
	}
	if ev.Result != nil {
		e.result(ev.Result)
	}
	return e
}

func (e *Entry) result(r *lisp.Result) {
	e.Stdout, e.Stderr, e.Background = e.text("stdout", r.Stdout), e.text("stderr", r.Stderr), e.text("background", r.Background)
	for _, v := range r.Values {
		e.Values = append(e.Values, e.text("value", v))
	}
	for _, w := range r.Warnings {
		e.Warnings = append(e.Warnings, Warning{Type: w.Type, Message: w.Message, File: w.File, Line: w.Line})
	}
	e.Notes, e.Bytes, e.GCMs = r.Notes, r.Timing.Bytes, ms(r.Timing.GC)
	if f := r.Failure; f != nil {
		e.Failure = &Failure{Kind: f.Kind.String(), Type: f.Type, Message: f.Message, Frames: f.Frames, More: f.More}
	}
	if d := r.Redefined; d != nil {
		e.Entry, e.Token = d.Entry, d.Token
		for _, one := range d.Definitions {
			e.Redefined = append(e.Redefined, Redefinition{one.What, one.Before, one.After})
		}
	}
	if p := r.Profile; p != nil {
		e.Profile = &Profile{strings.ToLower(p.Mode), sampled(p.Root)}
	}
	if r.Suspended != nil {
		e.Evaluation = r.Suspended.Number
		for _, one := range r.Suspended.Restarts {
			e.Restarts = append(e.Restarts, Restart{one.Name, one.Text, one.Values})
		}
	} else if r.Evaluation != 0 {
		e.Evaluation = r.Evaluation
	}
}

// text is t as one text, which says where its middle is missing.
func (e *Entry) text(field string, t lisp.Text) string {
	if t.Omitted == 0 {
		return t.Head + t.Tail
	}
	if e.Cut == nil {
		e.Cut = map[string]int64{}
	}
	e.Cut[field] += t.Omitted
	return t.Head + "…" + t.Tail
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// JSON is the entry as a line, without its end.
func (e *Entry) JSON() []byte { return new(writer).line(e) }

// writer writes entries as lines. It has a buffer, so that a line takes no more than itself.
type writer struct {
	b   bytes.Buffer
	enc *json.Encoder
}

func (w *writer) line(e *Entry) []byte {
	if w.enc == nil {
		w.enc = json.NewEncoder(&w.b)
		w.enc.SetEscapeHTML(false)
	}
	w.b.Reset()
	if err := w.enc.Encode(e); err != nil { // not of an Entry: each field can be written
		return []byte("{}")
	}
	line := bytes.Clone(w.b.Bytes()[:w.b.Len()-1])
	if w.b.Cap() > maxBuffer {
		w.b = bytes.Buffer{}
	}
	return line
}

// maxBuffer is how large a buffer is kept.
const maxBuffer = 64 << 10

// leftOut says that so many entries are missing.
func leftOut(count int64, why string) Entry {
	return Entry{Time: time.Now().UTC(), Kind: KindLeftOut, Count: count, Text: why}
}

// Missing is the line that tells a reader that so many entries are missing at its place:
// they are not in memory any more.
func Missing(count int64) []byte {
	e := leftOut(count, "they are not in memory any more; the files of the transcript have more")
	return e.JSON()
}
