package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/kept"
)

var checkpointTool = Tool{
	Name:  "checkpoint",
	Title: "Checkpoint",
	Set:   Core,
	Doc: "Keep a copy of the whole image as it is now, under a name, for undo to go back to. " +
		"Without a name, list the checkpoints: those with a name, and those that were taken while the image was idle.",
	Params: []args.Param{
		{Name: "name", Kind: args.Text, Doc: "Name for the new one."},
		{Name: "drop", Kind: args.Text, Doc: "Name or number of one to end instead."},
		{Name: "disk", Kind: args.Flag, Doc: "Save it to the disk, too, where serve --resume NAME finds it."},
	},
	Example: `{"name": "before-refactoring"}`,
	Effect:  Effect{InTurn: func(a *args.Args) bool { return a.Text("name") != "" }},
	run:     checkpoint,
}

func checkpoint(ctx context.Context, r *Request) (Reply, error) {
	name, drop := r.Text("name"), r.Text("drop")
	switch {
	case name != "" && drop != "":
		return Reply{}, &args.Error{Problem: "name and drop are both given.", Advice: "Next: checkpoint " + `{"drop": ` + rawtext.Quote(drop) + `}`}
	case r.Flag("disk") && name == "":
		return Reply{}, &args.Error{Problem: "disk is true, and name is missing: what is on the disk has a name.", Advice: `Next: checkpoint {"name": "before-refactoring", "disk": true}`}
	case drop != "":
		if !r.Session.DropCheckpoint(drop) {
			list, _ := r.Session.Checkpoints()
			return Reply{}, &lisp.NoCheckpointError{Checkpoints: list, To: drop, Drop: true}
		}
		return Reply{Text: render.Safe("Dropped: checkpoint " + drop)}, nil
	case name == "":
		list, obstacle := r.Session.Checkpoints()
		text := "No checkpoint."
		lines := append(CheckpointLines(list), onDiskLines(r.Session.CheckpointsOnDisk())...)
		if len(lines) > 0 {
			text = strings.Join(lines, "\n")
		}
		if obstacle != nil {
			text += "\n; None was taken last: " + obstacle.Error() + "."
		}
		return Reply{Text: render.Safe(text)}, nil
	case strings.ContainsAny(name, " \t\n\"") || strings.Trim(name, "0123456789") == "":
		return Reply{}, &args.Error{Problem: fmt.Sprintf("name is %s: a name has no blank and is not a number.", rawtext.Quote(name)), Advice: r.Next()}
	}
	if r.Flag("disk") {
		if err := kept.CheckName(name); err != nil {
			return Reply{}, &args.Error{Problem: "name is refused: " + err.Error() + ".", Advice: `Next: checkpoint {"name": "before-refactoring", "disk": true}`}
		}
		if slices.ContainsFunc(r.Session.CheckpointsOnDisk(), func(c lisp.OnDisk) bool { return c.Name == name }) {
			return Reply{}, nameInUse(name, "one on the disk")
		}
	}
	c, err := r.Session.TakeCheckpoint(ctx, name, r.Limits.Timeout)
	if errors.Is(err, lisp.ErrCheckpointExists) && r.Flag("disk") {
		return r.saveCheckpoint(fmt.Sprintf("Checkpoint %s was there.", name), name)
	}
	if errors.Is(err, lisp.ErrCheckpointExists) {
		return Reply{}, nameInUse(name, "another checkpoint")
	}
	if err != nil {
		return Reply{}, err
	}
	text := fmt.Sprintf("Checkpoint %s taken at %s.\nNext, to go back to it: undo {\"to\": %s}",
		c.Name, c.Taken.Format(time.TimeOnly), rawtext.Quote(c.Name))
	if r.Flag("disk") {
		return r.saveCheckpoint(text, name)
	}
	return Reply{Text: render.Safe(text)}, nil
}

func nameInUse(name, whose string) error {
	return &args.Error{
		Problem: fmt.Sprintf("name is %q, which %s has. Take another name, or drop that one.", name, whose),
		Advice:  fmt.Sprintf(`Next: checkpoint {"drop": %s}`, rawtext.Quote(name)),
	}
}

