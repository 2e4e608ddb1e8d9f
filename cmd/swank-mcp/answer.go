package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"swank-mcp/people/transcript"
)

// answering has the person who watches in a terminal answer questions there.
type answering struct {
	r     *running
	to    io.Writer
	paint paint

	mu   sync.Mutex
	open []transcript.Entry // oldest first
}

// until is when the call of the question e gives up.
func until(e *transcript.Entry) time.Time {
	return e.Time.Add(time.Duration(e.Seconds * float64(time.Second)))
}

// entry takes in what the server tells, and prompts for an answer to what is asked.
func (a *answering) entry(e *transcript.Entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch e.Kind {
	case "asked":
		if left := time.Until(until(e)); left > 0 {
			a.open = append(a.open, *e)
			a.say(bold, fmt.Sprintf("Allow it? y or n and Enter, within %.0f seconds", left.Seconds()))
		}
	case "answered":
		a.open = slices.DeleteFunc(a.open, func(q transcript.Entry) bool { return q.Question == e.Question })
	}
}

func (a *answering) say(colour, text string) {
	fmt.Fprintln(a.to, a.paint.in(colour, "; "+oneLine(text)))
}

// next is the question that is answered: that of the number, or if that is 0 the oldest.
func (a *answering) next(number int) (transcript.Entry, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = slices.DeleteFunc(a.open, func(q transcript.Entry) bool { return time.Now().After(until(&q)) })
	for _, q := range a.open {
		if number == 0 || q.Question == number {
			return q, true
		}
	}
	return transcript.Entry{}, false
}

// read reads answers until the end of the terminal or of ctx. A line that was not typed to
// its end keeps it beyond that, to the end of the process.
func (a *answering) read(ctx context.Context, from io.Reader) {
	lines := bufio.NewScanner(from)
	for lines.Scan() && ctx.Err() == nil {
		a.line(ctx, lines.Text())
	}
}

// line takes in a line: y, yes, n or no, and perhaps the number of a question.
func (a *answering) line(ctx context.Context, text string) {
	word, more, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), " ")
	if word == "" {
		return
	}
	number, err := 0, error(nil)
	if more != "" {
		number, err = strconv.Atoi(strings.TrimSpace(more))
	}
	if err != nil || !slices.Contains([]string{"y", "yes", "n", "no"}, word) {
		a.say(faint, "type y or n to answer a question, with its number if there are several")
		return
	}
	q, ok := a.next(number)
	if !ok {
		a.say(faint, "no such question waits for an answer")
		return
	}
	if _, err := a.r.Answer(ctx, q.Question, word[0] == 'y'); err != nil {
		a.say(faint, err.Error())
	}
}
