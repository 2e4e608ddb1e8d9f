package lisp

import (
	"fmt"
	"strconv"
)

// shown is something that a person has shown to the agents.
type shown struct {
	text  string
	token int64 // of an error that they are in their debugger with, or 0
	inst  *instance
}

// maxShown is how many of them are kept for sessions that have not told of them.
const maxShown = 20

// show notes what the image says is shown: the token of an error, or 0, and the text.
// The reader of the connection calls it.
func (im *Image) show(words []string, text string) {
	if len(words) == 0 {
		return
	}
	token, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil {
		return
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	im.shown = append(im.shown, shown{text, token, im.cur})
	im.shown = im.shown[max(0, len(im.shown)-maxShown):]
	im.showns++
}

// Shown returns texts about what people have shown since it was last called, oldest
// first: the next reply in the session is to begin with them.
func (s *Session) Shown() (texts []string) {
	s.im.mu.Lock()
	first := max(0, len(s.im.shown)-(s.im.showns-s.seen))
	news := append([]shown{}, s.im.shown[first:]...)
	s.seen = s.im.showns
	s.im.mu.Unlock()
	for _, n := range news {
		text := n.text
		if n.token != 0 && n.inst != nil {
			number := s.suspended.numberOf(n.inst, n.token)
			text += fmt.Sprintf("\nIt is evaluation %d for tools that look, while the person is there. Next: get-backtrace {\"evaluation\": %[1]d}, "+
				"inspect-frame {\"frame\": 0, \"evaluation\": %[1]d}", number)
		}
		texts = append(texts, text)
	}
	return texts
}

// numberOf is the number of the error with that token, which a person shows.
func (q *suspensions) numberOf(inst *instance, token int64) int {
	if s := q.addThread(inst, wireThread{Token: token, What: shownError}); s != nil {
		return s.number
	}
	if s := q.find(token); s != nil {
		return s.number
	}
	return 0
}
