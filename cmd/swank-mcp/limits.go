package main

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"swank-mcp/sandbox"
)

// limits are what --limits says that sessions may use. Zero is no limit of ours.
type limits struct {
	cpu      time.Duration // of the processor that the sessions of a principal may use in an hour
	wall     time.Duration // that an evaluation may run, also in the background
	diskMB   int           // in the directories of a session
	memoryMB int           // of all processes of an image together
}

func (l limits) String() string { return (*limitsFlag)(&l).String() }

// limitsFlag is a list as in cpu=600,wall=3600,disk=1024,memory=4096.
type limitsFlag limits

func (l *limitsFlag) String() string {
	var all []string
	add := func(name string, n int64) {
		if n > 0 {
			all = append(all, fmt.Sprintf("%s=%d", name, n))
		}
	}
	add("cpu", int64(l.cpu/time.Second))
	add("wall", int64(l.wall/time.Second))
	add("disk", int64(l.diskMB))
	add("memory", int64(l.memoryMB))
	return strings.Join(all, ",")
}

func (l *limitsFlag) Set(v string) error {
	var list listFlag
	_ = list.Set(v)
	*l = limitsFlag{}
	for _, one := range list {
		name, value, _ := strings.Cut(one, "=")
		switch name {
		case "cpu", "wall":
			var d secondsFlag
			if err := d.Set(value); err != nil || time.Duration(d) < time.Second {
				return fmt.Errorf("%s=%s: not a number of seconds, 1 or more", name, value)
			}
			if name == "cpu" {
				l.cpu = time.Duration(d)
			} else {
				l.wall = time.Duration(d)
			}
		case "disk", "memory":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 || n > maxMB {
				return fmt.Errorf("%s=%s: not a number of MB, 1 or more", name, value)
			}
			if name == "disk" {
				l.diskMB = n
			} else {
				l.memoryMB = n
			}
		default:
			return errors.New("the limits are cpu, wall, disk and memory, as in cpu=600,memory=4096")
		}
	}
	return nil
}

// checkLimits says what is wrong with --limits, or with others beside it.
func (c *config) checkLimits() error {
	l := c.limits
	switch {
	case c.http.place.Address == "" && (l.cpu > 0 || l.diskMB > 0):
		return fmt.Errorf("%w: --limits: cpu and disk are of the sessions of --http; on stdin and stdout there are wall and memory", errUsage)
	case runtime.GOOS != "linux" && (l.cpu > 0 || l.diskMB > 0):
		return fmt.Errorf("%w: --limits: cpu and disk are of Linux; %s does not tell what is used", errUsage, runtime.GOOS)
	case (l.diskMB > 0 || l.memoryMB > 0) && c.sandboxed.mode == sandbox.Off:
		return fmt.Errorf("%w: --limits: disk and memory are of images in a sandbox; give --sandbox on", errUsage)
	case l.memoryMB > 0 && l.memoryMB < c.lisp.Launch.HeapMB:
		return fmt.Errorf("%w: --limits memory=%d is less than --heap %d, so that a full heap would end the image; give a smaller --heap, too", errUsage, l.memoryMB, c.lisp.Launch.HeapMB)
	}
	return nil
}

// maxMB is more than any machine has.
const maxMB = 1 << 30
