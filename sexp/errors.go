package sexp

import (
	"errors"
	"reflect"
	"strconv"
)

// Limits. They bound what one hostile or accidental message can cost.
const (
	// MaxDepth is the number of lists, vectors and quotes that may be open at
	// once in what is decoded. One more is [ErrDepth].
	MaxDepth = 1000
	// MaxSize is the longest input and the longest output in bytes: the most
	// that the six hexadecimal digits of a Swank frame can announce.
	MaxSize = 0xFFFFFF
	// MaxStored is how many bytes the elements of slices may take in one decoded value. An
	// element of two bytes, (), may be a structure of some hundred.
	MaxStored = 16 << 20
)

// Causes that callers test with errors.Is.
var (
	// ErrDepth reports nesting beyond [MaxDepth].
	ErrDepth = errors.New("nested too deeply")
	// ErrUnexpectedEnd reports input that ends inside a datum or before one.
	ErrUnexpectedEnd = errors.New("unexpected end of input")
	// ErrTooLarge reports input or output beyond its limit.
	ErrTooLarge = errors.New("larger than the limit")
	// ErrUnsafe reports a value that the Lisp reader would not read back as
	// exactly itself, so that it is not encoded. It is always wrapped with the
	// reason.
	ErrUnsafe = errors.New("not safe to encode")
)

var (
	errClose      = errors.New("unmatched close parenthesis")
	errDotPlace   = errors.New("misplaced dot")
	errDotNothing = errors.New("nothing after the dot")
	errDotMore    = errors.New("more than one datum after the dot")
	errMacro      = errors.New("reader macro that Swank never prints")
	errDispatch   = errors.New("dispatch macro that Swank never prints")
	errTrailing   = errors.New("data after the datum")

	errNoEncoding = errors.New("type has no encoding")
	errTarget     = errors.New("target is not a non-nil pointer")
	errDotted     = errors.New("dotted list")
	errKey        = errors.New("property name is not a symbol")
	errNoValue    = errors.New("property without a value")
	errInteger    = errors.New("not an integer")
	errIntRange   = errors.New("integer out of range")
)

// A SyntaxError says that the input is not one s-expression of the kind that
// Swank prints.
type SyntaxError struct {
	// Offset is the byte at which the input stops being acceptable: the
	// offending byte, the opening byte of a list that is too deep, or the
	// length of the input if it ends too early.
	Offset int64
	// Path leads to the innermost enclosing element by list index from 0,
	// "2/1/0"; it is empty at top level.
	Path string
	// Err is the cause, never nil.
	Err error
}

func (e *SyntaxError) Error() string {
	return "sexp: syntax: " + position(e.Offset, e.Path) + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *SyntaxError) Unwrap() error { return e.Err }

// A TypeError says that a well-formed datum does not fit the Go value it was
// to be decoded into, or that a Go value has no encoding.
type TypeError struct {
	// Offset is the first byte of the datum; when encoding, the length of the
	// output written so far by this call.
	Offset int64
	// Path leads to the element by list index and by property name:
	// "2/restarts/0". It is empty at top level.
	Path string
	// Got is what the datum is: "list", "string"; empty when encoding.
	Got string
	// Type is the Go type, nil only for an untyped nil target.
	Type reflect.Type
	// Err is a more exact cause, or nil.
	Err error
}

func (e *TypeError) Error() string {
	what := "decode " + e.Got + " into "
	if e.Got == "" {
		what = "encode "
	}
	typ := "nil"
	if e.Type != nil {
		typ = e.Type.String()
	}
	s := "sexp: " + what + typ + ": " + position(e.Offset, e.Path)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause, which may be nil.
func (e *TypeError) Unwrap() error { return e.Err }

func position(offset int64, path string) string {
	s := "at byte " + strconv.FormatInt(offset, 10)
	if path != "" {
		s += " (" + path + ")"
	}
	return s
}

func syntaxAt(offset int, err error) error {
	return &SyntaxError{Offset: int64(offset), Err: err}
}

// within puts elem in front of the path of err. Paths are built while an error is
// handed up, so that decoding without one costs nothing.
func within(err error, elem string) error {
	var path *string
	switch e := err.(type) {
	case *SyntaxError:
		path = &e.Path
	case *TypeError:
		path = &e.Path
	default:
		return err
	}
	if *path == "" {
		*path = elem
	} else {
		*path = elem + "/" + *path
	}
	return err
}

func withinIndex(err error, n int) error { return within(err, strconv.Itoa(n)) }
