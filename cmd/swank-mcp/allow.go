package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"swank-mcp/people/control"
)

// allowances are what may be said to allow, and what is printed then.
var allowances = map[string]string{
	"everything": "Agents evaluate without asking you.",
	"new":        "You are asked before an agent redefines what it has not defined.",
	"nothing":    "You are asked before each evaluation.",
	"yes":        "Allowed: ",
	"no":         "Not allowed: ",
}

// allow says what agents may do without asking, or answers a question.
func (c *command) allow(ctx context.Context) error {
	at := slices.IndexFunc(c.args, func(arg string) bool { return allowances[arg] != "" })
	if at < 0 {
		return fmt.Errorf("%w: allow takes everything, new or nothing, or answers a question by yes or no, as in: swank-mcp allow yes", errUsage)
	}
	word, more := c.args[at], c.args[at+1:]
	c.args = c.args[:at]
	answers := word == "yes" || word == "no"
	number, err := 0, error(nil)
	if len(more) == 1 && answers {
		number, err = strconv.Atoi(more[0])
	}
	if err != nil || len(more) > 1 || len(more) == 1 && !answers {
		return fmt.Errorf("%w: after allow %s there may be the number of a question, and nothing after another word; as in: swank-mcp allow yes 3", errUsage, word)
	}
	r, err := c.server(ctx, "allow")
	if err != nil {
		return err
	}
	if !answers {
		a, err := r.Allow(ctx, word)
		if err != nil || c.json {
			return c.printed(a, err)
		}
		text := allowances[word]
		if word != "everything" {
			text += fmt.Sprintf(" To answer: y or n in swank-mcp watch %s, or swank-mcp allow %[1]s yes|no", r.ID)
		}
		fmt.Fprintln(c.stdout, text)
		return nil
	}
	if number == 0 {
		if number, err = r.onlyQuestion(word); err != nil {
			return err
		}
	}
	a, err := r.Answer(ctx, number, word == "yes")
	if err != nil || c.json {
		return c.printed(a, err)
	}
	fmt.Fprintln(c.stdout, allowances[word]+oneLine(a.Question.Text))
	return nil
}

// onlyQuestion is the number of the question that is open, if it is one.
func (r *running) onlyQuestion(word string) (int, error) {
	open := r.status.Questions
	switch len(open) {
	case 0:
		return 0, fmt.Errorf("nobody asks you anything")
	case 1:
		return open[0].Number, nil
	}
	var lines []string
	for _, q := range open {
		lines = append(lines, "  "+questionText(q))
	}
	return 0, fmt.Errorf("%d questions are open; name one, as in: swank-mcp allow %s %s %d\n%s", len(open), r.ID, word, open[0].Number, strings.Join(lines, "\n"))
}

func questionText(q control.Question) string {
	return fmt.Sprintf("%d: %s (%.0f s left)", q.Number, oneLine(q.Text), max(0, time.Until(q.Until).Seconds()))
}
