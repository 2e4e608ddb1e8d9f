package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"swank-mcp/mcpbridge/aside"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/stdio"
)

// batchVersion is the only version of the protocol with batches, which its servers must take.
// It is that of a request which names none, too.
const batchVersion = "2025-03-26"

// parse takes from a body what its way depends on, with the SDK's eyes: what this would take
// for another call than the SDK does would pass by the limits. So a body that can be read in
// two ways is refused: one with more behind its end, or with a name twice; and so is an id that
// the SDK does not give back as it was sent. Version is that of the request, most how many
// messages its batch may have.
func parse(body []byte, version string, most int) (m message, wrong *jsonrpc.Error) {
	if !json.Valid(body) {
		return m, notJSON(body)
	}
	if body = bytes.Trim(body, " \t\r\n"); body[0] != '[' {
		return parseMessage(body)
	}
	if m.batch, wrong = parseBatch(body, version, most); wrong == nil {
		m.raw = batchBody(m.batch)
	}
	return m, wrong
}

// parseBatch parses each message of a batch.
func parseBatch(body []byte, version string, most int) ([]message, *jsonrpc.Error) {
	elements := rawtext.Elements(body)
	switch n := len(elements); {
	case version != "" && version != batchVersion:
		return nil, invalid("a batch of messages, which only protocol %s has, in a request of protocol %s. Send each message in a request of its own.", batchVersion, clip(version))
	case n == 0:
		return nil, invalid("the batch is empty. Send one JSON-RPC 2.0 message.")
	case n > most:
		return nil, invalid("a batch of %d messages; at most %d are taken. Send the others in requests of their own.", n, most)
	}
	batch := make([]message, 0, len(elements))
	seen := map[jsonrpc.ID]bool{}
	for i, raw := range elements {
		m, wrong := parseMessage(raw)
		switch {
		case wrong != nil:
		case m.meta:
			wrong = invalid("it names its version of the protocol in _meta, and that version has no batches. Send it in a request of its own.")
		case m.Method == "initialize":
			wrong = invalid("initialize is not for batches. Send it in a request of its own, before the others.")
		case m.Method != "" && m.id.IsValid() && seen[m.id]:
			wrong = invalid("its id %s is that of another message of the batch. Send it with an id of its own.", clip(string(m.ID)))
		}
		if wrong != nil {
			wrong.Message = fmt.Sprintf("Message %d of the batch: %s Nothing of the batch was done.", i+1, wrong.Message)
			return nil, wrong
		}
		seen[m.id] = seen[m.id] || m.Method != ""
		batch = append(batch, m)
	}
	return batch, nil
}

// batchBody returns a batch of messages as the SDK is to read it.
func batchBody(messages []message) []byte {
	raw := make([][]byte, len(messages))
	for i, m := range messages {
		raw[i] = m.raw
	}
	return slices.Concat([]byte{'['}, bytes.Join(raw, []byte{','}), []byte{']'})
}

// parseMessage parses one message, valid JSON. Long arguments of a tool are put aside first, so that
// nothing copies them.
func parseMessage(raw []byte) (m message, wrong *jsonrpc.Error) {
	id := rawtext.Member(raw, "id")
	if isID(id) {
		m.ID = id
	}
	if wrong := twice(raw); wrong != nil {
		return m, wrong
	}
	answer := rawtext.Member(raw, "method") == nil // and an answer to what could not be read has the id null
	if id != nil && !rawtext.Exact(id) && !(answer && string(id) == "null") {
		return m, invalid("id is %s; valid is %s.", clip(string(id)), rawtext.ExactKinds)
	}
	m.raw = raw
	if string(rawtext.Member(raw, "method")) == `"tools/call"` {
		var params []byte
		if params, m.aside = aside.Cut(rawtext.Member(raw, "params")); m.aside != nil {
			m.raw = aside.Replace(raw, "params", params)
		}
	}
	read, err := jsonrpc.DecodeMessage(m.raw)
	if err != nil {
		return m, invalid("%s. Send one JSON-RPC 2.0 message.", clip(err.Error()))
	}
	if call, ok := read.(*jsonrpc.Request); ok {
		m.Method, m.id = call.Method, call.ID
		wrong = m.params(call.Params)
	}
	return m, wrong
}

// params takes from the params of a request what its way depends on.
func (m *message) params(params json.RawMessage) *jsonrpc.Error {
	meta := rawtext.Member(params, "_meta")
	m.Tool, m.meta = rawtext.Member(params, "name"), rawtext.Member(meta, metaVersion) != nil
	if m.Method == "notifications/cancelled" {
		if id := rawtext.Member(params, "requestId"); id != nil && !rawtext.Exact(id) {
			return invalid("params.requestId is %s; valid is %s.", clip(string(id)), rawtext.ExactKinds)
		}
	}
	return stdio.CheckToken(params)
}

// isID reports whether a message can have an answer by the id.
func isID(id json.RawMessage) bool {
	return len(id) > 0 && utf8.Valid(id) && (id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9')
}

// twice refuses a message that has a name twice, at any depth.
func twice(raw []byte) *jsonrpc.Error {
	pair, found := rawtext.Twice(raw)
	if !found {
		return nil
	}
	where := "the message"
	if pair.In != "" {
		where = clip(pair.In)
	}
	if pair.First == pair.Again {
		return invalid("%s has %q twice: send it once.", where, clip(pair.First))
	}
	return invalid("%s has %q and %q, which differ by case alone: send one of them.", where, clip(pair.First), clip(pair.Again))
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
func clip(s string) string { return rawtext.Clip(s, 200) }
