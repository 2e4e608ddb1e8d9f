package tools

import (
	"context"

	"swank-mcp/mcpbridge/args"
)

var memoryReportTool = Tool{
	Name:  "memory-report",
	Title: "Report memory",
	Set:   Profile,
	Doc: "Show how full the heap of the Lisp image is and of what: bytes and numbers of objects by type, by age, " +
		"and what the garbage collector did. Takes about a second at most.",
	Params:  []args.Param{limitParam("types", 15, 200)},
	Example: `{"limit": 30}`,
	Effect:  Effect{ReadOnly: true},
	run:     memoryReport,
}

func memoryReport(ctx context.Context, r *Request) (Reply, error) {
	limit := r.Integer("limit")
	f, err := r.Session.MemoryReport(ctx, limit)
	return foundReply(f, err, "")
}
