package sexp

import (
	"errors"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

var errNoEncoding = errors.New("type has no encoding")

// Marshal returns the encoding of v; see [Append].
func Marshal(v any) ([]byte, error) { return Append(nil, v) }

// Append appends the encoding of v to b and returns the result. It writes only
// what the Lisp reader reads as exactly the intended datum: other values make
// it fail, in general with a [TypeError] around [ErrUnsafe], and b comes back
// unchanged.
//
// Encoded are nil, bool (t and nil), integers, *big.Int and *big.Rat, floats
// that are finite and not denormalised, string, Symbol, Char, List, slices and arrays, Pair, structs as they
// are decoded, pointers to all of these (nil for nil), Raw and Appender.
// Unreadable, maps, channels and functions are not.
//
// A Symbol must be ASCII, be interned and scan as one symbol: "foo #.(evil)",
// "", "1", "." and "a b" are refused. It may be upper case; the reader folds
// it. The package and, after a single colon, the external symbol must exist in
// the image, which cannot be checked here: the server answers :reader-error
// without an id if they do not.
func Append(b []byte, v any) (out []byte, err error) {
	e := encoder{base: len(b)}
	defer func() {
		if r := recover(); r != nil {
			recovered(r, &err)
		}
		if err != nil {
			out = b
		}
	}()
	if out, err = e.any(b, v, 0); err != nil {
		return b, err
	}
	return out, e.checkSize(out, reflect.TypeOf(v))
}

// encoder carries where its output began in the buffer. Its methods append a
// datum inside depth open lists or pointers.
type encoder struct{ base int }

func (e encoder) fail(b []byte, t reflect.Type, err error) error {
	return &TypeError{Offset: int64(len(b) - e.base), Type: t, Err: err}
}

func (e encoder) checkSize(b []byte, t reflect.Type) error {
	if len(b)-e.base > MaxSize {
		return e.fail(b, t, ErrTooLarge)
	}
	return nil
}

// any encodes the common types without reflection.
func (e encoder) any(b []byte, v any, depth int) ([]byte, error) {
	switch x := v.(type) {
	case nil:
		return append(b, "nil"...), nil
	case string:
		return appendString(b, x), nil
	case Symbol:
		if known([]byte(x)) == nil {
			if err := checkSymbol(string(x)); err != nil {
				return b, e.fail(b, reflect.TypeOf(v), err)
			}
		}
		return append(b, x...), nil
	case int:
		return strconv.AppendInt(b, int64(x), 10), nil
	case int64:
		return strconv.AppendInt(b, x, 10), nil
	case Raw:
		if err := checkOne(x, depth); err != nil {
			return b, e.fail(b, reflect.TypeOf(v), err)
		}
		return append(b, x...), nil
	case Char:
		out, err := appendChar(b, x)
		if err != nil {
			return b, e.fail(b, reflect.TypeOf(v), err)
		}
		return out, nil
	case Unreadable:
		return b, e.fail(b, reflect.TypeOf(v), unsafe("an unreadable object"))
	case List:
		return e.list(b, x, depth)
	case Pair:
		return e.pair(b, x, depth)
	}
	return e.value(b, reflect.ValueOf(v), depth)
}

func (e encoder) list(b []byte, list List, depth int) ([]byte, error) {
	if len(list) == 0 {
		return append(b, "nil"...), nil
	}
	if depth >= MaxDepth {
		return b, e.fail(b, reflect.TypeOf(list), ErrDepth)
	}
	b = append(b, '(')
	b, err := e.elements(b, list, depth, 0)
	return append(b, ')'), err
}

// elements encodes list as the elements from number n on.
func (e encoder) elements(b []byte, list List, depth, n int) (_ []byte, err error) {
	for i, x := range list {
		if n+i > 0 {
			b = append(b, ' ')
		}
		if b, err = e.any(b, x, depth+1); err == nil {
			err = e.checkSize(b, reflect.TypeOf(x))
		}
		if err != nil {
			return b, withinIndex(err, n+i)
		}
	}
	return b, nil
}

// pair encodes a chain of pairs as one list.
func (e encoder) pair(b []byte, p Pair, depth int) (_ []byte, err error) {
	if depth >= MaxDepth {
		return b, e.fail(b, reflect.TypeOf(p), ErrDepth)
	}
	b = append(b, '(')
	for n := 0; ; n++ {
		if b, err = e.elements(b, List{p.Car}, depth, n); err != nil {
			return b, err
		}
		switch cdr := p.Cdr.(type) {
		case nil:
			return append(b, ')'), nil
		case Pair:
			p = cdr
			continue
		case *Pair:
			if cdr == nil {
				return append(b, ')'), nil
			}
			p = *cdr
			continue
		case List:
			b, err = e.elements(b, cdr, depth, n+1)
			return append(b, ')'), err
		default:
			b = append(b, " . "...)
			if b, err = e.any(b, cdr, depth+1); err != nil {
				return b, withinIndex(err, n+1)
			}
			return append(b, ')'), nil
		}
	}
}

// bigString is the length beyond which room for a string is made at once, with some
// for what follows: growing by and by makes two copies and half a one.
const bigString = 4 << 10

// appendString writes a Lisp string. Only the two characters that the reader
// treats specially are escaped.
func appendString(b []byte, s string) []byte {
	if len(s) > bigString {
		b = slices.Grow(b, len(s)+strings.Count(s, `"`)+strings.Count(s, `\`)+bigString)
	}
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c == '"' || c == '\\' {
				b = append(append(b, s[start:i]...), '\\')
				start = i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b = append(append(b, s[start:i]...), "\uFFFD"...)
			start = i + 1
		}
		i += n
	}
	return append(append(b, s[start:]...), '"')
}

func (e encoder) float(b []byte, v reflect.Value) ([]byte, error) {
	f := v.Float()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return b, e.fail(b, v.Type(), errNotFinite)
	}
	// SBCL's reader is off by a unit in the last place for many denormals.
	least := 0x1p-1022
	if v.Kind() == reflect.Float32 {
		least = 0x1p-126
	}
	if f != 0 && math.Abs(f) < least {
		return b, e.fail(b, v.Type(), unsafe("denormalised float %g", f))
	}
	if v.Kind() == reflect.Float32 {
		return appendFloat(b, f, 32, 'f'), nil
	}
	return appendFloat(b, f, 64, 'd'), nil
}

func appendRat(b []byte, r *big.Rat) []byte {
	b = r.Num().Append(b, 10)
	if !r.IsInt() {
		b = r.Denom().Append(append(b, '/'), 10)
	}
	return b
}
