package mcpbridge

import "context"

var completeSymbolTool = tool{
	name:  "complete-symbol",
	title: "Complete symbol",
	set:   inInspect,
	doc: "Complete the beginning of a symbol's or package's name, also by parts (m-v-b for multiple-value-bind), " +
		"with what each names and its lambda list.",
	params: func(limits) []param {
		return []param{
			{name: "prefix", kind: kindText, required: true, aliases: []alias{{name: "name"}, {name: "symbol"}, {name: "text"}},
				doc: "Beginning of a name: foo, pkg:foo for what pkg exports, pkg::foo for all of it."},
			lookInParam,
			{name: "limit", kind: kindInteger, def: 30.0, min: 1, max: 500, doc: "Most names to show."},
		}
	},
	example:    `{"prefix": "with-open"}`,
	readOnly:   true,
	idempotent: true,
	run:        completeSymbol,
}

func completeSymbol(ctx context.Context, r *request) (reply, error) {
	prefix, pkg, limit := r.named("prefix"), r.text("package"), r.integer("limit")
	if r.err != nil {
		return reply{}, r.err
	}
	found, err := r.image.CompleteSymbol(ctx, r.session, prefix, pkg, limit)
	if err != nil {
		return reply{}, r.lookupFailed(err, "prefix", prefix)
	}
	return reply{text: foundText(found, "No name begins so. "+nextCall("apropos-search", "pattern", bareName(prefix)))}, nil
}
