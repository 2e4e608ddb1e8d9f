package render

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"swank-mcp/swank/lisp"
)

func (p *Parts) failure(f *lisp.Failure, timeout time.Duration) {
	switch f.Kind {
	case lisp.KindTimeout:
		p.Headline("TIMEOUT", "Evaluation exceeded "+seconds(timeout))
	case lisp.KindCancelled:
		p.Headline("CANCELLED", "Evaluation cancelled by the client")
	case lisp.KindStopped:
		p.Headline("STOPPED", "Evaluation stopped by the person")
	case lisp.KindImageDied:
		p.Headline("ERROR", cmp.Or(f.Type, "IMAGE-DIED"))
	default:
		p.Headline("ERROR", cmp.Or(f.Type, "ERROR"))
	}
	if m := strings.Trim(f.Message, " \t\r\n"); m != "" {
		p.WriteByte('\n')
		p.WriteString(message(m))
	}
	if len(f.Frames) == 0 {
		return
	}
	p.Begin()
	p.WriteString("[Backtrace]")
	p.Frames(f.Frames, "\n")
	if f.More > 0 {
		fmt.Fprintf(p, "\n; %s more", Plural(f.More, "frame"))
	}
}

// message is the message of an error, and below that what nobody sees in it.
func message(m string) string {
	text, what := seenNames(m)
	if said := undecodable(m); said != "" {
		what = append(what, said)
	}
	for _, line := range what {
		text += "\n; " + line
	}
	return Safe(text)
}

// Note is the message of a warning or of a compiler's note in a line, with what nobody sees
// in it.
func Note(m string) string { return Safe(noteText(m)) }

func noteText(m string) string {
	text, what := seenNames(OneLine(m))
	if said := undecodable(m); said != "" {
		what = append(what, said)
	}
	if len(what) > 0 {
		text += " (" + strings.Join(what, "; ") + ")"
	}
	return text
}

// frame writes a frame and, after sep, its place, if the image knows that.
func (p *Parts) frame(frame, sep string) {
	text, place, known := strings.Cut(frame, placeMark)
	p.WriteString(Safe(OneLine(text)))
	if known {
		p.WriteString(sep + Safe(place))
	}
}

// placeMark stands between the text of a frame and its place; see the helper's
// frame-places.lisp.
const placeMark = "\n  at "

// Frames writes numbered frames, each after sep, and below a frame its place, which is its
// second line. Three or more that look the same, as after a runaway recursion, are one line.
func (p *Parts) Frames(frames []string, sep string) { p.framesFrom(0, frames, sep) }

func (p *Parts) framesFrom(first int, frames []string, sep string) {
	for i := 0; i < len(frames); {
		same := i + 1
		for same < len(frames) && frames[same] == frames[i] {
			same++
		}
		number := strconv.Itoa(first + i)
		if same-i < 3 {
			same = i + 1
		} else {
			number += "-" + strconv.Itoa(first+same-1)
		}
		p.WriteString(sep)
		p.WriteString(number)
		p.WriteString(": ")
		p.frame(frames[i], sep+"     ")
		i = same
	}
}
