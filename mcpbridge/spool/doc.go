// Package spool cuts texts that are too long for a reply and keeps the whole of
// them.
//
// It owns the handles (out-1, out-2, …), how much is kept, and the line that stands
// where a text was cut. Package tools reads on in a [Spool], mcpbridge gives each
// its owner.
//
// Begin with [Spool.Cut].
package spool
