// Package sandbox confines the images that a server launches: what code of a session can
// read, write, reach, see and use up is what its work needs. [Sandbox.Ask] says what the
// system can do and what it cannot, and [Sandbox.Launch] is what package launch starts
// images with.
//
// On Linux the server starts itself as the program that becomes the image: [Confine], which
// main calls first, makes a file system of what is allowed, limits what can be used up,
// gives up all rights, has the kernel restrict files, connections and signals (Landlock) and
// system calls (seccomp), and then executes SBCL. Copies and child processes inherit all
// that. On macOS sandbox-exec does it, by a profile; other systems have no sandbox.
//
// Begin reading with sandbox.go; policy.go says what is allowed, paths.go and env.go what an
// image must read and know; confine_linux.go does it, able_linux.go finds out what can be done.
package sandbox
