package stdiotest

import "strings"

// Line is a line and its answer.
type Line struct {
	Name, Line string
	Code       int // of the error; 0 is no answer
	ID         string
}

// Hostile is lines that are no request, with what they are answered.
var Hostile = []Line{
	{"words", "hello", -32700, "null"},
	{"truncated", `{"jsonrpc":"2.0","id":5,"method":"tools/call","par`, -32700, "null"},
	{"two values", `{"jsonrpc":"2.0","id":5,"method":"ping"} {}`, -32700, "null"},
	{"NUL", "\x00\x00", -32700, "null"},
	{"NUL in a string", "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"pi\x00ng\"}", -32700, "null"},
	{"bytes", "\xff\xfe\x80", -32700, "null"},
	{"BOM", "\ufeff{}", -32700, "null"},
	{"no version", `{"id":5,"method":"ping"}`, -32600, "5"},
	{"version 1.0", `{"jsonrpc":"1.0","id":"x","method":"ping"}`, -32600, `"x"`},
	{"version number", `{"jsonrpc":2.0,"id":5,"method":"ping"}`, -32600, "5"},
	{"empty object", `{}`, -32600, "null"},
	{"number", `42`, -32600, "null"},
	{"string", `"x"`, -32600, "null"},
	{"null", `null`, -32600, "null"},
	{"no method", `{"jsonrpc":"2.0","id":5}`, -32600, "5"},
	{"method number", `{"jsonrpc":"2.0","id":5,"method":7}`, -32600, "5"},
	{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, "null"},
	{"id object", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, -32600, "null"},
	{"id true", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, -32600, "null"},
	{"empty batch", `[]`, -32600, "null"},
	{"deep", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), -32600, "null"},
	{"deep open", strings.Repeat(`{"a":`, 20000), -32600, "null"},
	{"deep arguments", `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"evaluate-lisp","arguments":` +
		strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}}`, -32600, "6"},
	{"unknown method", `{"jsonrpc":"2.0","id":5,"method":"no/such"}`, -32601, "5"},
	{"params array", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[1]}`, -32602, "5"},
	{"params string", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":"x"}`, -32602, "5"},
	{"params huge and wrong", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":"` + strings.Repeat("x", 100000) + `"}`, -32602, "5"},
	{"unknown tool", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"x"}}`, -32602, "5"},
	{"id is not UTF-8", "{\"jsonrpc\":\"1.0\",\"id\":\"\xff\",\"method\":\"ping\"}", -32600, `"` + "\ufffd" + `"`},

	{"blank", "", 0, ""},
	{"spaces", "  \t\r", 0, ""},
	{"stray response", `{"jsonrpc":"2.0","id":99,"result":{}}`, 0, ""},
	{"stray error", `{"jsonrpc":"2.0","id":"z","error":{"code":1,"message":"x"}}`, 0, ""},
	{"error without id", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, 0, ""},
	{"malformed error", `{"jsonrpc":"2.0","id":1,"error":"x"}`, 0, ""},
	{"unknown notification", `{"jsonrpc":"2.0","method":"notifications/no-such"}`, 0, ""},
	{"cancel nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}`, 0, ""},
	{"cancel without id", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`, 0, ""},
	{"cancel without params", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, 0, ""},
	{"cancel an object", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, 0, ""},
	{"cancel params array", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}`, 0, ""},
}
