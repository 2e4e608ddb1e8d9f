package journal

import (
	"cmp"
	"maps"
	"slices"
)

// Clone returns a journal that is as j is now, and stays so.
func (j *Journal) Clone() *Journal {
	c := *j
	copies := map[*Entry]*Entry{nil: nil}
	copied := func(e *Entry) *Entry {
		known, ok := copies[e]
		if !ok {
			entry := *e
			entry.Keys, entry.without = slices.Clone(e.Keys), slices.Clone(e.without)
			known = &entry
			copies[e] = known
		}
		return known
	}
	c.places, c.at = make([]*Entry, len(j.places)), nil
	for i, e := range j.places {
		c.places[i] = copied(e)
	}
	c.byKey = maps.Clone(j.byKey)
	for k, e := range c.byKey {
		c.byKey[k] = copied(e)
	}
	c.losses = slices.Clone(j.losses)
	return &c
}

// Newer reports whether j has entries that earlier, a clone of what it was, has not.
func (j *Journal) Newer(earlier *Journal) bool {
	return slices.ContainsFunc(j.places, func(e *Entry) bool { return e != nil && e.number > earlier.added })
}

// Since returns a journal of the entries that j has and that earlier, a clone of what it
// was, has not: what to evaluate in an image as it was then. They are j's own entries.
func (j *Journal) Since(earlier *Journal) *Journal {
	var newer []*Entry
	for _, e := range j.placed() {
		if e.number > earlier.added && !slices.Contains(newer, e) {
			newer = append(newer, e)
		}
	}
	slices.SortFunc(newer, func(a, b *Entry) int { return cmp.Compare(a.number, b.number) })
	numbers := make([]int64, len(newer))
	for i, e := range newer {
		numbers[i] = e.number
	}
	since := &Journal{Package: j.Package}
	since.append(newer)
	for i, e := range newer {
		e.number = numbers[i] // j is asked again, if that costs the image
	}
	return since
}

// Append adds the entries of later, which j gets: they were evaluated again in an image
// that had what j has.
func (j *Journal) Append(later *Journal) {
	var newest int64
	for _, e := range j.byKey {
		newest = max(newest, e.Order)
	}
	for _, e := range later.byKey {
		e.Order = newest
	}
	j.append(later.All())
	j.Package = later.Package
}

func (j *Journal) append(entries []*Entry) {
	for _, e := range entries {
		j.Add(e)
	}
}
