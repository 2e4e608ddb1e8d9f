package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"swank-mcp/swank/lisp/launch"
)

// policy is what one image may do. All paths are absolute and there.
type policy struct {
	Own    string   // its directory, writable
	Writes []string // directories
	Reads  []string // files and directories
	Ports  []int
	Temp   string // directory for temporary files, writable
	Cache  string // the directory for what it compiles, writable

	NewRoot bool     // there is nothing but these paths, and a directory /tmp in memory
	Links   []link   // on the way to Writes, and to what lies in these and was named otherwise
	Groups  []string // the directories of its control group

	Limits limits
}

// limits are what one process, or all together, can use up.
type limits struct {
	Memory    uint64 // bytes of address space of each process
	Together  uint64 // bytes of memory of all together, with the files in memory
	File      uint64 // bytes of each file that it writes
	Open      uint64 // descriptors of each process
	Processes uint64 // with their threads, all together; 0: not limited by this
	Temp      uint64 // bytes of all in /tmp of a new root
}

const (
	mib = 1 << 20
	// beside is what the address space of an image has beside its heap: code, foreign
	// memory, and the stacks of its threads.
	beside = 4096 * mib
	// processes is how many threads and processes the image and all that comes of it have
	// at most.
	processes = 512
)

// policy is what an image that needs c may do, on a system that can do so much.
func (s *Sandbox) policy(c launch.Confined, can able) (*policy, error) {
	p := &policy{Own: c.Own, Ports: s.options.Ports, Temp: filepath.Join(c.Own, "tmp")}
	named := existing(s.writes())
	p.Writes = outermost(named)
	dirs := stats(p.Writes...)
	for _, path := range named {
		p.Links = append(p.Links, linksTo(path, dirs)...)
	}
	if err := s.Check(p.Writes); err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(slices.Concat(homeReads(p.Writes), registryReads(p.Writes)), func(path string) bool { return s.closedIn(path) != nil })
	if p.NewRoot = can.newRoot(); p.NewRoot {
		p.Temp = "/tmp"
	}
	p.Cache = cacheOf(c, p.Writes)
	p.Reads = existing(slices.Concat(systemReads, found, c.Reads, s.options.Reads))
	p.Reads = slices.DeleteFunc(p.Reads, func(path string) bool { return slices.Contains(p.Writes, path) || leadsThrough(path, dirs) })
	s.note(p.Reads)
	p.Limits = limits{
		Memory:    uint64(c.HeapMB)*mib + beside,
		Together:  s.options.memoryMB(c.HeapMB) * mib,
		File:      uint64(c.HeapMB)*mib + 1024*mib,
		Open:      4096,
		Processes: processes,
		Temp:      1024 * mib,
	}
	if most := uint64(s.options.FileMB) * mib; most > 0 {
		p.Limits.File = min(p.Limits.File, most)
	}
	// Files in memory count, too: they are to be full before there is none left for the image.
	if rest := (p.Limits.Together - uint64(c.HeapMB)*mib) / 2; can.limitsMemory() {
		p.Limits.Temp = max(16*mib, min(p.Limits.Temp, rest))
	}
	return p, nil
}

// note keeps what an image may read beside what it may write.
func (s *Sandbox) note(reads []string) []string {
	for _, path := range slices.Clone(reads) {
		reads = append(reads, real(path))
	}
	s.reads.Store(&reads)
	return reads
}

// MayRead reports whether an image of the sandbox may read what is at path, which is absolute, beside
// what it may write.
func (s *Sandbox) MayRead(path string) bool {
	var reads []string
	if noted := s.reads.Load(); noted != nil {
		reads = *noted
	} else if p, err := s.policy(launch.Confined{}, able{}); err == nil {
		reads = s.note(p.Reads)
	}
	return slices.ContainsFunc(reads, func(dir string) bool { return within(path, dir) })
}

// writable are all the directories that the image may write.
func (p *policy) writable() []string { return append([]string{p.Own, p.Cache}, p.Writes...) }

