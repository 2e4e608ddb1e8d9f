package sexp

import "reflect"

// cursor walks the elements of one list or vector.
type cursor struct {
	d    *decoder
	n    int  // elements begun
	tail bool // the current element is the one after the dot
}

// enter consumes the opening of the list at d.pos.
func (d *decoder) enter() cursor {
	if d.s.buf[d.pos] == '#' {
		d.pos++
	}
	d.pos++
	return cursor{d: d, n: -1}
}

// next moves to the next element, if any; otherwise it consumes the closing
// parenthesis.
func (c *cursor) next() bool {
	d := c.d
	d.pos = d.s.space(d.pos)
	if d.s.buf[d.pos] == ')' {
		d.pos++
		return false
	}
	if d.s.isDot(d.pos) {
		c.tail = true
		d.pos = d.s.space(d.pos + 1)
	}
	c.n++
	return true
}

func (d *decoder) slice(v reflect.Value) error {
	v.SetZero()
	start := d.pos
	c := d.enter()
	for c.next() {
		if c.tail {
			return d.mismatch(start, v.Type(), errDotted)
		}
		if err := c.push(v); err != nil {
			return err
		}
	}
	return nil
}

// push decodes the current element onto the end of the slice v.
func (c *cursor) push(v reflect.Value) error {
	n := v.Len()
	if c.d.stored += v.Type().Elem().Size(); c.d.stored > MaxStored {
		return c.d.mismatch(c.d.pos, v.Type(), ErrTooLarge)
	}
	if n == v.Cap() {
		v.Grow(1)
	}
	v.SetLen(n + 1)
	if err := c.d.value(v.Index(n)); err != nil {
		return withinIndex(err, c.n)
	}
	return nil
}

func (d *decoder) structure(v reflect.Value) error {
	p := planOf(v.Type())
	switch {
	case p.err != nil:
		return d.mismatch(d.pos, v.Type(), p.err)
	case d.s.kind(d.pos) != kindList:
		return d.mismatch(d.pos, v.Type(), nil)
	}
	v.SetZero()
	if p.positional {
		return d.positional(v, p)
	}
	return d.properties(v, p)
}

func (d *decoder) positional(v reflect.Value, p *plan) error {
	c := d.enter()
	for _, f := range p.fields {
		target := v.Field(f.index)
		for f.rest && c.next() {
			if err := c.push(target); err != nil {
				return err
			}
		}
		if f.rest || !c.next() {
			return nil
		}
		if err := d.value(target); err != nil {
			return withinIndex(err, c.n)
		}
	}
	for c.next() {
		d.take()
	}
	return nil
}

func (d *decoder) properties(v reflect.Value, p *plan) error {
	var few [64]bool
	seen := few[:]
	if len(p.fields) > len(few) {
		seen = make([]bool, len(p.fields))
	}
	start, hint := d.pos, 0
	c := d.enter()
	for c.next() {
		if d.s.kind(d.pos) != kindSymbol {
			return withinIndex(d.mismatch(d.pos, v.Type(), errKey), c.n)
		}
		at := d.pos
		key := d.take()
		if c.tail {
			return d.mismatch(start, v.Type(), errDotted)
		}
		if !c.next() {
			return d.mismatch(at, v.Type(), errNoValue)
		}
		if c.tail {
			return d.mismatch(start, v.Type(), errDotted)
		}
		n := p.find(key, hint)
		if n < 0 || seen[n] {
			d.take()
			continue
		}
		seen[n] = true
		hint = n + 1
		if err := d.value(v.Field(p.fields[n].index)); err != nil {
			return within(err, p.fields[n].label)
		}
	}
	return nil
}
