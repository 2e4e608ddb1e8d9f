package lisp

import (
	"maps"
	"time"
)

// OnDisk is a checkpoint on the disk.
type OnDisk struct {
	Name    string
	Time    time.Time
	Summary string // "57 definitions, 3 systems"
	Size    int64  // bytes
	Saving  bool   // it is being written: only Name and Time, when that began, are known
	Foreign bool   // it is not known that this user has saved it, and it is not gone on from: only Name is believed

	Later []string // the first of the session's variables whose values it has and the session's source has not
	From  bool     // the image goes on from it
}

// CheckpointsOnDisk returns those in the directory of the session, newest first.
func (s *Session) CheckpointsOnDisk() (list []OnDisk) {
	d := &s.im.disk
	if d.cores == nil {
		return nil
	}
	d.mu.Lock()
	saving := maps.Clone(d.saving)
	d.mu.Unlock()
	for name, this := range saving {
		list = append(list, OnDisk{Name: name, Time: this.since, Saving: true})
	}
	from := d.goneOnFrom()
	for _, c := range d.cores.List() {
		if saving[c.Name] != nil { // its file is there a moment before that is done
			continue
		}
		foreign := c.Foreign() != nil
		one := OnDisk{Name: c.Name, Time: c.Time, Summary: c.Summary, Size: c.Size, Foreign: foreign}
		if !foreign {
			one.Later, one.From = c.Later[s.name], from != nil && from.Name == c.Name
		}
		list = append(list, one)
	}
	return list
}
