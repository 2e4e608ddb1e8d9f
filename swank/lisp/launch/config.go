package launch

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
}
