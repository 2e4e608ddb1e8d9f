package tools

import (
	"context"

	"swank-mcp/mcpbridge/args"
)

var completeSymbolTool = Tool{
	Name:  "complete-symbol",
	Title: "Complete symbol",
	Set:   Inspect,
	Doc: "Complete the beginning of a symbol's or package's name, also by parts (m-v-b for multiple-value-bind), " +
		"with what each names and its lambda list.",
	Params: []args.Param{
		{Name: "prefix", Kind: args.Text, Required: true, Aliases: []args.Alias{{Name: "name"}, {Name: "symbol"}, {Name: "text"}},
			Doc: "Beginning of a name: foo, pkg:foo for what pkg exports, pkg::foo for all of it."},
		lookInParam,
		{Name: "limit", Kind: args.Integer, Def: 30.0, Min: 1, Max: 500, Doc: "Most names to show."},
	},
	Example: `{"prefix": "with-open"}`,
	Effect:  looks,
	run:     completeSymbol,
}

func completeSymbol(ctx context.Context, r *Request) (Reply, error) {
	prefix, pkg, limit := r.Named("prefix"), r.Text("package"), r.Integer("limit")
	if r.Err != nil {
		return Reply{}, r.Err
	}
	found, err := r.Session.CompleteSymbol(ctx, prefix, pkg, limit)
	return foundReply(found, r.lookupFailed(err, "prefix", prefix), "No name begins so. "+nextCall("apropos-search", "pattern", bareName(prefix)))
}
