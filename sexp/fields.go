package sexp

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

type plan struct {
	positional bool
	fields     []field
	err        error // the type cannot be mapped
}

type field struct {
	index    int
	key      string // ":name" in a property list
	label    string // what paths call it
	rest     bool
	omitZero bool
}

// plans caches one plan for each struct type.
var plans sync.Map // reflect.Type → *plan

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p, _ := plans.LoadOrStore(t, newPlan(t))
	return p.(*plan)
}

func newPlan(t reflect.Type) *plan {
	p := &plan{}
	for i := range t.NumField() {
		f := t.Field(i)
		if _, option, _ := strings.Cut(f.Tag.Get("sexp"), ","); f.Name == "_" && option == "list" {
			p.positional = true
		}
	}
	for i := range t.NumField() {
		if err := p.add(t.Field(i), i); err != nil {
			p.err = fmt.Errorf("field %s: %w", t.Field(i).Name, err)
			return p
		}
	}
	return p
}

// add appends one struct field to the plan, unless the tag excludes it.
func (p *plan) add(sf reflect.StructField, index int) error {
	tag, tagged := sf.Tag.Lookup("sexp")
	if sf.Name == "_" || tag == "-" {
		return nil
	}
	if !sf.IsExported() {
		if tagged {
			return errors.New("tagged but not exported")
		}
		return nil
	}
	name, option, _ := strings.Cut(tag, ",")
	f := field{index: index, key: ":" + name, label: name}
	switch {
	case option == "":
	case option == "rest" && p.positional && sf.Type.Kind() == reflect.Slice:
		f.rest = true
	case option == "omitzero" && !p.positional:
		f.omitZero = true
	default:
		return fmt.Errorf("unknown tag option %q", option)
	}
	switch {
	case p.positional && name != "":
		return fmt.Errorf("name %q in a positional struct", name)
	case !p.positional && name == "":
		return errors.New("no sexp tag")
	case !p.positional:
		if err := checkSymbol(f.key); err != nil {
			return err
		}
	}
	for _, other := range p.fields {
		if other.rest {
			return fmt.Errorf("behind %q, which takes the rest", other.label)
		}
		if !p.positional && other.key == f.key {
			return fmt.Errorf("second field for %s", f.key)
		}
	}
	if p.positional {
		f.label = fmt.Sprint(len(p.fields))
	}
	p.fields = append(p.fields, f)
	return nil
}

// find returns the position in p.fields of the field for a property key, or
// -1. Properties mostly come in the order of the fields, so the search starts
// at hint.
func (p *plan) find(key []byte, hint int) int {
	for i := range p.fields {
		if n := (hint + i) % len(p.fields); p.fields[n].key == string(key) {
			return n
		}
	}
	return -1
}
