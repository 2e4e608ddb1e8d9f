// Package rawtext takes JSON and characters apart without decoding more than is
// asked for.
//
// It owns what encoding/json has no way to say: the members of an object as they
// were written, a lone surrogate, one copy of a long string instead of three. All
// packages of mcpbridge may use it; it uses none of them.
//
// Begin with [Members].
package rawtext
