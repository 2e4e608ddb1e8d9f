package mcpbridge

import (
	"strings"
	"testing"

	"swank-mcp/mcpbridge/rawtext"
)

func TestLookups(t *testing.T) {
	p := serve(t, Options{Tools: everyTool}).handshake()
	for _, c := range []struct {
		tool, args, want string
		failed           bool
	}{
		{"describe-symbol", `{"name":"car"}`, "CAR, external symbol of COMMON-LISP\n\n[Function]\n(CAR LIST)\n\n; HyperSpec: http://www.lispworks.com/documentation/HyperSpec/Body/f_car_c.htm", false},
		{"describe-symbol", `{"symbol":"bare"}`, "BARE, internal symbol of P\n\nIt names no function, variable, class, type or package.", false},
		{"describe-symbol", `{"name":"p:hidden"}`, "[ERROR] SYMBOL-NOT-EXTERNAL\nnot external\n\nNext: describe-symbol {\"name\": \"P::HIDDEN\"}", true},
		{"cross-reference", `{"name":"p:hidden","package":"p","type":"callers","limit":"3"}`, "[ERROR] SYMBOL-NOT-EXTERNAL\nnot external\n\nNext: cross-reference {\"name\": \"P::HIDDEN\", \"kind\": \"callers\", \"limit\": \"3\"}", true},
		{"find-definition", `{"name":"p::|No|"}`, "[ERROR] SYMBOL-NOT-FOUND\nThere is no symbol.\n\nNext: apropos-search {\"pattern\": \"No\"}", true},
		{"describe-system", `{"name":"nix"}`, "[ERROR] SYSTEM-NOT-FOUND\nThere is no system.\n\nNext: describe-system {}", true},
		{"apropos-search", `{"query":"x","kind":"Classes"}`, "0 symbols match x\n\nWithout kind class there may be more.", false},
		{"complete-symbol", `{"name":"ca"}`, "- ca-all", false},
	} {
		a := p.call(c.tool, c.args)
		if a.Result.IsError != c.failed || a.text() != c.want {
			t.Errorf("%s %s answered (isError %v)\n%s\nwant\n%s", c.tool, c.args, a.Result.IsError, a.text(), c.want)
		}
	}
}

func TestHyperspecLookup(t *testing.T) {
	p := serve(t, Options{Tools: everyTool}).handshake()
	for name, want := range map[string]string{
		"CL:CAR":     "CAR\nFunction: ",
		"'car":       "CAR\nFunction: ",
		"#'car":      "CAR\nFunction: ",
		"(setf car)": "CAR\nFunction: ",
		"~A":         "~A\nFormat Directive: ",
		"'":          "'\nMacro Character: ",
		"''":         "[ERROR] NOT-IN-HYPERSPEC",
		"hash":       "HASH is no symbol of COMMON-LISP, but a part of:\nHASH-TABLE",
		"é":          "[ERROR] NOT-IN-HYPERSPEC",
	} {
		if a := p.call("hyperspec-lookup", `{"name":`+rawtext.Quote(name)+`}`); !strings.HasPrefix(a.text(), want) {
			t.Errorf("%s answered\n%s\nwant\n%s", name, a.text(), want)
		}
	}
}
