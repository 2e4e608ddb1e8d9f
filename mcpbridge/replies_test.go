package mcpbridge

import (
	"strings"
	"testing"
)

// TestReplies holds what the tools make of the image's answers, and what they refuse.
func TestReplies(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	p := serve(t, Options{}).handshake()
	const failures = "\n\nFAILED T1\n  (= 1 2)\n  1 is not 2\n  in /t.lisp:3\n\n; 1 more failure"
	for _, c := range []struct {
		tool, args string
		want       string // the whole text, or its beginning and its end with … between
	}{
		{"evaluate-lisp", `{"code":"busy"}`, "[ERROR] SESSION-BUSY\nThe session is busy…"},
		{"evaluate-lisp", `{"code":"nolisp"}`, "[ERROR] NO-IMAGE\nsbcl is not on PATH\n\nInstall it: apt-get install sbcl"},
		{"evaluate-lisp", `{"code":"fail oops"}`, "[ERROR] INTERNAL-ERROR\nlisp: oops…"},
		{"evaluate-lisp", `{"code":"error x"}`, "[ERROR] SIMPLE-ERROR\nx\n\n[Backtrace]\n0: (ERROR x)"},
		{"session-status", `{}`, "Image: not started…"},

		// Symbols and systems
		{"describe-symbol", `{"name":"car"}`, "CAR, external symbol of COMMON-LISP\n\n[Function]\n(CAR LIST)\n\n; HyperSpec: http://www.lispworks.com/documentation/HyperSpec/Body/f_car_c.htm"},
		{"describe-symbol", `{"symbol":"bare"}`, "BARE, internal symbol of P\n\nIt names no function, variable, class, type or package."},
		{"describe-symbol", `{"name":"p:hidden"}`, "[ERROR] SYMBOL-NOT-EXTERNAL\nnot external\n\nNext: describe-symbol {\"name\": \"P::HIDDEN\"}"},
		{"cross-reference", `{"name":"p:hidden","package":"p","type":"callers","limit":"3"}`, "[ERROR] SYMBOL-NOT-EXTERNAL\nnot external\n\nNext: cross-reference {\"name\": \"P::HIDDEN\", \"kind\": \"callers\", \"limit\": \"3\"}"},
		{"find-definition", `{"name":"p::|No|"}`, "[ERROR] SYMBOL-NOT-FOUND\nThere is no symbol.\n\nNext: apropos-search {\"pattern\": \"No\"}"},
		{"describe-system", `{"name":"nix"}`, "[ERROR] SYSTEM-NOT-FOUND\nThere is no system.\n\nNext: describe-system {}"},
		{"apropos-search", `{"query":"x","kind":"Classes"}`, "0 symbols match x\n\nWithout kind class there may be more."},
		{"complete-symbol", `{"name":"ca"}`, "- ca-all"},

		// The HyperSpec
		{"hyperspec-lookup", `{"name":"CL:CAR"}`, "CAR\nFunction: …"},
		{"hyperspec-lookup", `{"name":"'car"}`, "CAR\nFunction: …"},
		{"hyperspec-lookup", `{"name":"#'car"}`, "CAR\nFunction: …"},
		{"hyperspec-lookup", `{"name":"(setf car)"}`, "CAR\nFunction: …"},
		{"hyperspec-lookup", `{"name":"~A"}`, "~A\nFormat Directive: …"},
		{"hyperspec-lookup", `{"name":"'"}`, "'\nMacro Character: …"},
		{"hyperspec-lookup", `{"name":"''"}`, "[ERROR] NOT-IN-HYPERSPEC…"},
		{"hyperspec-lookup", `{"name":"hash"}`, "HASH is no symbol of COMMON-LISP, but a part of:\nHASH-TABLE…"},
		{"hyperspec-lookup", `{"name":"é"}`, "[ERROR] NOT-IN-HYPERSPEC…"},

		// Expanding, compiling, loading
		{"compile-form", `{"code":"good"}`, "Compiled: The code, no notes. Loaded."},
		{"compile-form", `{"form":"good","load":"false"}`, "Compiled: The code, no notes. Not loaded."},
		{"compile-form", `{"code":"bad"}`, "[ERROR] COMPILE-FAILED\nThe code: 1 error, 4 notes. Nothing was loaded.\n\n" +
			"2:5: error: a b\n   2 |   (x\n/other.lisp:1:1: note: slow\n; 3 more notes"},
		{"compile-file", `{"path":"~/x.lisp","output":"/o.fasl"}`,
			"Compiled: /home/me/x.lisp, no notes. Loaded.\n\n[stdout]\n/home/me/x.lisp/o.fasl"},
		{"compile-file", `{"path":" "}`, "[ERROR] INVALID-ARGUMENTS\npath is empty; it must be the path of a file.…"},
		{"load-file", `{"filename":"/a/../b.lisp"}`, "Loaded: /b.lisp\n\n[stdout]\n/b.lisp"},
		{"macroexpand-form", `{"form":"(m)"}`, "(IF X Y)\n\n[stdout]\nnoise"},
		{"macroexpand-form", `{"form":"(m)","mode":"steps"}`, "; Step 1\n(m)\n; =>\n(IF X Y)\n\n; 2 more steps"},
		{"macroexpand-form", `{"form":"(car)","full":true}`, "; Nothing to expand: CAR is a function.\n(car)"},

		// The debugger
		{"get-backtrace", `{}`, "Evaluation 1 has been suspended…"},
		{"inspect-frame", `{"frame":"0"}`, "Frame 0 of evaluation 1: (F 0)\n\n[Locals]\nX = 0\n\n; restart-frame…"},
		{"inspect-frame", `{"frame":2}`, "[ERROR] UNKNOWN-FRAME\nThere is no frame.\n\n; Evaluation 1 is still suspended where it was.\nNext: get-backtrace {\"evaluation\": 1}"},
		{"inspect-frame", `{"frame":0,"evaluation":2}`, "[ERROR] NOT-SUSPENDED\nThere is no evaluation 2.…"},
		{"evaluate-in-frame", `{"frame":0,"code":"x"}`, "=> the original's value"},
		{"invoke-restart", `{"restart":0}`, "=> the original's value"},
		{"invoke-restart", `{"name":"nosuch","value":7}`, "[ERROR] UNKNOWN-RESTART\n…"},
		{"return-from-frame", `{"frame":0,"values":"(values 1 2)"}`, "=> the original's value"},
		{"restart-frame", `{"frame":0}`, "=> the original's value"},
		{"step", `{"mode":"OUT"}`, "=> the original's value"},
		{"abort-evaluation", `{}`, "Evaluation 1 is aborted.\n\n[stdout]\nso far"},
		{"describe-last-error", `{}`, "[ERROR] DIVISION-BY-ZERO\n…"},
		{"step", `{"mode":"back"}`, "[ERROR] INVALID-ARGUMENTS\nmode is \"back\"; valid: into, next, out, continue.…"},
		{"evaluate-in-frame", `{"frame":-1,"code":"x"}`, "[ERROR] INVALID-ARGUMENTS\nframe is -1…"},
		{"restart-frame", `{"frame":0,"timeout":0}`, "[ERROR] INVALID-ARGUMENTS\ntimeout is 0…"},

		// Tests
		{"run-tests", `{"system":"good"}`, "good (Rove): 1 test, 2 checks, all passed."},
		{"run-tests", `{"system-name":"#:good"}`, "good (Rove): 1 test, 2 checks, all passed."},
		{"run-tests", `{"test":"failing"}`, "failing (FiveAM): 2 tests, 6 checks: 3 passed, 1 failed, 1 with an error, 1 skipped." +
			failures + "\n\n[stdout]\nnoise"},
		{"run-tests", `{"name":"signals"}`, "signals (FiveAM): 2 tests, 6 checks: 3 passed, 1 failed, 1 with an error, 1 skipped." +
			failures + "\n\n; Then SIMPLE-ERROR: tests failed"},
		{"run-tests", `{"system":"broken"}`, "[ERROR] SIMPLE-ERROR\ntests\nfailed"},
		{"run-tests", `{"system":"slow","timeout":2}`, "[TIMEOUT] Evaluation exceeded 2 seconds\n" +
			"Before that: slow (FiveAM): 2 tests, 6 checks: 3 passed, 1 failed, 1 with an error, 1 skipped.\n" + failures},
		{"run-tests", `{"system":"plain"}`, "plain: the outcome is not known. It has ended without an error, and no result of " +
			"FiveAM, Rove, Parachute, RT, Fiasco, 1am, lisp-unit2, Prove or Clunit2 was seen.\n\n[stdout]\nall fine"},

		// Objects, calls, time, memory, threads
		{"inspect-object", `{"code":"(list 1 2)"}`, "obj-1: CONS, (1 2)\n\n[parts]\n0: 1\n1: 2\n\n[stdout]\nsaid"},
		{"inspect-object", `{"form":"(oops)"}`, "[ERROR] UNDEFINED-FUNCTION\nno OOPS"},
		{"inspect-object", `{"handle":"obj-1"}`, "obj-1: CONS, (1 2)\n\nIt has no parts.\n\n; More: offset 40"},
		{"inspect-object", `{"handle":1,"path":7}`, "[ERROR] NO-SUCH-PART\nIt has no part 7.\n\nNext: inspect-object {\"handle\": \"1\"}"},
		{"inspect-object", `{"handle":"obj-2"}`, "[ERROR]…Next: inspect-object {\"code\": \"(list 1 2)\"}"},
		{"inspect-object", `{"handle":"obj-9"}`, "[ERROR]…Next: inspect-object {\"code\": \"(find-class 'standard-object)\"}"},
		{"inspect-object", `{}`, "[ERROR] INVALID-ARGUMENTS\ninspect-object needs code, …"},
		{"inspect-object", `{"code":"1","handle":"obj-1"}`, "[ERROR] INVALID-ARGUMENTS\ninspect-object takes code or handle, not both.…"},

		{"trace-function", `{"functions":"f","code":"(f 1)"}`, "[trace]\n0: (F 1)\n0: F returned 2\n; 5 calls of F; the first 1 are shown\n\n=> 2"},
		{"trace-function", `{"functions":"no-such","code":"(f 1)"}`,
			"[ERROR] SYMBOL-NOT-FOUND\nnone\n\nNext: trace-function {\"functions\": \"P::NO-SUCH\", \"code\": \"(f 1)\"}"},
		{"trace-function", `{"function":"f"}`, "Traced: f"},
		{"trace-function", `{"action":"off"}`, "Traced: nothing"},
		{"trace-function", `{"functions":"no-such"}`, "[ERROR]…Next: trace-function {\"functions\": \"P::NO-SUCH\", \"action\": \"on\"}"},
		{"trace-function", `{}`, "[ERROR] INVALID-ARGUMENTS\nfunctions is empty…"},
		{"trace-function", `{"functions":"f","code":"(f)","action":"off"}`, "[ERROR] INVALID-ARGUMENTS\naction off takes no code…"},

		{"profile-code", `{"code":"(fib 30)"}`, "[profile] cpu: 20 samples in 100 ms\n  Self %  Total %  Samples  Function\n" +
			"    75.0    100.0       15  FIB\n    25.0     25.0        5  elsewhere\n" +
			"; Too few samples to tell small shares; take some 200: {\"repeat\": 10}\n\n=> "},
		{"profile-code", `{"code":"(fib 30)","mode":":Time"}`, "[profile] wall: …"},
		{"profile-code", `{"code":"(small)","mode":"alloc"}`, "[profile] alloc: 200 samples in 100 ms, 6,600,000 bytes consed\n  Self %  Total %  Samples  Function\n" +
			"    75.0    100.0      150  CONSER\n    25.0     25.0       50  elsewhere\n\n=> "},
		{"profile-code", `{"code":"(large)","mode":"alloc"}`, "[profile] alloc: 200 samples in 100 ms, 14,000,000 bytes consed\n  Self %  Total %  Samples  Function\n" +
			"; Large objects were allocated. Each is one sample, like 32 kB of small ones: the functions that make them have a larger share of the bytes than is shown.\n\n=> "},
		{"profile-code", `{"code":"(much)","mode":"alloc"}`, "[profile] alloc: 100,000 samples in 100 ms, 7,000,000,000 bytes consed\n  Self %  Total %  Samples  Function\n" +
			"; Only the first 100,000 samples were kept.\n\n=> "},
		{"profile-code", `{"code":"(little)","mode":"alloc","repeat":3}`, "[profile] alloc: 0 samples in 100 ms, 32,768 bytes consed\n  Self %  Total %  Samples  Function\n" +
			"; Too few samples to tell small shares; take some 200: {\"repeat\": 600}\n\n=> "},
		{"profile-code", `{"code":"(none)","mode":"allocation"}`, "[profile] alloc: 0 samples in 100 ms, 0 bytes consed\n  Self %  Total %  Samples  Function\n" +
			"; Nothing was sampled: of small objects, one in 32 kB is. If the form allocates at all, this shows it: {\"repeat\": 100000}\n\n=> "},
		{"profile-code", `{"code":"(fib 30)","mode":"calls","functions":"fib"}`, "[profile] 2000 ms in all\n  Self %   Self ms  Total ms      Calls  Function\n" +
			"    25.0     500.0    1000.0      1,234  FIB\n\n=> "},
		{"profile-code", `{"code":"(fib 30)","mode":"calls"}`, "[ERROR] INVALID-ARGUMENTS\nmode calls needs functions…"},
		{"profile-code", `{"code":"(fib 30)","functions":"fib"}`, "[ERROR] INVALID-ARGUMENTS\nfunctions goes with mode \"calls\"…"},

		{"memory-report", `{"limit":"3"}`, "Heap: 50 MB of 4,000 MB used, 1 %\n\n[by type]\nCONS: 10 MB"},
		{"memory-report", `{"limit":0}`, "[ERROR] INVALID-ARGUMENTS\nlimit is 0; it must be from 1 to 200.…"},
		{"list-threads", `{"backtrace":true}`, "1 thread\n\n[threads]\n1 main thread: the image's main thread\n   0: (LOOP)"},
		{"interrupt-thread", `{"thread":7}`, "7 mine: the program's"},
		{"interrupt-thread", `{"name":"twin","action":"KILL"}`, "[ERROR]…Next: interrupt-thread {\"thread\": \"7\", \"action\": \"abort\"}"},
		{"interrupt-thread", `{"thread":"1","action":"abort"}`, "[ERROR] THREAD-PROTECTED\nIt is the main thread.\n\nNext: list-threads {}"},
		{"interrupt-thread", `{"thread":" "}`, "[ERROR] INVALID-ARGUMENTS\nthread is empty…"},
	} {
		a := p.call(c.tool, c.args)
		before, after, cut := strings.Cut(c.want, "…")
		if got := a.text(); !cut && got != c.want || !strings.HasPrefix(got, before) || !strings.HasSuffix(got, after) {
			t.Errorf("%s %s answered\n%s\nwant\n%s", c.tool, c.args, got, c.want)
		}
		failed := strings.HasPrefix(c.want, "[ERROR]") || strings.HasPrefix(c.want, "[TIMEOUT]")
		if a.Result.IsError != failed && c.tool != "describe-last-error" {
			t.Errorf("%s %s: isError %v", c.tool, c.args, a.Result.IsError)
		}
	}
}
