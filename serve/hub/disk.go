package hub

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

// fullRetry delays the retry of a client whose session has too many files. Somebody has to delete some
// meanwhile.
const fullRetry = time.Minute

// diskEntries is how many files and directories are counted at most: some 200 ms of work.
const diskEntries = 100_000

// A diskUse is what directories have on the disk.
type diskUse struct {
	bytes   int64
	entries int
	whole   bool   // else there is more
	closed  string // a directory or a file that this server may not look at, or ""
}

// block is what each file and directory takes of a disk at least, and of what its size is a
// multiple there.
const block = 4096

// diskOf counts what is in directories of which none lies in another. What changes meanwhile
// may be counted or not.
func diskOf(dirs []string) diskUse {
	use := diskUse{whole: true}
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				use.missed(path, err)
				return nil
			}
			if use.entries++; use.entries > diskEntries {
				use.whole = false
				return fs.SkipAll
			}
			size := int64(block)
			info, err := d.Info()
			switch {
			case err != nil:
				use.missed(path, err)
			case info.Mode().IsRegular():
				size = max(block, (info.Size()+block-1)/block*block)
			}
			use.bytes += size
			return nil
		})
	}
	return use
}

// missed notes that something could not be looked at. It may have gone. But a directory that the
// image has closed to everybody, it can open again, and what is in it is there.
func (u *diskUse) missed(path string, err error) {
	if errors.Is(err, fs.ErrPermission) {
		u.closed, u.whole = cmp.Or(u.closed, path), false
	}
}

// Times of looking at the disk of a session: at most so often, and for at most such a part of
// the time.
const (
	callDisk = 200 * time.Millisecond // before an evaluation
	workDisk = time.Second            // while somebody uses it
	idleDisk = 30 * time.Second       // and else
	diskPart = 20
)

// watchDisk looks at the disk of s, if it is time for that.
func (s *Session) watchDisk() {
	idle := s.idle()
	every := idleDisk
	if idle < idleDisk || s.Work().Image.InUse() {
		every = workDisk
	}
	s.costly.Lock()
	defer s.costly.Unlock()
	capped := s.capped
	if s.lookAtDisk(every, diskPart) && s.capped && !capped && idle == 0 {
		s.tellOfDisk() // the call that runs meets that
	}
}

// lookAtDisk has the image of s write no files while its directories have more than the
// limit, and reports whether it was time to look. s.costly is held.
func (s *Session) lookAtDisk(every, part time.Duration) bool {
	if time.Since(s.diskAt) < max(every, part*s.diskTook) {
		return false
	}
	w := s.Work()
	measure := func() {
		began := time.Now()
		s.disk = diskOf(w.dirs(w.Image.Uses(false).Disk))
		s.diskAt, s.diskTook = time.Now(), time.Since(began)
	}
	measure()
	over, most := s.disk.bytes > s.hub.o.Disk || !s.disk.whole, s.hub.o.Disk
	if over || s.capped {
		if err := w.Image.WriteNothing(over); err != nil {
			s.log.Warn("the files of an image cannot be limited", "err", err)
			if !over { // another one is started without the limit
				w.Image.GiveUp("it could not be allowed to write files again")
			}
		}
	}
	if over && !s.capped {
		s.log.Warn("the limit of the disk is reached", "bytes", s.disk.bytes, "limit", most)
		measure() // what was written meanwhile was no fault
		s.allowed = s.disk.bytes + most/2
	}
	s.capped = over
	grew := s.grows
	if s.grows = over && s.disk.bytes > s.allowed; s.grows && !grew {
		s.log.Warn("files are made in spite of the limit of the disk", "bytes", s.disk.bytes)
		w.Image.GiveUp("it made files in spite of the limit of the disk")
	}
	return true
}

// tellOfDisk has the next reply tell that s has too much.
func (s *Session) tellOfDisk() {
	until := "some are deleted, as by delete-file"
	if s.disk.closed != "" {
		until = "then"
	}
	s.Work().Bridge.Tell("; " + s.diskText() + " Code can make no file longer until " + until + ". That is seen at the next call.")
}

// diskText says what s has too much.
func (s *Session) diskText() string {
	switch {
	case s.disk.closed != "":
		return fmt.Sprintf("What this session has on the server's disk cannot be counted, because the server may not look at %s: open it to its owner, as by chmod u+rwx.", s.disk.closed)
	case !s.disk.whole:
		return fmt.Sprintf("This session has more than %d files on the server's disk, which are too many to count.", diskEntries)
	}
	return fmt.Sprintf("This session has %d MB of files on the server's disk, and its limit is %d.", s.disk.bytes>>20, s.hub.o.Disk>>20)
}

// mayWrite says by a *LimitError that s makes files in spite of the limit, as empty ones.
func (s *Session) mayWrite() error {
	if s.hub.o.Disk == 0 {
		return nil
	}
	s.costly.Lock()
	defer s.costly.Unlock()
	if s.capped {
		// Some may have been deleted just now. The lock is held, so no more than half of the
		// time is spent with this.
		time.Sleep(min(s.diskTook, callDisk))
		s.lookAtDisk(0, 0)
	} else {
		s.lookAtDisk(callDisk, diskPart)
	}
	switch {
	case s.grows:
		s.hub.mu.Lock()
		s.hub.counts.Refused++
		s.hub.mu.Unlock()
		return &LimitError{Own: true, After: fullRetry, Text: s.diskText() + " It has made more in spite of that.",
			Next: ", after whoever runs the server has deleted some, in " + s.Work().Dir}
	case s.capped:
		s.tellOfDisk()
	}
	return nil
}
