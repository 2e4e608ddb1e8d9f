package tools

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/spool"
	"swank-mcp/swank/lisp"
)

// jobPrefix is what the handle of a job begins with, before its number.
const jobPrefix = "job-"

// jobNumber is the number in the handle of a job, and whether it is one.
func jobNumber(handle string) (int, bool) {
	number, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(handle)), jobPrefix)
	n, err := strconv.Atoi(number)
	return n, ok && err == nil
}

// backgroundText is the reply of an evaluation that goes on in the background.
func backgroundText(r *lisp.Result, in lisp.Request) string {
	what := fmt.Sprintf("job-%d runs in the background", r.Job)
	if !in.Background {
		what = fmt.Sprintf("The evaluation has not ended after %s. It goes on as job-%d", render.Age(in.Timeout), r.Job)
	}
	var p render.Parts
	fmt.Fprintf(&p, "%s, for at most %s.", what, render.Age(r.Limit))
	p.Context(r)
	fmt.Fprintf(&p, "\nabort-evaluation {\"evaluation\": %[1]d} ends it; this shows its output and result:\nNext: read-output {\"handle\": \"job-%[1]d\"}", r.Job)
	return p.String()
}

// jobText is the output of a job so far, or its result.
func jobText(j *lisp.Job) string {
	if j.Result != nil {
		text, _ := render.Result(j.Result, render.View{Timeout: j.Limit})
		return text
	}
	var p render.Parts
	p.Output(&lisp.Result{Stdout: j.Stdout, Stderr: j.Stderr})
	return p.String()
}

// jobLine says in a line how a job is.
func jobLine(j *lisp.Job) string {
	how := "ended after"
	if j.Result == nil {
		how = "running for"
	}
	return fmt.Sprintf("job-%d, %s %s: %s", j.Number, how, render.Age(j.Took), render.OneLine(j.Code))
}

// readJob is a job as a text to be read like that of a long reply.
func (r *Request) readJob(ctx context.Context, number int) (line string, t spool.Text, err error) {
	j, err := r.Session.Job(ctx, number)
	if err != nil {
		return "", spool.Text{}, err
	}
	text := jobText(j)
	return "; " + jobLine(j), spool.NewText(fmt.Sprintf("%s%d", jobPrefix, number), text, utf8.RuneCountInString(text)), nil
}

// abortJob ends the job of that number; handled is false if none runs.
func (r *Request) abortJob(ctx context.Context, number int) (out Reply, handled bool, err error) {
	j, err := r.Session.AbortJob(ctx, number)
	if gone := (*lisp.JobError)(nil); errors.As(err, &gone) {
		return Reply{}, false, nil
	}
	if err != nil {
		return Reply{}, true, err
	}
	if f := j.Result.Failure; f != nil && f.Type == "ABORTED" {
		var p render.Parts
		fmt.Fprintf(&p, "job-%d is aborted.", number)
		p.Output(j.Result)
		return Reply{Text: p.String()}, true, nil
	}
	text, failed := render.Result(j.Result, render.View{Timeout: j.Limit}) // it came to another end first
	return Reply{Text: text, Failed: failed}, true, nil
}

// jobErrorText is the text of a request about a job that there is not.
func jobErrorText(e *lisp.JobError) string {
	problem := fmt.Sprintf("There is no job-%d.", e.Number)
	if len(e.Jobs) == 0 {
		return render.Error("UNKNOWN-JOB", problem, `Nothing has been evaluated in the background in this session: evaluate-lisp with "background": true does that.`)
	}
	var b strings.Builder
	b.WriteString(problem + " There are:")
	for _, j := range e.Jobs {
		b.WriteString("\n" + jobLine(&j))
	}
	return render.Error("UNKNOWN-JOB", b.String(), fmt.Sprintf("Next: read-output {\"handle\": \"job-%d\"}", e.Jobs[len(e.Jobs)-1].Number))
}
