package sexp

import (
	"math/big"
	"reflect"
	"strconv"
)

// value encodes a value by its kind.
func (e encoder) value(b []byte, v reflect.Value, depth int) ([]byte, error) {
	t := v.Type()
	if depth > MaxDepth {
		return b, e.fail(b, t, ErrDepth)
	}
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return append(b, "nil"...), nil
	}
	if t.PkgPath() != "" || v.Kind() == reflect.Pointer {
		if done, out, err := e.special(b, v, depth); done {
			return out, err
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		return e.value(b, v.Elem(), depth+1)
	case reflect.Interface:
		if v.IsNil() {
			return append(b, "nil"...), nil
		}
		return e.any(b, v.Interface(), depth)
	case reflect.Bool:
		if v.Bool() {
			return append(b, 't'), nil
		}
		return append(b, "nil"...), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(b, v.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.AppendUint(b, v.Uint(), 10), nil
	case reflect.Float32, reflect.Float64:
		return e.float(b, v)
	case reflect.String:
		return appendString(b, v.String()), nil
	case reflect.Slice, reflect.Array:
		return e.sequence(b, v, depth)
	case reflect.Struct:
		return e.structure(b, v, depth)
	}
	return b, e.fail(b, t, errNoEncoding)
}

// special encodes the types with rules of their own; done is false for others.
func (e encoder) special(b []byte, v reflect.Value, depth int) (done bool, _ []byte, err error) {
	switch x := v.Interface().(type) {
	case Appender:
		b, err = e.appender(b, x, v.Type(), depth)
	case *big.Int:
		b = x.Append(b, 10)
	case *big.Rat:
		b = appendRat(b, x)
	case big.Int:
		b = x.Append(b, 10)
	case big.Rat:
		b = appendRat(b, &x)
	case Symbol, Raw, Char, Unreadable, List, Pair:
		b, err = e.any(b, x, depth)
	default:
		if v.Kind() != reflect.Struct || !planOf(v.Type()).appender {
			return false, b, nil
		}
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		b, err = e.appender(b, p.Interface().(Appender), v.Type(), depth)
	}
	return true, b, err
}

// appender lets a type encode itself and checks what it wrote.
func (e encoder) appender(b []byte, a Appender, t reflect.Type, depth int) ([]byte, error) {
	out, err := a.AppendSexp(b[:len(b):len(b)])
	switch {
	case err != nil:
	case len(out) < len(b):
		err = unsafe("AppendSexp removed output")
	default:
		err = checkOne(out[len(b):], depth)
	}
	if err != nil {
		return b, e.fail(b, t, err)
	}
	if len(out)-len(b) > bigString {
		copy(out, b) // not a third copy of the large part
		return out, nil
	}
	return append(b, out[len(b):]...), nil
}

func (e encoder) sequence(b []byte, v reflect.Value, depth int) (_ []byte, err error) {
	if v.Len() == 0 {
		return append(b, "nil"...), nil
	}
	if depth >= MaxDepth {
		return b, e.fail(b, v.Type(), ErrDepth)
	}
	b = append(b, '(')
	if b, err = e.items(b, v, depth, 0); err != nil {
		return b, err
	}
	return append(b, ')'), nil
}

// items encodes the elements of v as those from number n on.
func (e encoder) items(b []byte, v reflect.Value, depth, n int) (_ []byte, err error) {
	for i := range v.Len() {
		if n+i > 0 {
			b = append(b, ' ')
		}
		if b, err = e.value(b, v.Index(i), depth+1); err == nil {
			err = e.checkSize(b, v.Type())
		}
		if err != nil {
			return b, withinIndex(err, n+i)
		}
	}
	return b, nil
}

func (e encoder) structure(b []byte, v reflect.Value, depth int) (_ []byte, err error) {
	p := planOf(v.Type())
	switch {
	case p.err != nil:
		return b, e.fail(b, v.Type(), p.err)
	case depth >= MaxDepth:
		return b, e.fail(b, v.Type(), ErrDepth)
	}
	start := len(b)
	b = append(b, '(')
	for n, f := range p.fields {
		x := v.Field(f.index)
		if f.omitZero && x.IsZero() {
			continue
		}
		if f.rest {
			if b, err = e.remainder(b, x, depth, n); err != nil {
				return b, err
			}
			continue
		}
		if len(b) > start+1 {
			b = append(b, ' ')
		}
		if !p.positional {
			b = append(append(b, f.key...), ' ')
		}
		if b, err = e.value(b, x, depth+1); err != nil {
			return b, within(err, f.label)
		}
	}
	if len(b) == start+1 {
		return append(b[:start], "nil"...), nil
	}
	return append(b, ')'), nil
}

// remainder encodes a field marked rest after n elements: a slice as further
// elements, anything else but nil behind a dot.
func (e encoder) remainder(b []byte, v reflect.Value, depth, n int) (_ []byte, err error) {
	if v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() == reflect.Slice && v.Type() != reflect.TypeFor[Raw]() {
		return e.items(b, v, depth, n)
	}
	if v.IsZero() {
		return b, nil
	}
	if n == 0 {
		return b, e.fail(b, v.Type(), errDotPlace)
	}
	if b, err = e.value(append(b, " . "...), v, depth+1); err != nil {
		return b, withinIndex(err, n)
	}
	return b, nil
}
