package launch

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"swank-mcp/sexp"
)

const (
	// launchedMark is boot.lisp's *LAUNCHED-MARK*.
	launchedMark = "--swank-mcp"
	// maxSocketPath is below the smallest sun_path of the systems we know.
	maxSocketPath = 100
)

// parameters is what boot.lisp reads from descriptor 3.
type parameters struct {
	Socket     string   `sexp:"socket,omitzero"` // absent: loopback TCP
	Secret     string   `sexp:"secret,omitzero"` // that it asks of us; absent: the socket is ours alone
	SwankDir   string   `sexp:"swank-dir,omitzero"`
	FaslDir    string   `sexp:"fasl-dir,omitzero"`
	Boot       string   `sexp:"boot,omitzero"`
	BootFasl   string   `sexp:"boot-fasl,omitzero"`
	Helper     []string `sexp:"helper,omitzero"`      // its parts
	HelperFasl string   `sexp:"helper-fasl,omitzero"` // made of them
	Init       bool     `sexp:"init,omitzero"`        // load the person's init file
	Save       string   `sexp:"save,omitzero"`        // save a core there instead of serving
	Systems    string   `sexp:"systems,omitzero"`     // a file that names what the core is to have beside
	CoreFD     int      `sexp:"core-fd,omitzero"`     // the descriptor of its core, which it does not need any more
}

// imageStatus is one message on descriptor 4.
type imageStatus struct {
	Booted         bool     `sexp:"booted"` // Swank and the helper are in, the init file not yet
	Failed         string   `sexp:"failed"`
	Without        string   `sexp:"without"` // the module of SBCL's that was missing
	Home           string   `sexp:"home"`    // where it was looked for; may be ""
	Ready          bool     `sexp:"ready"`
	PID            int      `sexp:"pid"`
	Network        string   `sexp:"network"`
	Address        string   `sexp:"address"`
	Implementation string   `sexp:"implementation"`
	Swank          string   `sexp:"swank"`
	Core           bool     `sexp:"core"`
	InitError      string   `sexp:"init-error"`
	HelperWarnings string   `sexp:"helper-warnings"`
	Notes          []string `sexp:"notes"`
}

func parseStatus(message []byte) (s imageStatus, err error) {
	if err := sexp.Unmarshal(message, &s); err != nil {
		return s, fmt.Errorf("status %q: %w", message, err)
	}
	return s, nil
}

// runtimeOptions returns the options of SBCL's C runtime. Neither
// --lose-on-corruption, which makes every stack overflow fatal, nor
// --disable-debugger, which makes every thread's error fatal, is among it.
func (f *imageFiles) runtimeOptions(core string) []string {
	var args []string
	if core != "" {
		args = append(args, "--core", core)
	}
	args = append(args, "--noinform", "--disable-ldb",
		"--dynamic-space-size", strconv.Itoa(f.heapMB)+"MB",
		"--control-stack-size", strconv.Itoa(f.stackMB)+"MB",
		"--end-runtime-options")
	if core != "" {
		args = append(args, launchedMark) // without it, the core is a plain SBCL
	}
	return args
}

// bootOptions returns the options of SBCL's toplevel in an image without a core.
// The compiler's remarks on boot.lisp as source are of no use to anybody: the
// compiled file has none, and a test says so.
func bootOptions(par parameters) []string {
	load := fmt.Sprintf(
		"(handler-case (load (sb-ext:parse-native-namestring %s))"+
			" (error () (handler-bind ((warning (function muffle-warning)))"+
			" (with-compilation-unit () (load (sb-ext:parse-native-namestring %s))))))",
		lispString(par.BootFasl), lispString(par.Boot))
	return []string{"--no-sysinit", "--no-userinit", "--eval", load, "--eval", "(swank-mcp-boot::launch)"}
}

func lispString(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
