package sandbox

import (
	"runtime"
)

// An attempt is code that tries to get out of the sandbox. In it, names in braces stand for
// what is outside: see [outside].
type attempt struct {
	name, code string
	open       bool   // it succeeds without a sandbox, so that the test would see if nothing refused it
	root       bool   // and that as root alone
	absent     string // what is said where the kernel itself has nothing of the kind; or ""
	stays      string // why it succeeds where no file system of its own can be made, or ""
}

// attempts are what must be refused.
var attempts = func() []attempt {
	list := []attempt{
		{name: "read a key", code: `(read-text "{home}/.ssh/id_ed25519")`, open: true},
		{name: "read credentials by a program", code: `(run "cat" "{home}/.aws/credentials")`, open: true},
		{name: "read the hashes of passwords", code: `(read-text "/etc/shadow")`, open: true, root: true},
		{name: "read a file elsewhere", code: `(read-text "{elsewhere}/secret")`, open: true},
		{name: "list a directory of keys", code: `(directory "{home}/.ssh/*")`, open: true},
		{name: "read a secret in the environment", code: `(sb-posix:getenv "MY_API_TOKEN")`, open: true},
		{name: "read the environment of the server", code: `(read-text "/proc/{server}/environ")`, open: true},
		{name: "read the command line of another process", code: `(read-text "/proc/{victim}/cmdline")`, open: true},
		{name: "read through another process", code: `(read-text "/proc/{victim}/cwd/secret")`, open: true},
		{name: "read a disk", code: `(loop for disk in '("/dev/vda" "/dev/sda" "/dev/nvme0n1" "/dev/mem") thereis (ignore-errors (sb-posix:open disk 0)))`},
		{name: "list the directory of another image", code: `(directory "{image}/*.*")`, open: true},
		{name: "read by foreign code", code: `(foreign "open" "{elsewhere}/secret" 0)`, open: true},

		{name: "write elsewhere", code: `(write-text "{elsewhere}/new")`, open: true},
		{name: "append to a shell's start file", code: `(write-text "{home}/.profile")`, open: true},
		{name: "delete elsewhere", code: `(delete-file "{elsewhere}/deletable")`, open: true},
		{name: "rename to elsewhere", code: `(progn (write-text "mine") (sb-posix:rename "mine" "{elsewhere}/renamed") t)`, open: true},
		{name: "cut a file to nothing", code: `(foreign "truncate" "{elsewhere}/cut" 0)`, open: true},
		{name: "change a mode", code: `(foreign "chmod" "{elsewhere}/secret" #o777)`, open: true},
		{name: "change a time", code: `(foreign "utimes" "{elsewhere}/secret" 0)`, open: true},
		{name: "write below /usr", code: `(sb-posix:open "/usr/lib/os-release" sb-posix:o-wronly)`, open: true, root: true},
		{name: "write into the cache of cores", code: `(write-text (first (directory "{cache}/swank-mcp/image-*/*.lisp")))`, open: true},
		{name: "plant a fasl for other Lisps", code: `(write-text "{cache}/common-lisp/planted.fasl")`, open: true},
		{name: "change the kernel", code: `(sb-posix:open "/proc/sys/kernel/core_pattern" sb-posix:o-wronly)`, open: true, root: true},

		{name: "read through a link in the project", code: `(progn (sb-posix:symlink "{home}/.ssh/id_ed25519" "key") (read-text "key"))`, open: true},
		{name: "write through a link in the project", code: `(progn (sb-posix:symlink "{elsewhere}/secret" "out") (write-text "out"))`, open: true},
		{name: "link a file into the project", code: `(progn (sb-posix:link "{elsewhere}/secret" "hard") (read-text "hard"))`, open: true},
		{name: "go up from the project", code: `(read-text "{project}/../elsewhere/secret")`, open: true},
		{name: "go through /proc/self/root", code: `(read-text "/proc/self/root{elsewhere}/secret")`, open: true},
		{name: "go through /proc/self/cwd", code: `(read-text "/proc/self/cwd/../elsewhere/secret")`, open: true},
		{name: "mount", code: `(foreign "mount" "{elsewhere}" "{project}" 0 4096 0)`},
		{name: "make a user namespace", code: `(foreign "unshare" #x10000000)`},
		{name: "change the root", code: `(foreign "chroot" "{project}")`},
		{name: "make a device", code: `(foreign "mknod" "disk" #o60600 (+ (ash 254 8) 0))`, open: true, root: true},
		{name: "get rights by a program that gives them", code: `(eql 0 (foreign "prctl" 39 0 0 0 0))`, open: true},
		{name: "have rights that root can use", code: `(eql 1 (foreign "prctl" 23 21 0 0 0))`, open: true},
		{name: "load a module", code: `(foreign "syscall" 175 0 0 "")`},

		{name: "trace another process", code: `(foreign "ptrace" 16 {victim} 0 0)`},
		{name: "read the memory of the server", code: `(foreign "process_vm_readv" {server} (octets 16) 1 (octets 16) 1 0)`, open: true},
		{name: "kill a process", code: `(foreign "kill" {victim} 9)`},
		{name: "signal the server", code: `(foreign "kill" {server} 18)`, open: true},
		{name: "signal another image", code: `(foreign "kill" {other} 18)`, open: true},
		{name: "signal by a program", code: `(run "/bin/sh" "-c" "kill -CONT {server}")`, open: true},
		{name: "limit the server", code: `(let ((limit (octets 16))) (and (foreign "prlimit" {victim} 7 0 limit) (foreign "prlimit" {victim} 7 limit 0)))`, open: true},
		{name: "slow another process down", code: `(foreign "setpriority" 0 {victim} 19)`, open: true},
		{name: "have the server end a process", code: `(progn (say-to "{own}/calls.sock" "(:copy 1 :pid {victim})") (sleep 1/10) (not (foreign "kill" {victim} 0)) nil)`},

		{name: "connect by TCP", code: `(connect-tcp {port})`, open: true},
		{name: "connect by a program", code: `(run "/bin/bash" "-c" "echo > /dev/tcp/127.0.0.1/{port}")`, open: true},
		{name: "make a socket for datagrams", code: `(foreign "socket" 2 2 0)`, open: true},
		{name: "make a socket of Internet version 6", code: `(foreign "socket" 10 1 0)`},
		{name: "listen to a port", code: `(let ((socket (make-instance 'sb-bsd-sockets:inet-socket :type :stream :protocol :tcp))) (sb-bsd-sockets:socket-bind socket #(127 0 0 1) 0) t)`, open: true},
		{name: "ask the kernel of networks", code: `(foreign "socket" 16 3 0)`, open: true},
		{name: "see all packets", code: `(foreign "socket" 17 3 768)`, open: true, root: true},
		{name: "reach a service at its socket", code: `(connect-local "{elsewhere}/service.sock")`, open: true, stays: "Landlock 7 does not know such sockets"},
		{name: "reach another image at its socket", code: `(connect-local "{image}/swank.sock")`, open: true, stays: "Landlock 7 does not know such sockets"},
		{name: "reach a service at its abstract socket", code: `(connect-local "{abstract}" t)`, open: true},
		{name: "make system calls by a ring", code: `(foreign "syscall" 425 8 (octets 120))`},

		{name: "start too many processes", code: `(> (start-many 700) 600)`},
		{name: "take too much foreign memory", code: `(= 40 (allocate-much 40 (expt 2 30)))`, open: true},
		{name: "take too much of the heap", code: `(make-array (expt 2 33) :element-type '(unsigned-byte 8))`},
		{name: "make a file too large", code: `(fill-file "large" (expt 2 36))`, open: true},
		{name: "fill the directory of temporary files", code: `(allocate-file "/tmp/large" (expt 2 31))`, open: true},
		{name: "open too many files", code: `(= 5000 (open-many 5000))`},
	}
	if runtime.GOARCH == "amd64" { // push rbx; mov eax, 20; int 0x80; pop rbx; ret: getpid
		list = append(list, attempt{name: "make system calls of another processor", open: true, absent: "Memory fault at ",
			code: `(plusp (run-code '(#x53 #xB8 20 0 0 0 #xCD #x80 #x5B #xC3)))`})
	}
	return list
}()
