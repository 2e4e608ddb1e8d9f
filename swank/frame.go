package swank

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

const (
	headerLen = 6        // hexadecimal digits
	maxFrame  = 0xFFFFFF // the largest payload that six digits can announce

	// Frames up to the reader's buffer are read in place: usually one read(2)
	// brings header and payload. Swank cuts streamed output at 8,000
	// characters (2.27) or 64,000 (2.28).
	readBuffer = 64 << 10
)

// appendHeader appends the header of a payload of n bytes.
func appendHeader(b []byte, n int) []byte {
	const hex = "0123456789abcdef"
	return append(b, hex[n>>20&15], hex[n>>16&15], hex[n>>12&15], hex[n>>8&15], hex[n>>4&15], hex[n&15])
}

// parseHeader reads six hexadecimal digits of either case. Swank itself would
// take blanks and signs too, but never writes them.
func parseHeader(h []byte) (int, error) {
	n := 0
	for _, c := range h[:headerLen] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, &HeaderError{string(h[:headerLen])}
		}
		n = n<<4 | int(c)
	}
	return n, nil
}

// finishFrame writes the header into the first six bytes of b, which the
// caller left free, and checks the size of what follows.
func finishFrame(b []byte, start int) error {
	n := len(b) - start - headerLen
	if n > maxFrame {
		return &FrameSizeError{n, maxFrame}
	}
	appendHeader(b[start:start], n)
	return nil
}

// A frameReader cuts a byte stream into frames.
type frameReader struct {
	r       *bufio.Reader
	discard int // bytes of the frame handed out last that are still in r
}

func newFrameReader(r io.Reader) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, readBuffer)}
}

type frame struct {
	payload []byte
	owned   bool // payload is not overwritten by the next read
}

// next returns the next frame. io.EOF means the stream ended between two frames.
func (f *frameReader) next() (frame, error) {
	f.r.Discard(f.discard)
	f.discard = 0
	h, err := f.r.Peek(headerLen)
	if err != nil {
		if err == io.EOF && len(h) > 0 {
			err = fmt.Errorf("frame header ended after %d of %d bytes: %w", len(h), headerLen, io.ErrUnexpectedEOF)
		}
		return frame{}, err
	}
	n, err := parseHeader(h)
	if err != nil {
		return frame{}, err
	}
	if headerLen+n <= f.r.Size() {
		b, err := f.r.Peek(headerLen + n)
		if err != nil {
			return frame{}, shortBody(err, len(b)-headerLen, n)
		}
		f.discard = headerLen + n
		return frame{payload: b[headerLen:]}, nil
	}
	f.r.Discard(headerLen)
	b := make([]byte, n)
	if m, err := io.ReadFull(f.r, b); err != nil {
		return frame{}, shortBody(err, m, n)
	}
	return frame{payload: b, owned: true}, nil
}

func shortBody(err error, got, want int) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("frame ended after %d of %d bytes: %w", got, want, io.ErrUnexpectedEOF)
	}
	return err
}
