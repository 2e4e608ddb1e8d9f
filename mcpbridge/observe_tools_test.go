package mcpbridge

import (
	"strings"
	"testing"
)

// TestObserveTools holds the text of the tools that look into objects, calls,
// time, memory and threads, and what they refuse.
func TestObserveTools(t *testing.T) {
	p := serve(t, Options{}).handshake()
	for _, c := range []struct {
		tool, args string
		failed     bool
		want       string // the whole text, or where it begins or ends
	}{
		{"inspect-object", `{"code":"(list 1 2)"}`, false, "obj-1: CONS, (1 2)\n\n[parts]\n0: 1\n1: 2\n\n[stdout]\nsaid"},
		{"inspect-object", `{"form":"(oops)"}`, true, "[ERROR] UNDEFINED-FUNCTION\nno OOPS"},
		{"inspect-object", `{"handle":"obj-1"}`, false, "obj-1: CONS, (1 2)\n\nIt has no parts.\n\n; More: offset 40"},
		{"inspect-object", `{"handle":1,"path":7}`, true, "[ERROR] NO-SUCH-PART\nIt has no part 7.\n\nNext: inspect-object {\"handle\": \"1\"}"},
		{"inspect-object", `{"handle":"obj-2"}`, true, "…Next: inspect-object {\"code\": \"(list 1 2)\"}"},
		{"inspect-object", `{"handle":"obj-9"}`, true, "…Next: inspect-object {\"code\": \"(find-class 'standard-object)\"}"},
		{"inspect-object", `{}`, true, "[ERROR] INVALID-ARGUMENTS\ninspect-object needs code, "},
		{"inspect-object", `{"code":"1","handle":"obj-1"}`, true, "[ERROR] INVALID-ARGUMENTS\ninspect-object takes code or handle, not both."},

		{"trace-function", `{"functions":"f","code":"(f 1)"}`, false, "[trace]\n0: (F 1)\n0: F returned 2\n; 5 calls of F; the first 1 are shown\n\n=> 2"},
		{"trace-function", `{"functions":"no-such","code":"(f 1)"}`, true,
			"[ERROR] SYMBOL-NOT-FOUND\nnone\n\nNext: trace-function {\"functions\": \"P::NO-SUCH\", \"code\": \"(f 1)\"}"},
		{"trace-function", `{"function":"f"}`, false, "Traced: f"},
		{"trace-function", `{"action":"off"}`, false, "Traced: nothing"},
		{"trace-function", `{"functions":"no-such"}`, true, "…Next: trace-function {\"functions\": \"P::NO-SUCH\", \"action\": \"on\"}"},
		{"trace-function", `{}`, true, "[ERROR] INVALID-ARGUMENTS\nfunctions is empty"},
		{"trace-function", `{"functions":"f","code":"(f)","action":"off"}`, true, "[ERROR] INVALID-ARGUMENTS\naction off takes no code"},

		{"profile-code", `{"code":"(fib 30)"}`, false, "[profile] cpu: 20 samples in 100 ms\n  Self %  Total %  Samples  Function\n" +
			"    75.0    100.0       15  FIB\n    25.0     25.0        5  elsewhere\n" +
			"; Too few samples to tell small shares; take some 200: {\"repeat\": 10}\n\n=> "},
		{"profile-code", `{"code":"(fib 30)","mode":":Time"}`, false, "[profile] wall: "},
		{"profile-code", `{"code":"(small)","mode":"alloc"}`, false, "[profile] alloc: 200 samples in 100 ms, 6,600,000 bytes consed\n  Self %  Total %  Samples  Function\n" +
			"    75.0    100.0      150  CONSER\n    25.0     25.0       50  elsewhere\n\n=> "},
		{"profile-code", `{"code":"(large)","mode":"alloc"}`, false, "[profile] alloc: 200 samples in 100 ms, 14,000,000 bytes consed\n  Self %  Total %  Samples  Function\n" +
			"; Large objects are among it. Each is one sample, as 32 kB of small ones are: who makes them has a larger share of the bytes.\n\n=> "},
		{"profile-code", `{"code":"(much)","mode":"alloc"}`, false, "[profile] alloc: 100,000 samples in 100 ms, 7,000,000,000 bytes consed\n  Self %  Total %  Samples  Function\n" +
			"; Only the first 100,000 samples were kept.\n\n=> "},
		{"profile-code", `{"code":"(little)","mode":"alloc","repeat":3}`, false, "[profile] alloc: 0 samples in 100 ms, 32,768 bytes consed\n  Self %  Total %  Samples  Function\n" +
			"; Too few samples to tell small shares; take some 200: {\"repeat\": 600}\n\n=> "},
		{"profile-code", `{"code":"(none)","mode":"allocation"}`, false, "[profile] alloc: 0 samples in 100 ms, 0 bytes consed\n  Self %  Total %  Samples  Function\n" +
			"; Nothing was sampled: of small objects, one in 32 kB is. If it allocates at all, this shows it: {\"repeat\": 100000}\n\n=> "},
		{"profile-code", `{"code":"(fib 30)","mode":"calls","functions":"fib"}`, false, "[profile] 2000 ms in all\n  Self %   Self ms  Total ms      Calls  Function\n" +
			"    25.0     500.0    1000.0      1,234  FIB\n\n=> "},
		{"profile-code", `{"code":"(fib 30)","mode":"calls"}`, true, "[ERROR] INVALID-ARGUMENTS\nmode calls needs functions"},
		{"profile-code", `{"code":"(fib 30)","functions":"fib"}`, true, "[ERROR] INVALID-ARGUMENTS\nfunctions goes with mode \"calls\""},

		{"memory-report", `{"limit":"3"}`, false, "Heap: 50 MB of 4,000 MB used, 1 %\n\n[by type]\nCONS: 10 MB"},
		{"memory-report", `{"limit":0}`, true, "[ERROR] INVALID-ARGUMENTS\nlimit is 0; it must be from 1 to 200."},
		{"list-threads", `{"backtrace":true}`, false, "1 thread\n\n[threads]\n1 main thread: the image's main thread\n   0: (LOOP)"},
		{"interrupt-thread", `{"thread":7}`, false, "7 mine: the program's"},
		{"interrupt-thread", `{"name":"twin","action":"KILL"}`, true, "…Next: interrupt-thread {\"thread\": \"7\", \"action\": \"abort\"}"},
		{"interrupt-thread", `{"thread":"1","action":"abort"}`, true, "[ERROR] THREAD-PROTECTED\nIt is the main thread.\n\nNext: list-threads {}"},
		{"interrupt-thread", `{"thread":" "}`, true, "[ERROR] INVALID-ARGUMENTS\nthread is empty"},
	} {
		a := p.call(c.tool, c.args)
		text := a.text()
		ending, atEnd := strings.CutPrefix(c.want, "…")
		if a.Result.IsError != c.failed || atEnd && !strings.HasSuffix(text, ending) || !atEnd && !strings.HasPrefix(text, c.want) {
			t.Errorf("%s %s: error %v, %q\nwant %q", c.tool, c.args, a.Result.IsError, text, c.want)
		}
	}
}
