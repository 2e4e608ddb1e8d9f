package mcpbridge

import (
	"context"
	"fmt"
	"strings"

	"swank-mcp/swank/lisp"
)

var listPackagesTool = tool{
	name:  "list-packages",
	title: "List packages",
	set:   inCore,
	shown: true,
	doc: "List the packages of the Lisp image, with nicknames and numbers of external symbols, " +
		"marking the session's current package and those that the session made. " +
		"Packages of the implementation are left out unless kind is all.",
	params: func(limits) []param {
		return []param{
			{name: "filter", kind: kindText, doc: "Only packages with this in their name or a nickname, in any case."},
			{name: "kind", kind: kindText, def: "user", enum: []string{"user", "session", "all"},
				doc: "user: without those of the implementation; session: made by this session; all."},
		}
	},
	example:    `{"filter": "alexandria"}`,
	readOnly:   true,
	idempotent: true,
	run:        listPackages,
}

func listPackages(ctx context.Context, r *request) (reply, error) {
	filter, kind := r.text("filter"), r.text("kind")
	if r.err != nil {
		return reply{}, r.err
	}
	all, err := r.image.Packages(ctx, r.session)
	if err != nil {
		return reply{}, err
	}
	return reply{text: packagesText(all, filter, kind)}, nil
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
		fmt.Fprintf(&out, "; %s of the implementation left out; {\"kind\": \"all\"} shows them.\n", plural(left, "package"))
	}
	return strings.TrimRight(out.String(), "\n")
}

func packageLine(p lisp.Package) string {
	line := "- " + p.Name
	if len(p.Nicknames) > 0 {
		line += " (" + strings.Join(p.Nicknames, ", ") + ")"
	}
	if p.Externals > 0 {
		line += ", " + count(int64(p.Externals)) + " external"
	}
	if p.Own {
		line += ", made by this session"
	}
	if p.Current {
		line += ", current"
	}
	return sanitize(line) + "\n"
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
