package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// The era of the protocol without handshakes begins with this version. The SDK serves it
// by a handler of its own: the one for handshakes refuses it, and it has no streams by GET.
const newEra = "2026-07-28"

const (
	versionHeader = "MCP-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
	metaVersion   = "io.modelcontextprotocol/protocolVersion"
)

// maxBody is the size in bytes of the longest request.
const maxBody = 4 << 20

// message is what the way of a request depends on.
type message struct {
	ID     json.RawMessage // a string, a number, or nothing
	Method string
	Tool   json.RawMessage // the name of the tool that is called
	meta   bool            // it names its version of the protocol in itself
	batch  bool
}

// parse takes from a body what its way depends on, with the SDK's eyes: what this would take
// for another call than the SDK does would pass by the limits. So a body that can be read in
// two ways is refused: one with more behind its end, or with a name twice. What batches have
// in them is not looked at: they count as calls that evaluate.
func parse(body []byte) (m message, wrong *jsonrpc.Error) {
	if !json.Valid(body) {
		return m, notJSON(body)
	}
	if bytes.TrimLeft(body, " \t\r\n")[0] == '[' {
		m.batch = true
		return m, nil
	}
	all, twice := members(body)
	m.ID = idIn(all)
	if twice != "" {
		return m, invalid("the message has %q twice: send it once", clip(twice))
	}
	read, err := jsonrpc.DecodeMessage(body)
	if err != nil {
		return m, invalid("%s. Send one JSON-RPC 2.0 message.", clip(err.Error()))
	}
	if call, ok := read.(*jsonrpc.Request); ok {
		m.Method = call.Method
		wrong = m.params(call.Params)
	}
	return m, wrong
}

// params takes from the params of a request what its way depends on.
func (m *message) params(params json.RawMessage) *jsonrpc.Error {
	all, twice := members(params)
	if twice != "" {
		return invalid("params has %q twice: send it once", clip(twice))
	}
	meta, twice := members(all["_meta"])
	if twice != "" {
		return invalid("_meta has %q twice: send it once", clip(twice))
	}
	m.Tool, m.meta = all["name"], meta[metaVersion] != nil
	return nil
}

// members returns the members of an object, which is valid JSON, by their exact names, and a
// name that occurs twice in it, or "". What is no object has none.
func members(object []byte) (all map[string]json.RawMessage, twice string) {
	in := json.NewDecoder(bytes.NewReader(object))
	if begin, err := in.Token(); err != nil || begin != json.Delim('{') {
		return nil, ""
	}
	all = map[string]json.RawMessage{}
	for in.More() {
		name, _ := in.Token()
		var value json.RawMessage
		if in.Decode(&value) != nil {
			break // it is no valid JSON
		}
		key, _ := name.(string)
		if _, again := all[key]; again {
			twice = key
		}
		all[key] = value
	}
	return all, twice
}

// idIn is the id of a message, if it can have an answer by it.
func idIn(all map[string]json.RawMessage) json.RawMessage {
	id := all["id"]
	if len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9') {
		return id
	}
	return nil
}

// notJSON says why body is not one value of JSON.
func notJSON(body []byte) *jsonrpc.Error {
	why := json.Unmarshal(body, new(json.RawMessage))
	return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: fmt.Sprintf("Parse error: the body is not one JSON value: %v. Send one JSON-RPC message, and nothing behind it.", why)}
}

func invalid(format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "Invalid Request: " + fmt.Sprintf(format, args...)}
}

// clip is s, which a client has sent, without what would make an answer long.
func clip(s string) string { return s[:min(len(s), 200)] }

// modern reports whether a request is of the era without handshakes.
func (m message) modern(r *http.Request) bool {
	return r.Header.Get(versionHeader) >= newEra || m.meta || m.Method == "server/discover"
}

// needsImage reports whether the answer may need the Lisp image.
func (m message) needsImage() bool {
	switch m.Method {
	case "tools/call", "resources/read", "completion/complete":
		return true
	}
	return m.batch
}

// lets are the tools with which who has used up a limit sees what there is, and ends it.
var lets = []string{`"session-status"`, `"read-output"`, `"abort-evaluation"`}

// evaluates reports whether the answer may take code to be run.
func (m message) evaluates() bool {
	return m.needsImage() && !(m.Method == "tools/call" && slices.Contains(lets, string(m.Tool)))
}

// stays reports whether the request is answered as long as the client wants, and uses
// nothing meanwhile.
func (m message) stays() bool { return m.Method == "subscriptions/listen" }

// tooLarge reports whether err is of a body that is longer than maxBody.
func tooLarge(err error) bool {
	var size *http.MaxBytesError
	return errors.As(err, &size)
}

// refuse answers with a JSON-RPC error, which the client's model may come to read.
func refuse(w http.ResponseWriter, status int, id json.RawMessage, why *jsonrpc.Error) {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": id, "error": why}) // whoever has asked has gone
}

// codeRefused is the JSON-RPC code for what the server cannot do now. Those from -32020 on
// are the protocol's.
const codeRefused = -32000
