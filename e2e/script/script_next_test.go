package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/sourcegraph/jsonrpc2"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

var nextLine = regexp.MustCompile(`(?m)^(?:; )?Next: (.*)$`)

// followNext checks the calls that reply advises: each is whole, and has arguments that the schema
// allows which the server shows; and the server takes one that changes nothing. Machines follow
// advice to the letter.
func followNext(c *scriptClient, reply string) error {
	for _, m := range nextLine.FindAllStringSubmatch(reply, -1) {
		tool, arguments, _ := strings.Cut(m[1], " ")
		var object map[string]any
		if err := json.Unmarshal([]byte(arguments), &object); err != nil {
			return fmt.Errorf("%s: the arguments are no JSON object: %w", m[0], err)
		}
		if strings.Contains(arguments, "…") {
			return fmt.Errorf("%s: the call is cut", m[0])
		}
		shown, err := c.shown()
		if err != nil {
			return err
		}
		t, ok := shown[tool]
		if !ok { // it can be called all the same, see the script tools-on-demand
			continue
		}
		if err := t.schema.Validate(object); err != nil {
			return fmt.Errorf("%s: %w", m[0], err)
		}
		if handle, _ := object["handle"].(string); !t.readOnly || strings.HasPrefix(handle, "job-") {
			continue // what follows in the script is about the state as it is; what of a job was read is no news
		}
		p, err := c.GoTool(tool, object, wire.CallOptions{})
		if err != nil {
			return err
		}
		text, isError, err := replied(p)
		if err != nil {
			return err
		}
		if isError && strings.Contains(text, "INVALID-ARGUMENTS") {
			return fmt.Errorf("%s: the server does not take it:\n%s", m[0], text)
		}
	}
	return nil
}

// shownTool holds what a server says of a tool.
type shownTool struct {
	readOnly bool // it changes nothing
	schema   *jsonschema.Resolved
}

// shown returns the tools that the server shows, by name.
func (c *scriptClient) shown() (map[string]shownTool, error) {
	if c.tools != nil {
		return c.tools, nil
	}
	ctx, stop := await.Limited(context.Background())
	defer stop()
	var list struct {
		Tools []struct {
			Name        string
			InputSchema jsonschema.Schema
			Annotations struct{ ReadOnlyHint bool }
		}
	}
	if err := c.Call(ctx, "tools/list", map[string]any{}, &list); err != nil {
		return nil, err
	}
	c.tools = map[string]shownTool{}
	for _, tool := range list.Tools {
		schema, err := tool.InputSchema.Resolve(nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", tool.Name, err)
		}
		c.tools[tool.Name] = shownTool{tool.Annotations.ReadOnlyHint, schema}
	}
	return c.tools, nil
}

// replied waits for the text of a reply.
func replied(p *wire.Pending) (reply string, isError bool, err error) {
	ctx, stop := await.Limited(context.Background())
	defer stop()
	var r wire.Result
	err = p.Wait(ctx, &r)
	if refused := (*jsonrpc2.Error)(nil); errors.As(err, &refused) {
		return refused.Message, true, nil
	}
	return r.Text(), r.IsError, err
}
