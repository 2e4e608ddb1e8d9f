package tools

import (
	"context"
	"fmt"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

var listPackagesTool = Tool{
	Name:  "list-packages",
	Title: "List packages",
	Set:   Core,
	Shown: true,
	Doc: "List the packages of the image, with nicknames and numbers of external symbols, " +
		"marking the current one and those that the session made.",
	Params: []args.Param{
		{Name: "filter", Kind: args.Text, Doc: "Only packages with this in their name or a nickname, in any case."},
		{Name: "kind", Kind: args.Text, Def: "user", Enum: []string{"user", "session", "all"},
			Doc: "user: without those of the implementation; session: made by this session; all."},
	},
	Example: `{"filter": "alexandria"}`,
	Effect:  looks,
	run:     listPackages,
}

func listPackages(ctx context.Context, r *Request) (Reply, error) {
	filter, kind := r.Text("filter"), r.Text("kind")
	all, err := r.Session.Packages(ctx)
	if err != nil {
		return Reply{}, err
	}
	return Reply{Text: packagesText(all, filter, kind)}, nil
}

func packagesText(all []lisp.Package, filter, kind string) string {
	var out strings.Builder
	shown, left := 0, 0
	for _, p := range all {
		switch {
		case !packageMatches(p, filter), kind == "session" && !p.Own:
		case kind != "all" && p.Implementation && !p.Current:
			left++
		default:
			shown++
			out.WriteString(packageLine(p))
		}
	}
	if shown == 0 {
		fmt.Fprintf(&out, "No package matches%s.\n", quotedFilter(filter))
	}
	if left > 0 {
		fmt.Fprintf(&out, "; %s of the implementation left out; {\"kind\": \"all\"} shows them.\n", render.Plural(left, "package"))
	}
	return strings.TrimRight(out.String(), "\n")
}

func packageLine(p lisp.Package) string {
	line := "- " + p.Name
	if len(p.Nicknames) > 0 {
		line += " (" + strings.Join(p.Nicknames, ", ") + ")"
	}
	if p.Externals > 0 {
		line += ", " + render.Count(int64(p.Externals)) + " external"
	}
	if p.Own {
		line += ", made by this session"
	}
	if p.Current {
		line += ", current"
	}
	return render.Safe(line) + "\n"
}

func packageMatches(p lisp.Package, filter string) bool {
	filter = strings.ToUpper(filter)
	for _, name := range append([]string{p.Name}, p.Nicknames...) {
		if strings.Contains(strings.ToUpper(name), filter) {
			return true
		}
	}
	return false
}

func quotedFilter(filter string) string {
	if filter == "" {
		return ""
	}
	return fmt.Sprintf(" %q", filter)
}
