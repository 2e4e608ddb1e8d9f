package lisp

import (
	_ "embed"
	"slices"
	"sync"

	"swank-mcp/swank/lisp/launch"
)

//go:embed helper/boot.lisp
var bootFirst []byte

//go:embed helper/boot-main.lisp
var bootMain []byte

//go:embed helper/boot-policy.lisp
var bootPolicy []byte

// launchCode is what an image of ours is started with.
func launchCode() launch.Code {
	code := launchText()
	code.Sum = launchSum()
	return code
}

func launchText() launch.Code {
	return launch.Code{Boot: slices.Concat(bootFirst, []byte("\n"), bootMain, []byte("\n"), bootPolicy), Helper: helperParts()}
}

var launchSum = sync.OnceValue(func() []byte { return launchText().Checksum() })
