package sexp

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Marshal returns the encoding of v; see [Append].
func Marshal(v any) ([]byte, error) { return Append(nil, v) }

// Append appends the encoding of v to b and returns the result. It writes only
// what the Lisp reader reads as exactly the intended datum: other values make
// it fail, in general with a [TypeError] around [ErrUnsafe], and b comes back
// unchanged.
//
// Encoded are nil, bool (t and nil), signed integers, string, Symbol, List and
// other slices, structs as property lists, Raw and Appender.
//
// A Symbol must be of plain ASCII characters, without bars and backslashes, and
// begin as no number does: "foo #.(evil)", "", "1", "." and "a b" are refused. It may
// be upper case; the reader folds it. The package and, after a single colon, the
// external symbol must exist in the image, which cannot be checked here: the server
// answers :reader-error without an id if they do not.
func Append(b []byte, v any) ([]byte, error) {
	e := encoder{base: len(b)}
	out, err := e.any(b, v)
	if err == nil && len(out)-len(b) > MaxSize {
		err = e.fail(out, reflect.TypeOf(v), ErrTooLarge)
	}
	if err != nil {
		return b, err
	}
	return out, nil
}

// encoder carries where its output began in the buffer. Its methods append a datum.
type encoder struct{ base int }

func (e encoder) fail(b []byte, t reflect.Type, err error) error {
	return &TypeError{Offset: int64(len(b) - e.base), Type: t, Err: err}
}

func (e encoder) any(b []byte, v any) ([]byte, error) {
	switch x := v.(type) {
	case nil:
		return append(b, "nil"...), nil
	case string:
		return appendString(b, x), nil
	case Symbol:
		if err := checkSymbol(string(x)); err != nil {
			return b, e.fail(b, reflect.TypeOf(v), err)
		}
		return append(b, x...), nil
	case Raw:
		if err := checkOne(x); err != nil {
			return b, e.fail(b, reflect.TypeOf(v), err)
		}
		return append(b, x...), nil
	case Appender:
		return e.appender(b, x)
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Bool:
		if r.Bool() {
			return append(b, 't'), nil
		}
		return append(b, "nil"...), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, r.Int(), 10), nil
	case reflect.String:
		return appendString(b, r.String()), nil
	case reflect.Slice:
		return e.slice(b, r)
	case reflect.Struct:
		return e.properties(b, r)
	}
	return b, e.fail(b, reflect.TypeOf(v), errNoEncoding)
}

// appender lets a type encode itself and checks what it wrote.
func (e encoder) appender(b []byte, a Appender) ([]byte, error) {
	out, err := a.AppendSexp(b[:len(b):len(b)])
	switch {
	case err != nil:
	case len(out) < len(b):
		err = unsafe("AppendSexp removed output")
	default:
		err = checkOne(out[len(b):])
	}
	if err != nil {
		return b, e.fail(b, reflect.TypeOf(a), err)
	}
	if len(out)-len(b) > bigString {
		copy(out, b) // not a third copy of the large part
		return out, nil
	}
	return append(b, out[len(b):]...), nil
}

func (e encoder) slice(b []byte, v reflect.Value) (_ []byte, err error) {
	if v.Len() == 0 {
		return append(b, "nil"...), nil
	}
	b = append(b, '(')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ' ')
		}
		if b, err = e.any(b, v.Index(i).Interface()); err != nil {
			return b, withinIndex(err, i)
		}
	}
	return append(b, ')'), nil
}

func (e encoder) properties(b []byte, v reflect.Value) (_ []byte, err error) {
	p := planOf(v.Type())
	switch {
	case p.err != nil:
		return b, e.fail(b, v.Type(), p.err)
	case p.positional:
		return b, e.fail(b, v.Type(), errNoEncoding)
	}
	start := len(b)
	b = append(b, '(')
	for _, f := range p.fields {
		x := v.Field(f.index)
		if f.omitZero && x.IsZero() {
			continue
		}
		if len(b) > start+1 {
			b = append(b, ' ')
		}
		b = append(append(b, f.key...), ' ')
		if b, err = e.any(b, x.Interface()); err != nil {
			return b, within(err, f.label)
		}
	}
	if len(b) == start+1 {
		return append(b[:start], "nil"...), nil
	}
	return append(b, ')'), nil
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
