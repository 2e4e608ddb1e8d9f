// Package args reads the arguments of a call of a tool.
//
// It owns what a parameter is ([Param]), its JSON schema, the reading of arguments
// as models write them (other names, numbers as strings, code in Markdown fences),
// and the call that an error tells: the caller's own, mended. It knows neither tools
// nor the SDK; packages tools, spool and mcpbridge use it.
//
// Begin with [Parse].
package args
