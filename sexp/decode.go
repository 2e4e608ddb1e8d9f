package sexp

import "reflect"

// Decoder reads the data of one frame, which it neither copies nor changes.
type Decoder struct {
	s     scanner
	pos   int
	depth int // lists entered
	names *names
}

// NewDecoder returns a decoder that reads b. The caller must not change b
// while the decoder or a [Raw] from it is in use. Input longer than [MaxSize]
// makes every method fail with [ErrTooLarge].
func NewDecoder(b []byte) *Decoder { return &Decoder{s: scanner{buf: b}} }

// Offset returns the number of bytes consumed: the position after the last
// datum or parenthesis that was read.
func (d *Decoder) Offset() int64 { return int64(d.pos) }

// Peek returns the kind of the next token without consuming it.
func (d *Decoder) Peek() Kind { return d.s.kind(d.s.space(d.pos)) }

// scan returns the bounds of the next datum.
func (d *Decoder) scan() (start, end int, err error) {
	if len(d.s.buf) > MaxSize {
		return 0, 0, syntaxAt(MaxSize, ErrTooLarge)
	}
	start = d.s.space(d.pos)
	end, err = d.s.datum(start, d.depth)
	return start, end, err
}

// Skip consumes one datum and checks its syntax. It allocates nothing unless
// it fails, and then consumes nothing; the error is a [SyntaxError].
func (d *Decoder) Skip() error {
	_, end, err := d.scan()
	if err != nil {
		return err
	}
	d.pos = end
	return nil
}

// ReadRaw consumes one datum like [Decoder.Skip] and returns its bytes, which
// alias the input.
func (d *Decoder) ReadRaw() (Raw, error) {
	start, end, err := d.scan()
	if err != nil {
		return nil, err
	}
	d.pos = end
	return Raw(d.s.buf[start:end:end]), nil
}

// Enter consumes the opening of a list or vector. The elements can then be
// read one by one until [Decoder.Peek] returns [KindClose] or [KindDot].
func (d *Decoder) Enter() error {
	if len(d.s.buf) > MaxSize {
		return syntaxAt(MaxSize, ErrTooLarge)
	}
	pos := d.s.space(d.pos)
	switch k := d.s.kind(pos); {
	case k == KindEOF:
		return syntaxAt(pos, ErrUnexpectedEnd)
	case k != KindOpen:
		return &TypeError{Offset: int64(pos), Got: k, Type: reflect.TypeFor[List]()}
	case d.depth >= MaxDepth:
		return syntaxAt(pos, ErrDepth)
	}
	d.pos = d.s.behindOpen(pos)
	d.depth++
	return nil
}

// Leave skips the remaining elements of the list last entered, a dotted tail
// included, and consumes its closing parenthesis.
func (d *Decoder) Leave() error {
	if d.depth == 0 {
		return syntaxAt(d.pos, errNotOpen)
	}
	end, err := d.s.rest(d.pos, d.depth)
	if err != nil {
		return err
	}
	d.pos = end
	d.depth--
	return nil
}

// Decode consumes one datum and stores it in the value that v, a non-nil
// pointer, points to. The syntax of the whole datum is checked first: after a
// [SyntaxError] nothing was consumed or stored. After any other error, in
// general a [TypeError], the datum was consumed and v may be partly set.
func (d *Decoder) Decode(v any) (err error) {
	start, end, err := d.scan()
	if err != nil {
		return err
	}
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return &TypeError{Offset: int64(start), Got: d.s.kind(start), Type: reflect.TypeOf(v), Err: errTarget}
	}
	depth := d.depth
	defer func() {
		d.pos, d.depth = end, depth
		recovered(recover(), &err)
	}()
	d.pos = start
	return d.value(p.Elem())
}

// Unmarshal decodes b, which must be one datum with at most white space around
// it, into the value that v points to; see [Decoder.Decode].
func Unmarshal(b []byte, v any) error {
	d := Decoder{s: scanner{buf: b}}
	_, end, err := d.scan()
	if err != nil {
		return err
	}
	if end = d.s.space(end); end != len(b) {
		return syntaxAt(end, errTrailing)
	}
	return d.Decode(v)
}
