package mcpbridge

import (
	"context"
	"fmt"
	"regexp"

	"swank-mcp/swank/lisp"
)

var loadFileTool = tool{
	name:  "load-file",
	title: "Load a file",
	set:   inBuild,
	doc: "Load a Lisp source file (or fasl) into the image, evaluating its forms one by one. " +
		"What it defines counts as defined by this session; an error tells the line of the form. " +
		"compile-file shows the compiler's notes as well.",
	params: func(o limits) []param {
		return []param{
			pathParam("The file; relative to the server's directory.", true),
			hiddenPackage,
			timeoutParam(o, compileTimeout),
		}
	},
	example:     `{"path": "src/example.lisp"}`,
	destructive: true,
	openWorld:   true,
	ordered:     true,
	run:         loadFile,
}

func loadFile(ctx context.Context, r *request) (reply, error) {
	path := r.path("path", false)
	in := r.sessionRequest()
	if r.err != nil {
		return reply{}, r.err
	}
	place, res, err := r.image.Load(ctx, r.session, path, in)
	if err != nil {
		return reply{}, err
	}
	return loadedText(path, place, res, in), nil
}

// loadHerald is what LOAD writes before an error: the place, told better here.
var loadHerald = regexp.MustCompile(`(?s)While evaluating the form starting at line \d+, column \d+\s+of [^\n]*:`)

func loadedText(path string, place *lisp.LoadPlace, res *lisp.Result, in lisp.Request) reply {
	res.Stderr = withoutCompilerNoise(res.Stderr)
	res.Stderr.Head = loadHerald.ReplaceAllString(res.Stderr.Head, "")
	res.Stderr.Tail = loadHerald.ReplaceAllString(res.Stderr.Tail, "")
	if f := res.Failure; f != nil {
		if place.Line > 0 {
			f.Message += fmt.Sprintf("\nIn %s:%d:%d; what comes before it was loaded.\n%4d | %s",
				path, place.Line, place.Column, place.Line, clip(place.Source, 120))
		}
		text, _ := ResultText(res, View{Timeout: in.Timeout})
		p := parts{}
		p.WriteString(text)
		if place.Line > 0 {
			writeParentheses(&p, path, "")
		}
		return reply{text: p.String(), failed: true, failure: f}
	}
	var p parts
	p.WriteString("Loaded: " + sanitize(path))
	p.context(res)
	return reply{text: p.String()}
}
