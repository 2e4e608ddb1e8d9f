package mcpbridge

import "context"

var memoryReportTool = tool{
	name:  "memory-report",
	title: "Report memory",
	set:   inProfile,
	doc: "Show how full the heap of the Lisp image is and of what: bytes and numbers of objects by type, by age, " +
		"and what the garbage collector did. Takes about a second at most.",
	params: func(limits) []param {
		return []param{limitParam("types", 15, 200)}
	},
	example:  `{"limit": 30}`,
	readOnly: true,
	run:      memoryReport,
}

func memoryReport(ctx context.Context, r *request) (reply, error) {
	limit := r.integer("limit")
	if r.err != nil {
		return reply{}, r.err
	}
	f, err := r.image.MemoryReport(ctx, r.session, limit)
	if err != nil {
		return reply{}, err
	}
	return reply{text: foundText(f, "")}, nil
}
