package stdio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"swank-mcp/mcpbridge/rawtext"
)

// maxDepth is how deep the arrays and objects of a message may be nested. The
// SDK gives up at 1,000 with an error that repeats the whole message.
const maxDepth = 500

// message is a JSON-RPC message taken apart. Its members are raw JSON and
// alias the line; absent ones are nil.
type message struct {
	version, id, method, params, result, err []byte
}

// isCall reports whether the message wants an answer.
func (m *message) isCall() bool { return m.method != nil && m.id != nil }

func refuse(code int64, format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// checkLine judges a whole line as JSON.
func checkLine(f *frame, max int) *jsonrpc.Error {
	if f.long {
		return refuse(jsonrpc.CodeInvalidRequest, "invalid request: the line is longer than %d bytes", max)
	}
	if rawtext.Deeper(f.data, maxDepth) {
		return refuse(jsonrpc.CodeInvalidRequest, "invalid request: nested deeper than %d levels", maxDepth)
	}
	if !json.Valid(f.data) {
		var v json.RawMessage
		return refuse(jsonrpc.CodeParseError, "parse error: %v", json.Unmarshal(f.data, &v))
	}
	return nil
}

// parseMessage takes one valid JSON value apart and judges it as JSON-RPC. The
// id is set whenever it can be told, also beside an error.
func parseMessage(b []byte) (message, *jsonrpc.Error) {
	var m message
	if b[0] != '{' {
		return m, refuse(jsonrpc.CodeInvalidRequest, "invalid request: a message is a JSON object")
	}
	rawtext.Members(b, func(key, value []byte) {
		switch string(key) {
		case "jsonrpc":
			m.version = value
		case "id":
			m.id = value
		case "method":
			m.method = value
		case "params":
			m.params = value
		case "result":
			m.result = value
		case "error":
			m.err = value
		}
	})
	if m.id != nil && m.id[0] != '"' && m.id[0] != '-' && (m.id[0] < '0' || m.id[0] > '9') {
		m.id = nil
		if m.method != nil {
			return m, refuse(jsonrpc.CodeInvalidRequest, "invalid request: id must be a string or a number")
		}
	}
	switch {
	case m.version == nil:
		return m, refuse(jsonrpc.CodeInvalidRequest, `invalid request: "jsonrpc": "2.0" is missing`)
	case string(m.version) != `"2.0"`:
		return m, refuse(jsonrpc.CodeInvalidRequest, `invalid request: jsonrpc is %s, must be "2.0"`, rawtext.Clip(string(m.version), 40))
	case m.method != nil && m.method[0] != '"':
		return m, refuse(jsonrpc.CodeInvalidRequest, "invalid request: method must be a string")
	case m.method == nil && m.result == nil && m.err == nil:
		return m, refuse(jsonrpc.CodeInvalidRequest, "invalid request: neither method nor result nor error")
	case string(m.params) == "null":
		m.params = nil
	}
	return m, nil
}

// CheckToken refuses params, valid JSON or nothing, whose token for progress the SDK would not
// give back as it was sent: it keeps numbers as floating-point numbers.
func CheckToken(params []byte) *jsonrpc.Error {
	token := rawtext.Member(rawtext.Member(params, "_meta"), "progressToken")
	if token == nil || string(token) == "null" || rawtext.Exact(token) {
		return nil
	}
	return refuse(jsonrpc.CodeInvalidParams, "invalid params: _meta.progressToken is %s; valid is %s", rawtext.Clip(string(token), 40), rawtext.ExactKinds)
}

// sdkID returns the SDK's form of a raw id, and whether it stands for exactly
// that id: the SDK keeps integers and strings only, and numbers as floats.
func sdkID(raw []byte) (id jsonrpc.ID, exact bool) {
	if raw[0] == '"' {
		id, err := jsonrpc.MakeID(rawtext.Unquote(raw))
		return id, err == nil && utf8.Valid(raw)
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != float64(int64(f)) || f > 1<<53 || f < -(1<<53) {
		return id, false
	}
	id, err = jsonrpc.MakeID(f)
	return id, err == nil
}

// sameID reports whether two raw ids mean the same: 1 and 1.0, "a" and "\u0061".
func sameID(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, xok := sdkID(a)
	y, yok := sdkID(b)
	return xok && yok && x == y
}

// The id of a message, where it is certainly the message's own: right after
// the version at its very beginning, or the last member before its last brace.
var (
	headID = regexp.MustCompile(`^\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(-?\d{1,15}|"[ !#-\[\]-~]{1,100}")\s*,`)
	tailID = regexp.MustCompile(`,\s*"id"\s*:\s*(-?\d{1,15}|"[ !#-\[\]-~]{1,100}")\s*\}$`)
)

// edgeID finds the id of a line that is too long or too deep to be taken
// apart, or nil, so that its sender does not wait for ever.
func edgeID(f *frame) []byte {
	end := f.tail
	if !f.long {
		end = f.data[max(0, len(f.data)-edge):]
	}
	if m := headID.FindSubmatch(f.data[:min(edge, len(f.data))]); m != nil {
		return m[1]
	}
	if m := tailID.FindSubmatch(end); m != nil {
		return m[1]
	}
	return nil
}
