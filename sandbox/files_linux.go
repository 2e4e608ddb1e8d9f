package sandbox

import (
	"os"
	"path/filepath"

	"github.com/landlock-lsm/go-landlock/landlock"
	abi "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// versions are what each version of Landlock can restrict.
var versions = []landlock.Config{{}, landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6,
	landlock.V7, landlock.V8, landlock.V9, landlock.V10, landlock.V11}

// processFiles are what everybody may read of /proc beside what is the image's own.
var processFiles = []string{"/proc/cpuinfo", "/proc/meminfo", "/proc/loadavg", "/proc/uptime", "/proc/version", "/proc/stat",
	"/proc/filesystems", "/proc/sys/vm/overcommit_memory", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/ostype", "/proc/sys/kernel/random"}

// restrictFiles has Landlock refuse all that p does not allow: files, connections, and
// signals to those who are not in this sandbox.
func restrictFiles(p *policy) error {
	version, err := abi.LandlockGetABIVersion()
	if err != nil || version < 1 {
		return nil // the sandbox has said so
	}
	version = min(version, len(versions)-1)
	own := func(paths ...string) landlock.FSRule {
		rule := landlock.RWDirs(paths...)
		if version >= 2 {
			rule = rule.WithRefer()
		}
		if version >= 9 {
			rule = rule.WithResolveUnix()
		}
		return rule
	}
	writable := append(p.writable(), p.Temp)
	if p.NewRoot {
		writable = append(writable, "/dev/shm")
	}
	rules := []landlock.Rule{own(existing(writable)...)}
	readable := append(existing(processFiles), p.Reads...)
	readable = append(readable, existing([]string{"/proc/self"})...)
	for _, path := range readable {
		path, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue
		}
		if info, err := os.Stat(path); err != nil {
			continue
		} else if info.IsDir() {
			rules = append(rules, landlock.RODirs(path))
		} else {
			rules = append(rules, landlock.ROFiles(path))
		}
	}
	// The names of what is in /proc, as a copy of the image needs those of its own threads; the
	// files of other processes cannot be read. A root of its own has no names of others' files.
	names := "/proc"
	if p.NewRoot {
		names = "/"
	}
	rules = append(rules, landlock.PathAccess(abi.AccessFSReadDir, names))
	device := landlock.RWFiles(existing(devices)...)
	if version >= 5 {
		device = device.WithIoctlDev()
	}
	rules = append(rules, device)
	if version >= 4 {
		for _, port := range p.Ports {
			rules = append(rules, landlock.ConnectTCP(uint16(port)))
		}
	}
	return versions[version].Restrict(rules...)
}
