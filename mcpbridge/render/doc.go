// Package render makes the texts of replies.
//
// It owns how values, sections, errors, backtraces, durations and numbers look. It
// has functions of results to strings and no state; packages tools, spool and
// mcpbridge use it. What only one tool says stands in that tool's file.
//
// Begin with [Result], the text of an evaluation; [Parts] puts texts together.
//
// # Characters
//
// Text of the image is data. Control characters other than newline and tab,
// and bidirectional embeddings, overrides and isolates, are shown as \u{1B}
// or \u{202E}: hexadecimal, upper case, no padding. Bytes that are not UTF-8
// become U+FFFD. Everything else, emoji included, passes as it is. [Safe] does it.
package render
