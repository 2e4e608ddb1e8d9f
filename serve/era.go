package serve

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"swank-mcp/mcpbridge/aside"
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
	id     jsonrpc.ID      // as the SDK has it
	batch  []message       // those of a batch, which has nothing of the above

	raw   []byte           // as the SDK is to read it
	aside *aside.Arguments // that are not in raw, or nil
}

// keep has the store keep what is not in the message, or the messages of its batch, that the SDK
// reads. discard gives it up where no handler has taken it.
func (m message) keep(in *aside.Store) (discard func()) {
	all := append(slices.Clone(m.batch), m)
	for _, one := range all {
		in.Keep(one.aside)
	}
	return func() {
		for _, one := range all {
			in.Discard(one.aside)
		}
	}
}

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
	return slices.ContainsFunc(m.batch, message.needsImage)
}

// lets are the tools with which who has used up a limit sees what there is, and ends it.
var lets = []string{`"session-status"`, `"read-output"`, `"abort-evaluation"`}

// evaluates reports whether the answer may take code to be run.
func (m message) evaluates() bool {
	if m.batch != nil {
		return slices.ContainsFunc(m.batch, message.evaluates)
	}
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
