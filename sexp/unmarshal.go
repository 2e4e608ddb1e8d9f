package sexp

import (
	"bytes"
	"reflect"
	"strings"
)

// Unmarshal decodes b, which must be one datum with at most white space around
// it, into the value that v, a non-nil pointer, points to. The syntax of all of
// b is checked first: a [SyntaxError] has stored nothing. After any other error,
// in general a [TypeError], v may be partly set. Input longer than [MaxSize]
// fails with [ErrTooLarge], and so does a value whose slices have elements of more than
// [MaxStored] bytes, strings not counted.
func Unmarshal(b []byte, v any) error {
	if len(b) > MaxSize {
		return syntaxAt(MaxSize, ErrTooLarge)
	}
	d := decoder{s: scanner{buf: b}}
	if err := d.s.one(); err != nil {
		return err
	}
	d.pos = d.s.space(0)
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return d.mismatch(d.pos, reflect.TypeOf(v), errTarget)
	}
	return d.value(p.Elem())
}

// decoder decodes input whose syntax has been checked. Its methods decode the
// datum at pos and leave pos behind it; after an error pos is meaningless.
type decoder struct {
	s      scanner
	pos    int
	stored uintptr // bytes of the elements of slices so far
}

// take consumes the datum at d.pos and returns its bytes.
func (d *decoder) take() []byte {
	start := d.pos
	end, err := d.s.datum(start, 0)
	if err != nil {
		panic(err) // the scan before decoding has let it pass
	}
	d.pos = end
	return d.s.buf[start:end:end]
}

// mismatch returns a TypeError for the datum at pos.
func (d *decoder) mismatch(pos int, t reflect.Type, err error) error {
	return &TypeError{Offset: int64(pos), Got: d.s.kind(pos).String(), Type: t, Err: err}
}

// atNil reports whether the datum at d.pos is nil or ().
func (d *decoder) atNil() bool {
	b := d.s.buf
	switch b[d.pos] {
	case '(':
		return b[d.s.space(d.pos+1)] == ')'
	case 'n', 'N':
		end := d.pos + 3
		return end <= len(b) && (end == len(b) || endsToken(b[end])) && bytes.EqualFold(b[d.pos:end], []byte("nil"))
	}
	return false
}

func (d *decoder) value(v reflect.Value) error {
	d.pos = d.s.space(d.pos)
	if v.Type() == reflect.TypeFor[Raw]() {
		v.SetBytes(d.take())
		return nil
	}
	if d.atNil() {
		d.take()
		v.SetZero()
		return nil
	}
	k := d.s.kind(d.pos)
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(v.Elem())
	case reflect.Bool:
		if k == kindSymbol {
			d.take()
			v.SetBool(true)
			return nil
		}
	case reflect.String:
		switch symbol := v.Type() == reflect.TypeFor[Symbol](); {
		case symbol && k == kindSymbol:
			v.SetString(string(d.take()))
			return nil
		case !symbol && k == kindString:
			v.SetString(unescape(d.take()))
			return nil
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if k == kindNumber {
			return d.integer(v)
		}
	case reflect.Slice:
		if k == kindList {
			return d.slice(v)
		}
	case reflect.Struct:
		return d.structure(v)
	}
	return d.mismatch(d.pos, v.Type(), nil)
}

func (d *decoder) integer(v reflect.Value) error {
	start := d.pos
	text := d.take()
	if classify(text) != numInteger {
		return d.mismatch(start, v.Type(), errInteger)
	}
	i, ok := parseInt(text)
	if !ok || v.OverflowInt(i) {
		return d.mismatch(start, v.Type(), errIntRange)
	}
	v.SetInt(i)
	return nil
}

// unescape returns the contents of a string datum. The bytes are kept as they
// are but for the backslashes.
func unescape(b []byte) string {
	b = b[1 : len(b)-1]
	i := bytes.IndexByte(b, '\\')
	if i < 0 {
		return string(b)
	}
	var out strings.Builder
	out.Grow(len(b) - 1)
	for i >= 0 {
		out.Write(b[:i])
		out.WriteByte(b[i+1])
		b = b[i+2:]
		i = bytes.IndexByte(b, '\\')
	}
	out.Write(b)
	return out.String()
}
