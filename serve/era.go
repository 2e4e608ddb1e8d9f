package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
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
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name json.RawMessage            `json:"name"`
		Meta map[string]json.RawMessage `json:"_meta"`
	} `json:"params"`
	batch bool
}

// peek reads the body of a request, which can then be read again, and what it says of its
// way. A body that is no JSON-RPC has no method: the SDK says what is wrong with it. The
// error is that of reading.
func peek(w http.ResponseWriter, r *http.Request) (m message, err error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return m, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '[' {
		m.batch = true
		return m, nil
	}
	if json.Unmarshal(body, &m) != nil {
		m = message{Method: m.Method, ID: m.ID}
	}
	return m, nil
}

// modern reports whether a request is of the era without handshakes.
func (m message) modern(r *http.Request) bool {
	return r.Header.Get(versionHeader) >= newEra || m.Params.Meta[metaVersion] != nil || m.Method == "server/discover"
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
	return m.needsImage() && !(m.Method == "tools/call" && slices.Contains(lets, string(m.Params.Name)))
}

// stays reports whether the request is answered as long as the client wants, and uses
// nothing meanwhile.
func (m message) stays() bool { return m.Method == "subscriptions/listen" }

// tooLarge reports whether err is of a body that is longer than maxBody.
func tooLarge(err error) bool {
	var size *http.MaxBytesError
	return errors.As(err, &size)
}

// refusal is a JSON-RPC error for a client, which its model may come to read.
func refusal(id json.RawMessage, text string) []byte {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	out, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": codeRefused, "message": text}})
	if err != nil { // the id is no JSON
		return refusal(nil, text)
	}
	return out
}

// codeRefused is the JSON-RPC code for what the server cannot do now. Those from -32020 on
// are the protocol's.
const codeRefused = -32000
