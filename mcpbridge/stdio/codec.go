package stdio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
)

// DefaultMaxLine is the size in bytes of the longest line that the stdio
// transport reads as a message.
const DefaultMaxLine = 16 << 20

// frame is one line of input without its line end. Of a line longer than the
// codec's limit only the two ends are kept.
type frame struct {
	data []byte // the line, or its beginning when long
	tail []byte // its end when long
	long bool
}

// edge is how much of either end of an over-long line is kept: enough to find
// the id of the request in it.
const edge = 512

// lineCodec is the [jsonrpc2.ObjectCodec] of MCP's stdio: one JSON text per
// line. It does not parse: a line that is no JSON must not end the stream, so the
// reader of frames judges it.
type lineCodec struct{ max int }

// WriteObject writes obj, a []byte that holds one whole line.
func (lineCodec) WriteObject(w io.Writer, obj any) error {
	line, ok := obj.([]byte)
	if !ok {
		return fmt.Errorf("mcpbridge: writing %T as a line", obj)
	}
	_, err := w.Write(line)
	return err
}

// ReadObject reads the next line that is not blank into v, a *frame that owns
// its bytes afterwards. The error is io.EOF at the end of input; an
// unterminated last line is a line.
func (c lineCodec) ReadObject(r *bufio.Reader, v any) error {
	f, ok := v.(*frame)
	if !ok {
		return fmt.Errorf("mcpbridge: reading a line into %T", v)
	}
	for {
		*f = frame{}
		err := c.readLine(r, f)
		f.trim()
		if f.long || len(f.data) > 0 {
			return nil // an error comes again with the next call
		}
		if err != nil {
			return err
		}
	}
}

func (c lineCodec) readLine(r *bufio.Reader, f *frame) error {
	for {
		part, err := r.ReadSlice('\n')
		f.add(part, c.max)
		if !errors.Is(err, bufio.ErrBufferFull) {
			if len(f.data) > hugeLine {
				debug.FreeOSMemory() // the line has grown from buffer to buffer
			}
			return err
		}
	}
}

// hugeLine is the length from which on a line is worth a garbage collection: its call
// makes further copies of it.
const hugeLine = 4 << 20

// add appends a copy of part and gives up what exceeds max.
func (f *frame) add(part []byte, max int) {
	if !f.long {
		f.data = append(f.data, part...)
		if len(f.data) <= max+len("\r\n") {
			return
		}
		f.long = true
		f.tail = bytes.Clone(f.data[len(f.data)-min(edge, len(f.data)):])
		f.data = bytes.Clone(f.data[:min(edge, len(f.data))])
		return
	}
	f.tail = append(f.tail, part...)
	if n := len(f.tail) - edge; n > 0 {
		f.tail = append(f.tail[:0], f.tail[n:]...)
	}
}

func (f *frame) trim() {
	const blank = " \t\r\n"
	if f.long {
		f.tail = bytes.TrimRight(f.tail, blank)
		return
	}
	f.data = bytes.Trim(f.data, blank)
}
