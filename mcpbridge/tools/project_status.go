package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/spool"
	"swank-mcp/swank/lisp"
)

var projectStatusTool = Tool{
	Name:  "project-status",
	Title: "Project status",
	Set:   Core,
	Shown: true,
	Doc:   "Tell how the image differs from the files of the project's loaded systems, line by line.",
	Params: []args.Param{
		{Name: "name", Kind: args.Text, Aliases: []args.Alias{{Name: "symbol"}, {Name: "definition"}},
			Doc: "Show the diff of this definition."},
		{Name: "load", Kind: args.Flag, Doc: "First load what was saved."},
		hidden(timeoutParam(loadTimeout, "Seconds, more than 0, that a fresh image may take to load the files.")),
	},
	Example: `{}`,
	Effect: Effect{ReadOnly: true, Idempotent: true, Writes: "load",
		InTurn: func(a *args.Args) bool { return a.Flag("load") }},
	run: projectStatus,
}

func projectStatus(ctx context.Context, r *Request) (Reply, error) {
	loaded := ""
	if r.Flag("load") {
		if r.ReadOnly {
			return Reply{}, r.Fail("load changes the image, and swank-mcp was started with --read-only.")
		}
		Reload(ctx, r.Session, r.Spool, r.Progress, func(text string) { loaded = text + "\n\n" })
	}
	fresh := r.sessionRequest()
	if r.ReadOnly {
		fresh.Timeout = 0 // files that are loaded run code
	}
	if r.Text("name") == "" {
		status, err := r.Session.ProjectStatus(ctx, fresh)
		if err != nil {
			return Reply{}, err
		}
		if r.ReadOnly && status.Unjudged != nil {
			status.Unjudged = errReadOnly
		}
		text := loaded + statusText(status, r.Spool)
		if status.Unjudged != nil && status.Next == nil && r.Takes("load-system") {
			text += "\n\n" + render.Safe(nextFlagged("load-system", "system", status.Systems[len(status.Systems)-1], "fresh"))
		}
		return Reply{Text: text}, nil
	}
	name := r.Named("name")
	if r.Err != nil {
		return Reply{}, r.Err
	}
	found, err := r.Session.ProjectDefinitions(ctx, name, fresh)
	if failed := lookupError(err); failed != nil {
		err = &lookError{failed, nextCall("find-definition", "name", name)}
	}
	if err != nil {
		return Reply{}, err
	}
	var texts []string
	for _, d := range found {
		texts = append(texts, definitionText(d))
	}
	return Reply{Text: loaded + strings.Join(texts, "\n\n")}, nil
}

// errReadOnly says why project-status has started no fresh image.
var errReadOnly = errors.New("swank-mcp was started with --read-only")

// nextFlagged returns nextCall's line, with an argument that is true unless flag is "".
func nextFlagged(tool, argument, value, flag string) string {
	next := nextCall(tool, argument, value)
	if flag != "" {
		next = strings.TrimSuffix(next, "}") + `, "` + flag + `": true}`
	}
	return next
}

// findingsShown bounds the lines of a reply; read-output has the others.
const findingsShown = 25

// statusText is a line for each finding, and the call that helps.
func statusText(s *lisp.ProjectStatus, kept *spool.Spool) string {
	if len(s.Systems) == 0 {
		return "No system of the project is loaded."
	}
	what := fmt.Sprintf("%s, %s, %s", systemsText(s.Systems, 8), render.Plural(s.Files, "file"), render.Plural(s.Definitions, "definition"))
	unjudged := ""
	if s.Unjudged != nil {
		unjudged = "What else may differ is not known: no fresh image has loaded the files: " + render.OneLine(s.Unjudged.Error()) + "."
	}
	switch {
	case len(s.Findings) == 0 && unjudged != "":
		return render.Safe("Nothing is certain to differ from the files of " + what + ". " + unjudged)
	case len(s.Findings) == 0:
		return "What is loaded is what is on disk: " + render.Safe(what) + "."
	}
	lines := []string{"The image differs from the files of " + render.Safe(what) + ":"}
	for _, f := range s.Findings {
		lines = append(lines, "- "+render.Safe(render.OneLine(f)))
	}
	if rest := len(lines) - 1 - findingsShown; rest > 0 {
		text := strings.Join(lines[1+findingsShown:], "\n")
		if s.More > 0 {
			text += fmt.Sprintf("\n- and %s more", render.Count(s.More))
		}
		lines = append(lines[:1+findingsShown], fmt.Sprintf("- and %s more%s", render.Count(rest+s.More), toRead(kept, text)))
	}
	if unjudged != "" {
		lines = append(lines, render.Safe(unjudged))
	}
	if n := s.Next; n != nil {
		lines = append(lines, "", render.Safe(nextFlagged(n.Tool, n.Argument, n.Value, n.Flag)))
	}
	return strings.Join(lines, "\n")
}

// definitionText says how the two texts of a definition differ, with the differences.
func definitionText(d lisp.ProjectDefinition) string {
	text := render.Safe(d.Label + ": " + d.Said)
	switch {
	case d.Image != "" && d.Disk != "":
		if changes := diffText(d.ImagePlace, withNewline(d.Image), d.DiskPlace, withNewline(d.Disk)); changes != "" {
			text += "\n" + changes
		}
	case d.Image != "":
		text += "\n" + render.Safe(d.Image)
	case d.Disk != "":
		text += "\n" + render.Safe(d.DiskPlace+"\n"+d.Disk)
	}
	return text
}

func withNewline(text string) string { return strings.TrimRight(text, "\n") + "\n" }
