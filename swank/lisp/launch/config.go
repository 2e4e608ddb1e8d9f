package launch

import (
	"crypto/sha256"
	"fmt"
)

// Config says which image is started and how. The zero value is the sbcl of
// PATH with the defaults named at each field.
type Config struct {
	SBCL       string // program, path or name; "" is "sbcl"
	SwankDir   string // directory of swank-loader.lisp; "" searches (see FindSwank)
	CacheDir   string // fasls and cores; "" is swank-mcp under the user's cache directory
	Core       string // a core of [ProjectCore]; "" is the cached one that has only Swank and the helper
	Dir        string // working directory of the image; "" inherits ours
	HeapMB     int    // dynamic space of the image in MiB; 0 is 4096
	StackMB    int    // control stack of each Lisp thread in MiB; 0 is 16
	NoCore     bool   // neither use nor build a cached core
	NoUserInit bool   // do not load ~/.sbclrc

	Sandbox *Sandbox // confines the images; nil does not. There are no cores of projects then.
	Yields  bool     // its server, which has many, comes first where processors are scarce
	Awaited bool     // somebody waits for cores that are built: they do not yield to others
}

// Defaults of [Config].
const (
	DefaultHeapMB  = 4096
	DefaultStackMB = 16
)

// Code is the Lisp that an image is started with, as source text.
type Code struct {
	Boot   []byte   // is loaded first and speaks the protocol of boot.go
	Helper [][]byte // parts of package SWANK-MCP, in the order in which they are loaded

	Sum []byte // the [Code.Checksum], which each start needs; nil: it is computed anew
}

// Checksum is the SHA-256 of all of c.
func (c Code) Checksum() []byte {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d\n", len(c.Helper), len(c.Boot))
	h.Write(c.Boot)
	for _, part := range c.Helper {
		h.Write(part)
	}
	return h.Sum(nil)
}
