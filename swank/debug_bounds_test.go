package swank

import (
	"fmt"
	"strings"
	"testing"
)

// Debuggers that a program invents take little: their texts are cut, and there are at most so many.
func TestDebuggersAreBounded(t *testing.T) {
	peer, c := connect(t, nil)
	s := debugScript{t, peer}
	long, frames := strings.Repeat("é", maxMessage), strings.Repeat(`(0 "`+strings.Repeat("f", 3*maxText)+`")`, 2*maxFrames)
	for i := range maxTexts + 1 {
		text, shown := "short", ""
		if i == 0 {
			text, shown = long, frames
		}
		peer.Send(fmt.Sprintf(`(:debug %d 1 ("%s" "   [Condition of type E]" nil) nil (%s) nil)`, 100+i, text, shown))
	}
	s.sync()
	all := c.Debugs()
	if d := all[0]; len(d.Condition.Message) != maxMessage || len(d.Frames) != maxFrames || len(d.Frames[0].Text) != maxText {
		t.Errorf("%d bytes of a message, %d frames, %d bytes of one", len(d.Condition.Message), len(d.Frames), len(d.Frames[0].Text))
	}
	if before, last := all[maxTexts-1].Condition, all[maxTexts].Condition; before != (Condition{"short", "E"}) || last != (Condition{}) {
		t.Errorf("of the last with texts %+v is kept, and of the next %+v", before, last)
	}
	for i := range maxDebugs {
		peer.Send(fmt.Sprintf(`(:debug 1 %d ("" "" nil) nil nil nil)`, i+1))
	}
	s.sync()
	if c.open != maxDebugs || len(c.debugs[1]) != maxDebugs-maxTexts-1 {
		t.Errorf("%d are open, %d of one thread", c.open, len(c.debugs[1]))
	}
	peer.Send("(:debug-return 1 1 nil)")
	s.sync()
	if c.open != maxTexts+1 {
		t.Errorf("when one thread has left all of its: %d", c.open)
	}
}
