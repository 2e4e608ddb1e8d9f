package sexp

import "reflect"

// cursor walks the elements of one list or vector.
type cursor struct {
	d    *Decoder
	n    int  // elements begun
	tail bool // the current element is the one after the dot
}

// enter consumes the opening of the list at d.pos.
func (d *Decoder) enter() cursor {
	d.pos = d.s.behindOpen(d.pos)
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

// skip consumes the rest of the list.
func (c *cursor) skip() {
	for c.next() {
		c.d.take()
	}
}

func (d *Decoder) slice(v reflect.Value) error {
	if d.s.kind(d.pos) != KindOpen {
		return d.mismatch(d.pos, v.Type(), nil)
	}
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
	if n == v.Cap() {
		v.Grow(1)
	}
	v.SetLen(n + 1)
	if err := c.d.value(v.Index(n)); err != nil {
		return withinIndex(err, c.n)
	}
	return nil
}

// array decodes a list that is no longer than the array; what is missing is
// zero. Of dotted lists only (a . b) fits, into an array of two.
func (d *Decoder) array(v reflect.Value) error {
	if d.s.kind(d.pos) != KindOpen {
		return d.mismatch(d.pos, v.Type(), nil)
	}
	v.SetZero()
	start := d.pos
	c := d.enter()
	for c.next() {
		switch {
		case c.n >= v.Len():
			return d.mismatch(start, v.Type(), errExtra)
		case c.tail && v.Len() != 2:
			return d.mismatch(start, v.Type(), errDotted)
		}
		if err := d.value(v.Index(c.n)); err != nil {
			return withinIndex(err, c.n)
		}
	}
	return nil
}

func (d *Decoder) structure(v reflect.Value) error {
	p := planOf(v.Type())
	switch {
	case p.err != nil:
		return d.mismatch(d.pos, v.Type(), p.err)
	case d.s.kind(d.pos) != KindOpen:
		return d.mismatch(d.pos, v.Type(), nil)
	}
	v.SetZero()
	if p.positional {
		return d.positional(v, p)
	}
	return d.properties(v, p)
}

func (d *Decoder) positional(v reflect.Value, p *plan) error {
	c := d.enter()
	for _, f := range p.fields {
		target := v.Field(f.index)
		if f.rest {
			return d.remainder(target, &c)
		}
		if !c.next() {
			return nil
		}
		if err := d.value(target); err != nil {
			return withinIndex(err, c.n)
		}
	}
	c.skip()
	return nil
}

// remainder decodes what is left of a list into a field marked rest.
func (d *Decoder) remainder(v reflect.Value, c *cursor) error {
	if v.Kind() == reflect.Slice {
		for c.next() {
			if err := c.push(v); err != nil {
				return err
			}
		}
		return nil
	}
	if !c.next() {
		return nil
	}
	if c.tail {
		if err := d.value(v); err != nil {
			return withinIndex(err, c.n)
		}
		c.next()
		return nil
	}
	if v.Kind() != reflect.Interface || v.NumMethod() > 0 {
		return withinIndex(d.mismatch(d.pos, v.Type(), nil), c.n)
	}
	x, err := c.collect()
	if err == nil {
		v.Set(reflect.ValueOf(&x).Elem())
	}
	return err
}

func (d *Decoder) properties(v reflect.Value, p *plan) error {
	var few [64]bool
	seen := few[:]
	if len(p.fields) > len(few) {
		seen = make([]bool, len(p.fields))
	}
	start, hint := d.pos, 0
	c := d.enter()
	for c.next() {
		if d.s.kind(d.pos) != KindSymbol {
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
