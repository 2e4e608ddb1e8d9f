package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

var undoTool = Tool{
	Name:  "undo",
	Title: "Undo",
	Set:   Core,
	Shown: true,
	Doc:   "Take the whole image back to before the last call that may have changed it: definitions, values, packages. Files stay as they are.",
	Params: []args.Param{
		{Name: "steps", Kind: args.Integer, Def: 1.0, Min: -1000, Max: 1000,
			Doc: "How many calls; negative: do what was undone again."},
		{Name: "to", Kind: args.Text, Doc: "A checkpoint instead, by its name or number in session-status."},
	},
	Example: `{"steps": 1}`,
	Effect:  Effect{Destructive: true, InTurn: always},
	run:     undo,
}

func undo(ctx context.Context, r *Request) (Reply, error) {
	steps, to := int(r.Integer("steps")), r.Text("to")
	switch {
	case to != "" && r.Has("steps"):
		return Reply{}, &args.Error{Problem: "steps and to are both given.", Advice: "Next: undo " + `{"to": ` + rawtext.Quote(to) + `}`}
	case steps == 0:
		return Reply{}, &args.Error{Problem: "steps is 0.", Advice: r.Next()}
	}
	u, err := r.Session.Undo(ctx, steps, to, r.Limits.Timeout)
	if err != nil {
		return Reply{}, err
	}
	return Reply{Text: render.Safe(undoneText(u))}, nil
}

func undoneText(u *lisp.Undone) string {
	text := ""
	switch {
	case u.Aside:
		text = "Taken up again, beside what was done since it was undone: checkpoint " + u.To.Name + "\n"
	case u.Forward:
		text = "Done again: " + titles(u.Undone) + "\n"
	case len(u.Undone) > 0:
		text = "Undone: " + titles(u.Undone) + "\n"
	}
	text += "The image is as it was at " + u.To.Taken.Format(time.TimeOnly)
	if u.To.After != "" {
		text += ", after " + u.To.After
	}
	text += "."
	if u.Extra > 0 {
		text += fmt.Sprintf("\n; That is %d more than asked for: no checkpoint lies between.", u.Extra)
	}
	if !u.Forward {
		text += "\n; What was done outside of the image, in files for one, stays done."
		if u.Redo != "" {
			text += "\n; It cannot be done again: " + u.Redo + "."
		}
	}
	return text
}

// titles lists what was evaluated, the first of it by name.
func titles(all []string) string {
	const shown = 8
	if len(all) > shown {
		return strings.Join(all[:shown], "; ") + fmt.Sprintf("; and %d more", len(all)-shown)
	}
	return strings.Join(all, "; ")
}
