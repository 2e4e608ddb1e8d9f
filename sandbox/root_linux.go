package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A newRoot is a file system in the making, in which there is nothing but what is put into
// it, each at its own path.
type newRoot struct{ dir string }

// enterRoot makes the file system of p and goes into it, to the same working directory.
func enterRoot(p *policy) error {
	work, err := os.Getwd()
	if err != nil {
		work = "/"
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return explain("making mounts private", err)
	}
	r := newRoot{filepath.Join(p.Own, "root")}
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		return err
	}
	if err := mountMemory(r.dir, "mode=755,size=16m"); err != nil {
		return err
	}
	if err := r.fill(p); err != nil {
		return err
	}
	if work, err = r.way(work); err != nil {
		work = "/" // it is nobody's who looks
	}
	if err := r.makeDir(work); err != nil {
		return err
	}
	if err := r.enter(); err != nil {
		return err
	}
	_ = os.Remove(r.dir) // the directory below it
	return os.Chdir(work)
}

// mountMemory mounts an empty file system in memory.
func mountMemory(dir, options string) error {
	return explain("mounting a tmpfs", unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options))
}

// devices are what programs need of /dev.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// fill puts in what p allows: what is above first.
func (r newRoot) fill(p *policy) error {
	const reads, writes = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NODEV, unix.MOUNT_ATTR_NODEV
	attributes := map[string]uint64{} // of real paths
	put := func(attribute uint64, paths ...string) error {
		for _, path := range paths {
			real, err := r.way(path)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			attributes[real] = attribute
		}
		return nil
	}
	err := errors.Join(r.link(p.Links, "/"), put(reads, p.Reads...), put(reads, "/proc"), put(0, existing(devices)...), put(writes, p.writable()...))
	if err != nil {
		return err
	}
	memory := map[string]uint64{"/tmp": p.Limits.Temp, "/dev/shm": p.Limits.Temp / 4}
	paths := slices.Sorted(maps.Keys(attributes))
	for path := range memory {
		if _, taken := attributes[path]; !taken {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	above, last := "", uint64(0)
	for _, path := range paths {
		attribute, bound := attributes[path]
		switch {
		case !bound:
			if err = r.memory(path, fmt.Sprintf("mode=1777,size=%d", memory[path])); err == nil {
				err = r.link(p.Links, path)
			}
			above = ""
		case above != "" && within(path, above) && attribute == last:
			continue // it is there with what is above
		default:
			err = r.bind(path, attribute)
			above, last = path, attribute
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"} {
		if err := os.Symlink(to, r.dir+"/dev/"+name); err != nil {
			return err
		}
	}
	return nil
}

// link puts in those of links that are in dir, so that names of directories lead to them.
func (r newRoot) link(links []link, dir string) error {
	for _, l := range links {
		if !within(l.Path, dir) {
			continue
		}
		if err := r.makeDir(filepath.Dir(l.Path)); err != nil {
			return err
		}
		if err := os.Symlink(l.To, r.dir+l.Path); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// way puts in the links on the way to path and returns where they lead.
func (r newRoot) way(path string) (real string, err error) {
	rest, real := strings.Split(path, "/"), "/"
	for links := 0; len(rest) > 0; {
		next := filepath.Join(real, rest[0])
		rest = rest[1:]
		info, err := os.Lstat(next)
		if err != nil {
			return "", err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			real = next
			continue
		}
		if links++; links > maxLinks {
			return "", errors.New("too many links")
		}
		to, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if err := r.makeDir(real); err != nil {
			return "", err
		}
		if err := os.Symlink(to, r.dir+next); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		if filepath.IsAbs(to) {
			real = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return real, nil
}

func (r newRoot) makeDir(path string) error { return os.MkdirAll(r.dir+path, 0o755) }

// bind puts in what is at path, with attributes.
func (r newRoot) bind(path string, attributes uint64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	to := r.dir + path
	if info.IsDir() {
		err = r.makeDir(path)
	} else if err = r.makeDir(filepath.Dir(path)); err == nil {
		var file *os.File
		if file, err = os.OpenFile(to, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			err = file.Close()
		} else if errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	flags := uintptr(unix.MS_BIND | unix.MS_REC)
	if within(r.dir, path) {
		flags = unix.MS_BIND // without what is in the making
	}
	if err := unix.Mount(path, to, "", flags, ""); err != nil {
		return explain("binding", err)
	}
	attr := unix.MountAttr{Attr_set: attributes | unix.MOUNT_ATTR_NOSUID}
	return explain("setting attributes", unix.MountSetattr(unix.AT_FDCWD, to, unix.AT_RECURSIVE, &attr))
}

// memory puts in an empty directory.
func (r newRoot) memory(path, options string) error {
	if err := r.makeDir(path); err != nil {
		return err
	}
	return mountMemory(r.dir+path, options)
}

// enter makes it the root.
func (r newRoot) enter() error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, r.dir, 0, &attr); err != nil {
		return explain("making it read-only", err)
	}
	if err := os.Chdir(r.dir); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return explain("entering it", err)
	}
	return explain("leaving the old one", unix.Unmount(".", unix.MNT_DETACH))
}