// existing returns the absolute paths that are there, sorted, each once.
func existing(paths []string) []string {
	var there []string
	for _, path := range paths {
		if path = filepath.Clean(path); filepath.IsAbs(path) {
			if _, err := os.Stat(path); err == nil {
				there = append(there, path)
			}
		}
	}
	slices.Sort(there)
	return slices.Compact(there)
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// Check says why no image may write in one of dirs, absolute, beside its own directories, or read what
// [Options] say.
func (s *Sandbox) Check(dirs []string) error {
	for _, path := range s.options.Reads {
		if leadsThrough(path, stats(dirs...)) {
			continue // it is read as what it is in
		}
		if secret := s.secretIn(path); secret != "" {
			return fmt.Errorf("--sandbox-read %s would show %s: name a directory without it", path, secret)
		}
		if a := s.closedIn(path); a != nil {
			return fmt.Errorf("--sandbox-read %s would show %s (%s), of which no image is to read, nor to connect to what serves there: name by --sandbox-read what is beside that, such as one directory of it", path, a.What, a)
		}
	}
	for _, dir := range dirs {
		if secret := s.secretIn(dir); secret != "" {
			return fmt.Errorf("%s would be the session's to read and write, and %s with it: name directories without that by --project and --session-dir", dir, secret)
		}
		if dir == s.options.Session {
			continue
		}
		for _, a := range s.options.Apart {
			switch {
			case a.liesIn(dir):
				return fmt.Errorf("%s would be the session's to write, and %s with it, which the server and others of yours believe (%s): start it in a project's own directory, or name that by --project, and --session-dir one apart from both", dir, a.What, a)
			case a.holds(dir):
				return fmt.Errorf("%s would be the session's to write, and lies among %s, which the server and others of yours believe (%s): start it in a project's own directory elsewhere, or name that by --project, and --session-dir one apart from both", dir, a.What, a)
			}
		}
	}
	return nil
}

// closedIn returns what no image may read and lies in path, or holds it, or nil.
func (s *Sandbox) closedIn(path string) *Apart {
	for _, a := range s.options.Apart {
		if !a.Readable && (a.liesIn(path) || a.holds(path)) {
			return &a
		}
	}
	return nil
}

func (a Apart) String() string {
	if a.Prefix {
		return a.Path + "…"
	}
	return a.Path
}

// liesIn reports whether a is dir or in it.
func (a Apart) liesIn(dir string) bool { return within(real(a.Path), real(dir)) }

// holds reports whether dir is in a.
func (a Apart) holds(dir string) bool {
	if a.Prefix {
		return strings.HasPrefix(real(dir), real(a.Path))
	}
	return within(real(dir), real(a.Path))
}

// secretIn returns a secret that lies in path, be it the user's or one of [Options], or "".
func (s *Sandbox) secretIn(path string) string {
	for _, secret := range s.options.Secret {
		if within(real(secret), real(path)) {
			return secret
		}
	}
	return secretIn(path)
}

// real is path without links, as far as it is there.
func real(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir := filepath.Dir(path); dir != path {
		return filepath.Join(real(dir), filepath.Base(path))
	}
	return path
}

// secretIn returns a secret of the user's that lies in path, or in which path lies, or "".
func secretIn(path string) string {
	path = real(path)
	home, err := os.UserHomeDir()
	if err == nil {
		home = real(home)
	}
	if home != "" && within(home, path) {
		return cmp.Or(firstThere(home), "your home directory "+home)
	}
	for _, secret := range secrets(home) {
		if within(path, secret) || within(secret, path) {
			return secret
		}
	}
	return ""
}

// firstThere is the first secret that is in home.
func firstThere(home string) string {
	for _, secret := range secrets(home) {
		if _, err := os.Lstat(secret); err == nil && within(secret, home) {
			return secret
		}
	}
	return ""
}

func hash(texts []string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n")))
	return hex.EncodeToString(sum[:8])
}