// saveCheckpoint has the checkpoint saved, and says so after text.
func (r *Request) saveCheckpoint(text, name string) (Reply, error) {
	file, err := r.Session.SaveCheckpoint(name)
	switch {
	case errors.Is(err, kept.ErrCoreExists):
		return Reply{}, nameInUse(name, "one on the disk")
	case err != nil:
		return Reply{}, err
	}
	text += fmt.Sprintf("\n; It is being saved to %s; a later reply says when that is done. To go on from it: swank-mcp serve --resume %s", file, name)
	return Reply{Text: render.Safe(text)}, nil
}

// onDiskLines describes each of the checkpoints on the disk in a line.
func onDiskLines(list []lisp.OnDisk) (lines []string) {
	for _, c := range list {
		if c.Saving {
			lines = append(lines, fmt.Sprintf("On disk: %s, being saved for %s", c.Name, render.Age(time.Since(c.Time))))
			continue
		}
		if c.Foreign {
			lines = append(lines, fmt.Sprintf("On disk: %s, which no server of this user's has saved", c.Name))
			continue
		}
		lines = append(lines, fmt.Sprintf("On disk: %s of %s, %s, %d MB", c.Name, c.Time.Local().Format("2006-01-02 15:04:05"), c.Summary, c.Size>>20))
	}
	return lines
}

// nearName returns the name of a checkpoint that was meant by one that none has, or "".
func nearName(name string, list []lisp.Checkpoint) string {
	if strings.Trim(name, "0123456789") == "" {
		return "" // a number is no misspelling
	}
	var names []string
	for _, c := range list {
		if c.Name != "" {
			names = append(names, c.Name)
		}
	}
	return args.Misspelled(name, names)
}

// CheckpointLines describes each of the checkpoints in a line, newest first.
func CheckpointLines(list []lisp.Checkpoint) (lines []string) {
	for i := len(list) - 1; i >= 0; i-- {
		c := list[i]
		text := fmt.Sprintf("%d", c.Number)
		if c.Name != "" {
			text = c.Name
		}
		text += " of " + c.Taken.Format(time.TimeOnly)
		if c.After != "" {
			text += ", after " + c.After
		}
		switch {
		case c.Undone:
			text += "; undone"
		case len(c.Since) > 0:
			text += "; " + render.Plural(len(c.Since), "call") + " since"
		}
		lines = append(lines, text)
	}
	return lines
}

// noCheckpointText says what lacks, and names the checkpoints that there are. It names no
// call that goes back to one, unless that is what was meant: that would undo everything.
func noCheckpointText(e *lisp.NoCheckpointError) string {
	const reset = "reset-session undoes all that the session has defined."
	there := ""
	if len(e.Checkpoints) > 0 {
		there = " There are:\n" + strings.Join(CheckpointLines(e.Checkpoints), "\n")
	}
	problem, next := "", ""
	switch {
	case e.To != "":
		problem = fmt.Sprintf("No checkpoint is called %s.", render.OneLine(e.To)) + there
		near := nearName(e.To, e.Checkpoints)
		switch {
		case e.Drop && near == "":
			next = "checkpoint {} lists those on the disk, too."
		case e.Drop:
			next = `Next: checkpoint {"drop": ` + rawtext.Quote(near) + `}`
		case near != "":
			next = `Next: undo {"to": ` + rawtext.Quote(near) + `}`
		}
	case e.Steps < 0:
		problem = "Nothing can be done again: no call was undone, or another one came since, or no checkpoint was taken of it."
	case len(e.Checkpoints) == 0:
		problem, next = "There is no checkpoint.", "One is taken when the image has been idle for a moment after an evaluation. "+reset
	default:
		problem = "No checkpoint lies before that: the first call in an image has none before it." + there
		next = reset
	}
	return render.Error("NO-CHECKPOINT", problem, next)
}

// obstacleText says why the image is not copied, and what to do then.
func obstacleText(e *lisp.ObstacleError) string {
	next := "Send the call again."
	switch {
	case e.Never:
		next = "reset-session undoes what the session has defined."
	case len(e.Threads) > 0:
		next = "list-threads shows the threads; by swank-mcp:*before-checkpoint* a program ends its own for a moment (docs/howto/checkpoints.md)."
	case strings.Contains(e.Why, "*BEFORE-CHECKPOINT*"): // functions of the program's
		next = "Define these functions anew, or evaluate (setf swank-mcp:*before-checkpoint* nil)."
	case !e.Passing:
		next = "End what is named, and send the call again."
	}
	return render.Error("NO-CHECKPOINT", "The image cannot be copied: "+e.Error()+". Nothing was done.", next)
}
