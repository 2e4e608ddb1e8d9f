package tools

import (
	"context"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

var inspectObjectTool = Tool{
	Name:  "inspect-object",
	Title: "Inspect object",
	Set:   Inspect,
	Shown: true,
	Doc: "Show what the value of a form is made of, under a handle such as obj-1, or go on from a handle. " +
		"In code (swank-mcp:object \"obj-1\" \"0.name\") is that part; setf changes it. " +
		"A handle lasts as long as the object, at least until 8 more are inspected.",
	Params: []args.Param{
		{Name: "code", Kind: args.Text, Doc: "The form.", Aliases: []args.Alias{{Name: "form"}, {Name: "expression"}}},
		{Name: "handle", Kind: args.Text, OrNumber: true, Doc: "A handle, instead of code.", Aliases: []args.Alias{{Name: "id"}, {Name: "object"}}},
		{Name: "path", Kind: args.Text, OrNumber: true, Doc: "To a part: 2, or slot.0.key."},
		{Name: "offset", Kind: args.Integer, Def: 0.0, Min: 0, Max: 1e9, Doc: "First part shown."},
		{Name: "limit", Kind: args.Integer, Def: 40.0, Min: 1, Max: 500, Hidden: true, Doc: "Parts to show."},
		{Name: "package", Kind: args.Text, Hidden: true, Doc: "Package to read the code in."},
		quietTimeout,
	},
	Example: `{"code": "(find-class 'standard-object)"}`,
	Effect:  Effect{Destructive: true, OpenWorld: true, InTurn: withCode, Looks: true},
	run:     inspectObject,
}

func inspectObject(ctx context.Context, r *Request) (Reply, error) {
	code, handle := r.Text("code"), strings.TrimSpace(r.Text("handle"))
	v := lisp.View{Path: r.Text("path"), Offset: r.Integer("offset"), Limit: r.Integer("limit")}
	in := r.sessionRequest()
	switch {
	case strings.TrimSpace(code) == "" && handle == "":
		return Reply{}, r.Fail("inspect-object needs code, a form whose value is inspected, or handle, such as obj-1.")
	case strings.TrimSpace(code) != "" && handle != "":
		return Reply{}, r.Fail("inspect-object takes code or handle, not both.")
	}
	if handle != "" {
		f, err := r.Session.InspectHandle(ctx, handle, v)
		return foundReply(f, r.handleFailed(err, handle), "It has no parts.")
	}
	f, res, err := r.Session.Inspect(ctx, code, v, in)
	if err != nil {
		return Reply{}, err
	}
	if res.Failure != nil {
		more := ""
		if res.Failure.Type == "NO-SUCH-PART" {
			more = nextCall("inspect-object", "code", code)
		}
		return failedWork(res, in.Timeout, more), nil
	}
	p := render.Parts{}
	p.WriteString(render.Found(f, "It has no parts."))
	p.Context(res)
	return Reply{Text: p.String()}, nil
}

// handleFailed adds to a look-up's error the call that would work: the form
// again whose value is gone, the whole object where a part is not there.
func (r *Request) handleFailed(err error, handle string) error {
	failed := lookupError(err)
	switch {
	case failed == nil:
		return err
	case failed.Type == "UNKNOWN-HANDLE":
		return &lookError{failed, "Next: inspect-object " + r.Example}
	case len(failed.Names) > 0:
		return &lookError{failed, nextCall("inspect-object", "code", failed.Names[0])}
	}
	return &lookError{failed, nextCall("inspect-object", "handle", handle)}
}
