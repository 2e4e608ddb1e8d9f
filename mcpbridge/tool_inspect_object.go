package mcpbridge

import (
	"context"
	"strings"

	"swank-mcp/swank/lisp"
)

var inspectObjectTool = tool{
	name:  "inspect-object",
	title: "Inspect object",
	set:   inInspect,
	shown: true,
	doc: "Show what the value of a form is made of, under a handle such as obj-1, or go on from a handle. " +
		"In code (swank-mcp:object \"obj-1\" \"0.name\") is that part; setf changes it. " +
		"A handle lasts as long as the object, at least until 8 more are inspected.",
	params: func(o limits) []param {
		return append([]param{
			{name: "code", kind: kindText, doc: "The form.", aliases: []alias{{name: "form"}, {name: "expression"}}},
			{name: "handle", kind: kindText, doc: "Instead of code.", aliases: []alias{{name: "id"}, {name: "object"}}},
			{name: "path", kind: kindText, doc: "To a part: 2, or slot.0.key."},
			{name: "offset", kind: kindInteger, def: 0.0, min: 0, max: 1e9, doc: "First part shown."},
			{name: "limit", kind: kindInteger, def: 40.0, min: 1, max: 500, hidden: true, doc: "Parts to show."},
			{name: "package", kind: kindText, hidden: true, doc: "Package to read the code in."},
		}, quietTimeout(o)...)
	},
	example:     `{"code": "(find-class 'standard-object)"}`,
	destructive: true,
	openWorld:   true,
	ordered:     true,
	run:         inspectObject,
}

func inspectObject(ctx context.Context, r *request) (reply, error) {
	code, handle := r.text("code"), strings.TrimSpace(r.textOrNumber("handle"))
	v := lisp.View{Path: r.textOrNumber("path"), Offset: r.integer("offset"), Limit: r.integer("limit")}
	in := r.sessionRequest()
	switch {
	case r.err != nil:
	case strings.TrimSpace(code) == "" && handle == "":
		r.fail("inspect-object needs code, a form whose value is inspected, or handle, such as obj-1.")
	case strings.TrimSpace(code) != "" && handle != "":
		r.fail("inspect-object takes code or handle, not both.")
	}
	if r.err != nil {
		return reply{}, r.err
	}
	if handle != "" {
		r.admit()
		f, err := r.image.InspectHandle(ctx, r.session, handle, v)
		if err != nil {
			return reply{}, r.handleFailed(err, handle)
		}
		return reply{text: foundText(f, "It has no parts.")}, nil
	}
	f, res, err := r.image.Inspect(ctx, r.session, code, v, in)
	if err != nil {
		return reply{}, err
	}
	if res.Failure != nil {
		more := ""
		if res.Failure.Type == "NO-SUCH-PART" {
			more = nextCall("inspect-object", "code", code)
		}
		return failedWork(res, View{Timeout: in.Timeout}, more), nil
	}
	p := parts{}
	p.WriteString(foundText(f, "It has no parts."))
	p.context(res)
	return reply{text: p.String()}, nil
}

// handleFailed adds to a look-up's error the call that would work: the form
// again whose value is gone, the whole object where a part is not there.
func (r *request) handleFailed(err error, handle string) error {
	var failed *lisp.LookupError
	switch failed = lookupError(err); {
	case failed == nil:
		return err
	case failed.Type == "UNKNOWN-HANDLE":
		return &lookError{failed, "Next: inspect-object " + r.example}
	case len(failed.Names) > 0:
		return &lookError{failed, nextCall("inspect-object", "code", failed.Names[0])}
	}
	return &lookError{failed, nextCall("inspect-object", "handle", handle)}
}
