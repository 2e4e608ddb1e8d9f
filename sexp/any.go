package sexp

import (
	"errors"
	"math"
	"math/big"
	"reflect"
)

var (
	anyType      = reflect.TypeFor[any]()
	errFraction  = errors.New("not an integer")
	errIntRange  = errors.New("integer out of range")
	errNotFinite = errors.New("not finite")
)

// any decodes the datum at d.pos into the Go value that represents it best.
func (d *Decoder) any() (any, error) {
	d.pos = d.s.space(d.pos)
	pos := d.pos
	if d.atNil() {
		d.take()
		return nil, nil
	}
	switch d.s.kind(pos) {
	case KindOpen:
		c := d.enter()
		if !c.next() {
			return nil, nil
		}
		return c.collect()
	case KindQuote:
		d.pos++
		x, err := d.any()
		if err != nil {
			return nil, withinIndex(err, 1)
		}
		return List{Symbol("quote"), x}, nil
	case KindString:
		return unescape(d.take()), nil
	case KindSymbol:
		return d.symbol(d.take()), nil
	case KindChar:
		text := d.take()
		if c, ok := charNamed(text[2:]); ok {
			return c, nil
		}
		return Unreadable(text), nil
	case KindNumber:
		x, err := anyNumber(d.take())
		if err != nil {
			return nil, d.mismatch(pos, anyType, err)
		}
		return x, nil
	}
	text := d.take()
	if f, ok := infinity(text); ok {
		return f, nil
	}
	return Unreadable(text), nil
}

// collect decodes the current element of a list and all that follow it.
func (c *cursor) collect() (any, error) {
	var list List
	var tail any
	for first := true; first || c.next(); first = false {
		x, err := c.d.any()
		if err != nil {
			return nil, withinIndex(err, c.n)
		}
		if c.tail {
			tail = x
			continue
		}
		list = append(list, x)
	}
	switch t := tail.(type) {
	case nil:
		return list, nil
	case List:
		return append(list, t...), nil
	}
	for i := len(list) - 1; i >= 0; i-- {
		tail = Pair{list[i], tail}
	}
	return tail, nil
}

// pair decodes the non-empty list at d.pos.
func (d *Decoder) pair(p *Pair) error {
	c := d.enter()
	if !c.next() {
		*p = Pair{}
		return nil
	}
	car, err := d.any()
	if err != nil {
		return withinIndex(err, 0)
	}
	*p = Pair{Car: car}
	if !c.next() {
		return nil
	}
	if !c.tail {
		p.Cdr, err = c.collect()
		return err
	}
	if p.Cdr, err = d.any(); err != nil {
		return withinIndex(err, c.n)
	}
	c.next()
	return nil
}

func anyNumber(b []byte) (any, error) {
	switch classify(b) {
	case numInteger:
		if i, ok := parseInt(b); ok {
			return i, nil
		}
		return parseBig(b)
	case numRatio:
		r, err := parseRatio(b)
		if err != nil {
			return nil, err
		}
		switch {
		case !r.IsInt():
			return r, nil
		case r.Num().IsInt64():
			return r.Num().Int64(), nil
		}
		return r.Num(), nil
	}
	return parseFloat(b)
}

// number decodes a number or infinity into a numeric kind.
func (d *Decoder) number(v reflect.Value) error {
	pos := d.pos
	text := d.take()
	err := error(nil)
	switch v.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		i, ok := parseInt64(text)
		switch {
		case classify(text) != numInteger:
			err = errFraction
		case !ok || v.OverflowInt(i):
			err = errIntRange
		default:
			v.SetInt(i)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		u, ok := parseUint64(text)
		switch {
		case classify(text) != numInteger:
			err = errFraction
		case !ok || v.OverflowUint(u):
			err = errIntRange
		default:
			v.SetUint(u)
		}
	case reflect.Float32, reflect.Float64:
		f, ferr := floatOf(text)
		switch {
		case ferr != nil:
			err = ferr
		case v.OverflowFloat(f) && !math.IsInf(f, 0):
			err = errRange
		default:
			v.SetFloat(f)
		}
	default:
		return d.mismatch(pos, v.Type(), nil)
	}
	if err != nil {
		return d.mismatch(pos, v.Type(), err)
	}
	return nil
}

func parseInt64(b []byte) (int64, bool) {
	if classify(b) != numInteger {
		return 0, false
	}
	return parseInt(b)
}

func parseUint64(b []byte) (uint64, bool) {
	if i, ok := parseInt64(b); ok {
		return uint64(i), i >= 0
	}
	if classify(b) != numInteger || len(b) > 64 {
		return 0, false
	}
	i, err := parseBig(b)
	return i.Uint64(), err == nil && i.IsUint64()
}

// floatOf converts any number to the nearest float64.
func floatOf(b []byte) (float64, error) {
	if f, ok := infinity(b); ok {
		return f, nil
	}
	var f float64
	switch classify(b) {
	case numFloat:
		return parseFloat(b)
	case numInteger, numRatio:
		r, err := ratOf(b)
		if err != nil {
			return 0, err
		}
		if f, _ = r.Float64(); math.IsInf(f, 0) {
			return 0, errRange
		}
		return f, nil
	}
	return 0, errors.New("not a number")
}

// ratOf converts any finite number exactly.
func ratOf(b []byte) (*big.Rat, error) {
	switch classify(b) {
	case numInteger:
		i, err := parseBig(b)
		if err != nil {
			return nil, err
		}
		return new(big.Rat).SetInt(i), nil
	case numRatio:
		return parseRatio(b)
	}
	f, err := parseFloat(b)
	if err != nil {
		return nil, err
	}
	return new(big.Rat).SetFloat64(f), nil
}

// bigNumber decodes a number into a big.Int or big.Rat.
func (d *Decoder) bigNumber(v reflect.Value) error {
	pos := d.pos
	r, err := ratOf(d.take())
	if err != nil {
		return d.mismatch(pos, v.Type(), err)
	}
	switch p := v.Addr().Interface().(type) {
	case *big.Rat:
		p.Set(r)
	case *big.Int:
		if !r.IsInt() {
			return d.mismatch(pos, v.Type(), errFraction)
		}
		p.Set(r.Num())
	}
	return nil
}
