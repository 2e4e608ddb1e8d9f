package restore

import (
	"encoding/binary"
	"fmt"
	"os"
	"time"
)

// board is a page of a file on which the image notes how far it has come with
// bringing a session back: it can be read when the image has died. The words are
// those of the helper's restore-watch.lisp. A nil one says nothing.
type board struct {
	file *os.File

	beat  uint32        // as last seen
	since time.Duration // for how long the image could act by then
}

const (
	boardSize      = 4096
	boardEntry     = 0 // number of the entry that is evaluated, from 1
	boardBeat      = 1 // counts while the image is not frozen
	boardStuck     = 2 // number of the entry that cannot be stopped
	boardPatience  = 3
	boardAllowance = 4
	boardEnds      = 16 // how the entries ended, plus one
)

// frozenAfter is how long an image can act without a sign of life until it is given up.
const frozenAfter = 3 * time.Second

// newBoard returns an empty board in dir, the image's own directory: that goes with
// the image, also if its server is killed. It returns nil if there is no place for one.
func newBoard(dir string) *board {
	if dir == "" {
		return nil
	}
	f, err := os.CreateTemp(dir, "restore-")
	if err != nil {
		return nil
	}
	b := &board{file: f}
	if f.Truncate(boardSize) != nil {
		b.close()
		return nil
	}
	return b
}

func (b *board) close() {
	if b != nil {
		_ = b.file.Close()
		_ = os.Remove(b.file.Name())
	}
}

// clear makes the board empty, for another batch.
func (b *board) clear() {
	if b != nil {
		_, _ = b.file.WriteAt(make([]byte, boardSize), 0)
		b.beat, b.since = 0, 0
	}
}

func (b *board) name() string {
	if b == nil {
		return ""
	}
	return b.file.Name()
}

// word returns a word of the board, 0 if it was never written.
func (b *board) word(i int) uint32 {
	var w [4]byte
	if b != nil {
		_, _ = b.file.ReadAt(w[:], int64(4*i)) // 0 says nothing, too
	}
	return binary.NativeEndian.Uint32(w[:])
}

// hopeless says why the image has to be ended, "" if it need not be. Had is for how long
// it could act. One that is silent because it gets no processor is waited for.
func (b *board) hopeless(had time.Duration) string {
	if b == nil {
		return ""
	}
	beat := b.word(boardBeat)
	switch {
	case b.word(boardStuck) != 0:
		return "a definition that was to be brought back could not be stopped"
	case beat != b.beat || b.since == 0 || b.word(boardEntry) == 0:
		b.beat, b.since = beat, had
	case had-b.since > frozenAfter:
		return fmt.Sprintf("it could act for %v and gave no sign of life while the session was brought back", frozenAfter)
	}
	return ""
}

// Ending is how the evaluation of an entry ended: in the lowest four bits one of
// the constants below, above them the milliseconds that it had.
type Ending int

const (
	endDone Ending = iota
	endFailed
	endHung
	endForced
	endExit
	endLeft
	endStorage
)

func (c Ending) kind() Ending { return c & 15 }

// final reports whether to try again is of no use.
func (c Ending) final() bool { return c.kind() > endFailed }

// words is the reason in words; text is that of an error.
func (c Ending) words(text string) string {
	limit := (time.Duration(c>>4) * time.Millisecond).Seconds()
	switch c.kind() {
	case endHung:
		return fmt.Sprintf("it did not end within %.3g s of running and waiting; it is kept for the next image", limit)
	case endForced:
		return fmt.Sprintf("it did not end within %.3g s of running and waiting, with interrupts off", limit)
	case endExit:
		return "it asked Lisp to end"
	case endLeft:
		return "it left by ABORT or a THROW to somewhere outside"
	case endStorage:
		if text == "" {
			return "it used up the stack or the heap"
		}
	}
	if text == "" {
		return "it failed without a message"
	}
	return text
}
