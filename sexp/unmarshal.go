package sexp

import (
	"bytes"
	"errors"
	"math/big"
	"reflect"
	"strings"
)

var (
	errTarget  = errors.New("target is not a non-nil pointer")
	errExtra   = errors.New("more elements than the array holds")
	errDotted  = errors.New("dotted list")
	errKey     = errors.New("property name is not a symbol")
	errNoValue = errors.New("property without a value")
	errNoName  = errors.New("unknown character name")
)

// maxPointers bounds chains of pointers, which a recursive pointer type makes
// endless.
const maxPointers = 100

// The methods below decode the datum at d.pos, whose syntax has been checked,
// and leave d.pos behind it. After an error d.pos is meaningless.

// end returns the end of the datum at pos.
func (d *Decoder) end(pos int) int {
	end, err := d.s.datum(pos, 0)
	if err != nil {
		panic(err) // the scan before decoding has let it pass
	}
	return end
}

// take consumes the datum at d.pos and returns its bytes.
func (d *Decoder) take() []byte {
	start := d.pos
	d.pos = d.end(start)
	return d.s.buf[start:d.pos:d.pos]
}

// mismatch returns a TypeError for the datum at pos.
func (d *Decoder) mismatch(pos int, t reflect.Type, err error) error {
	return &TypeError{Offset: int64(pos), Got: d.s.kind(pos), Type: t, Err: err}
}

// atNil reports whether the datum at d.pos is nil or ().
func (d *Decoder) atNil() bool {
	b := d.s.buf
	switch b[d.pos] {
	case '(':
		return b[d.s.space(d.pos+1)] == ')'
	case 'n', 'N':
		end := d.pos + 3
		return end <= len(b) && (end == len(b) || endsToken(b[end])) && foldNil(b[d.pos:end])
	}
	return false
}

func foldNil(b []byte) bool { return b[0]|0x20 == 'n' && b[1]|0x20 == 'i' && b[2]|0x20 == 'l' }

func (d *Decoder) value(v reflect.Value) error {
	d.pos = d.s.space(d.pos)
	if v.Type().PkgPath() != "" && v.CanAddr() {
		if done, err := d.special(v); done {
			return err
		}
	}
	if d.atNil() {
		d.take()
		v.SetZero()
		return nil
	}
	switch k := v.Kind(); k {
	case reflect.Pointer:
		return d.pointer(v)
	case reflect.Interface:
		if v.NumMethod() > 0 {
			break
		}
		x, err := d.any()
		if err == nil {
			v.Set(reflect.ValueOf(&x).Elem())
		}
		return err
	case reflect.Bool:
		if d.s.kind(d.pos) == KindSymbol {
			d.take()
			v.SetBool(true)
			return nil
		}
	case reflect.String:
		if d.s.kind(d.pos) == KindString {
			v.SetString(unescape(d.take()))
			return nil
		}
	case reflect.Struct:
		return d.structure(v)
	case reflect.Slice:
		return d.slice(v)
	case reflect.Array:
		return d.array(v)
	default:
		if d.s.kind(d.pos) == KindNumber || d.s.kind(d.pos) == KindOpaque {
			return d.number(v)
		}
	}
	return d.mismatch(d.pos, v.Type(), nil)
}

func (d *Decoder) pointer(v reflect.Value) error {
	for n := 0; v.Kind() == reflect.Pointer; n++ {
		if n == maxPointers {
			return d.mismatch(d.pos, v.Type(), ErrDepth)
		}
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	return d.value(v)
}

// special decodes into the types that have rules of their own; done is false
// for all others.
func (d *Decoder) special(v reflect.Value) (done bool, err error) {
	pos := d.pos
	switch p := v.Addr().Interface().(type) {
	case Unmarshaler:
		return true, d.custom(p, v.Type())
	case *Raw:
		*p = Raw(d.take())
		return true, nil
	case *Symbol:
		if d.atNil() || d.s.kind(pos) != KindSymbol {
			break
		}
		*p = d.symbol(d.take()).(Symbol)
		return true, nil
	case *Char:
		if d.s.kind(pos) != KindChar {
			break
		}
		c, ok := charNamed(d.take()[2:])
		if !ok {
			return true, d.mismatch(pos, v.Type(), errNoName)
		}
		*p = c
		return true, nil
	case *Unreadable:
		if k := d.s.kind(pos); k != KindOpaque {
			break
		}
		*p = Unreadable(d.take())
		return true, nil
	case *Pair:
		if d.atNil() || d.s.kind(pos) != KindOpen {
			break
		}
		return true, d.pair(p)
	case *big.Int, *big.Rat:
		if d.s.kind(pos) != KindNumber {
			break
		}
		return true, d.bigNumber(v)
	default:
		return false, nil
	}
	if d.atNil() {
		return false, nil
	}
	return true, d.mismatch(pos, v.Type(), nil)
}

// custom hands the datum to a type that decodes itself.
func (d *Decoder) custom(u Unmarshaler, t reflect.Type) error {
	start := d.pos
	d.take()
	sub := &Decoder{s: scanner{buf: d.s.buf[:d.pos:d.pos]}, pos: start, names: d.names}
	err := u.UnmarshalSexp(sub)
	switch err.(type) {
	case nil, *SyntaxError, *TypeError:
		return err
	}
	return d.mismatch(start, t, err)
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
