package journal

import (
	"encoding/json"
	"time"
)

// wireJournal is a journal in a file that only we read.
type wireJournal struct {
	Package string      `json:"package,omitempty"`
	Entries []wireEntry `json:"entries,omitempty"`
	Places  []int       `json:"places,omitempty"` // which entry is at each
	Losses  []Loss      `json:"losses,omitempty"`
	Unnamed int         `json:"unnamed,omitempty"`
	Dropped int         `json:"dropped,omitempty"`
	Added   int64       `json:"added,omitempty"`
}

type wireEntry struct {
	Keys    []string      `json:"keys"`
	Text    string        `json:"text"`
	Package string        `json:"package"`
	Runs    bool          `json:"runs,omitempty"`
	Took    time.Duration `json:"took,omitempty"`
	Bad     string        `json:"bad,omitempty"`
	Own     bool          `json:"own,omitempty"`
	Order   int64         `json:"order,omitempty"`
	Number  int64         `json:"number"`
	Files   []string      `json:"files,omitempty"`
	Without []string      `json:"without,omitempty"`
}

// MarshalJSON writes the whole journal, for UnmarshalJSON.
func (j *Journal) MarshalJSON() ([]byte, error) {
	w := wireJournal{Package: j.Package, Losses: j.losses, Unnamed: j.unnamed, Dropped: j.dropped, Added: j.added}
	index := map[*Entry]int{}
	for _, e := range j.placed() {
		i, known := index[e]
		if !known {
			i = len(w.Entries)
			index[e] = i
			w.Entries = append(w.Entries, wireEntry{e.Keys, e.Text, e.Package, e.Runs, e.Took, e.Bad, e.Own, e.Order, e.number, e.files, e.without})
		}
		w.Places = append(w.Places, i)
	}
	return json.Marshal(w)
}

// UnmarshalJSON makes j the journal that was written.
func (j *Journal) UnmarshalJSON(text []byte) error {
	var w wireJournal
	if err := json.Unmarshal(text, &w); err != nil {
		return err
	}
	*j = Journal{Package: w.Package, losses: w.Losses, unnamed: w.Unnamed, dropped: w.Dropped, added: w.Added, byKey: map[string]*Entry{}, live: len(w.Entries)}
	entries := make([]*Entry, len(w.Entries))
	for i, e := range w.Entries {
		entries[i] = &Entry{e.Keys, e.Text, e.Package, e.Runs, e.Took, e.Bad, e.Own, e.Order, e.Number, e.Files, e.Without}
		j.bytes += len(e.Text)
		for _, k := range e.Keys {
			j.byKey[k] = entries[i]
		}
	}
	places := make([]int, len(entries))
	for _, i := range w.Places {
		if i < 0 || i >= len(entries) {
			continue
		}
		if places[i]++; places[i] <= 2 {
			j.places = append(j.places, entries[i])
		}
	}
	return nil
}

// Counts returns how many definitions there are, and systems.
func (j *Journal) Counts() (definitions, systems int) {
	return j.definitions(nil), len(j.names(":SYSTEM"))
}
