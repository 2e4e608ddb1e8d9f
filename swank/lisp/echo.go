package lisp

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"swank-mcp/swank/lisp/helper"
)

// How an evaluation is shown in a person's REPL.
const (
	echoLines   = 10
	echoColumns = 200
	echoValues  = 5
)

const (
	echoBacklog  = 500             // events that wait for the image; it misses the oldest
	echoAtOnce   = 50              // texts in one request
	echoPatience = 2 * time.Second // until a request need not have been answered to send the next
)

// echo shows what sessions evaluate in the REPLs of those who work in the attached image,
// in the order of the events. It ends with the image, or with the bridge, when it has shown
// what was evaluated before; then inst.echoed is closed. No evaluation waits for it.
func (im *Image) echo(inst *instance, events *Subscription) {
	defer close(inst.echoed)
	defer events.Close()
	for {
		var texts []string
		select {
		case <-inst.conn.Done():
			return
		case <-im.ctx.Done():
			for texts = nextEchoes(events, nil); len(texts) > 0 && inst.show(texts) == nil; {
				texts = nextEchoes(events, nil)
			}
			return
		case ev := <-events.C:
			texts = nextEchoes(events, appendEcho(nil, ev))
		}
		_ = inst.show(texts) // an image that is slow shows them later
	}
}

// nextEchoes adds what is to be shown of the events that are there to texts.
func nextEchoes(events *Subscription, texts []string) []string {
	for len(texts) < echoAtOnce {
		select {
		case ev := <-events.C:
			texts = appendEcho(texts, ev)
		default:
			return texts
		}
	}
	return texts
}

// show shows the texts above the prompt of each REPL in the image, one after the other. It
// asks the control thread, which does not wait for anybody's Emacs.
func (inst *instance) show(texts []string) error {
	if len(texts) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), echoPatience)
	defer cancel()
	c := helper.NewCall("SHOW-IN-REPLS")
	for _, text := range texts {
		c.Str(text)
	}
	_, err := inst.ask(ctx, c)
	return err
}

// appendEcho adds the text that shows ev, if it is one to be shown.
func appendEcho(texts []string, ev Event) []string {
	switch o := ev.Outcome; {
	case ev.Kind == EventBegun && ev.Code != nil:
		return append(texts, echoText("; swank-mcp> ", *ev.Code))
	case ev.Kind != EventEnded || o == nil:
		return texts
	case o.Failure == KindError.String():
		x := o.Message
		x.Lines = append([]string{"[ERROR] " + o.Type}, x.Lines...)
		return append(texts, echoText("; => ", x))
	case o.Failure != "":
		return append(texts, "; => ["+o.Failure+"]\n")
	case len(o.Values) == 0:
		return append(texts, "; No values\n")
	default:
		var b strings.Builder
		for _, v := range o.Values[:min(echoValues, len(o.Values))] {
			b.WriteString(echoText("; => ", v))
		}
		return append(texts, b.String())
	}
}

// echoText is a text as comment lines, the first after prefix, shortened.
func echoText(prefix string, x Excerpt) string {
	if len(x.Lines) == 0 {
		return prefix + "\n"
	}
	var b strings.Builder
	for i, line := range x.Lines {
		if i == echoLines {
			break
		}
		b.WriteString(prefix)
		b.WriteString(firstChars(line, echoColumns))
		if utf8.RuneCountInString(line) > echoColumns {
			b.WriteString("...")
		}
		b.WriteByte('\n')
		prefix = ";   "
	}
	if more := len(x.Lines) - echoLines + x.More; more > 0 {
		fmt.Fprintf(&b, ";   ... %d more lines\n", more)
	}
	return b.String()
}
