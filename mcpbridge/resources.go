package mcpbridge

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/stdio"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp"
)

// The resources, beside the tools: texts that a host may show or attach.
const (
	sessionURI     = "lisp://session"
	outputTemplate = "lisp://output/{handle}"
	symbolTemplate = "lisp://symbol/{package}/{name}"
)

const plainText = "text/plain"

func (b *Bridge) addResources() {
	b.server.AddResource(&mcp.Resource{
		URI: sessionURI, Name: "session", Title: "Lisp session", MIMEType: plainText,
		Description: "State of the Lisp image and of the session, as session-status tells it.",
	}, b.readSession)
	b.server.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: outputTemplate, Name: "output", Title: "Long output", MIMEType: plainText,
		Description: "The whole of a reply that was cut, by the handle that it gave, such as out-3.",
	}, b.readSpooled)
	b.server.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: symbolTemplate, Name: "symbol", Title: "Lisp symbol", MIMEType: plainText,
		Description: "What a symbol of a package stands for, as describe-symbol tells it.",
	}, b.readSymbol)
}

func contents(uri, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: plainText, Text: text}}}
}

// noResource is the protocol's answer for a resource that is not there, with
// why.
func noResource(uri, why string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: rawtext.Clip(why, stdio.MaxErrorMessage), Data: []byte(`{"uri":` + rawtext.Quote(uri) + `}`)}
}

func (b *Bridge) readSession(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	w := b.workspace(ctx, r.Session)
	s, err := w.session.Status(ctx)
	if err != nil {
		return nil, err
	}
	return contents(r.Params.URI, w.cut(tools.StatusText(s))), nil
}

func (b *Bridge) readSpooled(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	segments := uriSegments(r.Params.URI, "lisp://output/")
	if len(segments) != 1 {
		return nil, noResource(r.Params.URI, "It must be "+outputTemplate+".")
	}
	t, err := b.workspace(ctx, r.Session).spool.Get(segments[0])
	var bad *args.Error
	if errors.As(err, &bad) {
		return nil, noResource(r.Params.URI, bad.Problem+" "+bad.Advice)
	}
	return contents(r.Params.URI, t.All), err
}

func (b *Bridge) readSymbol(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	segments := uriSegments(r.Params.URI, "lisp://symbol/")
	if len(segments) != 2 {
		return nil, noResource(r.Params.URI, "It must be "+symbolTemplate+", as in lisp://symbol/cl/mapcar.")
	}
	w := b.workspace(ctx, r.Session)
	found, err := w.session.DescribeSymbol(ctx, segments[1], segments[0])
	var failed *lisp.LookupError
	if errors.As(err, &failed) {
		return nil, noResource(r.Params.URI, failed.Message)
	}
	if err != nil {
		return nil, err
	}
	return contents(r.Params.URI, w.cut(tools.SymbolText(found))), nil
}

// uriSegments are the parts of uri behind prefix, without their escapes; nil if
// they are malformed.
func uriSegments(uri, prefix string) []string {
	rest, ok := strings.CutPrefix(uri, prefix)
	if !ok {
		return nil
	}
	var segments []string
	for part := range strings.SplitSeq(rest, "/") {
		s, err := url.PathUnescape(part)
		if err != nil || s == "" {
			return nil
		}
		segments = append(segments, s)
	}
	return segments
}

// escapeURI escapes what clients leave bare in a symbol's name and the SDK's
// templates do not match: lisp://symbol/cl/*print-base*. A name may be a slash.
func escapeURI(uri string) string {
	rest, ok := strings.CutPrefix(uri, "lisp://symbol/")
	pkg, name, cut := strings.Cut(rest, "/")
	if !ok || !cut {
		return uri
	}
	return "lisp://symbol/" + escapeSegment(pkg) + "/" + escapeSegment(name)
}

// answerURI gives the contents of a resource the URI that was asked for.
func answerURI(res mcp.Result, uri string) {
	if r, ok := res.(*mcp.ReadResourceResult); ok && r != nil {
		for _, c := range r.Contents {
			c.URI = uri
		}
	}
}

// escapeSegment escapes all but what RFC 6570 lets through in a simple variable.
func escapeSegment(s string) string {
	plain, err := url.PathUnescape(s)
	if err != nil {
		plain = s
	}
	var b strings.Builder
	for _, c := range []byte(plain) {
		if c == '-' || c == '.' || c == '_' || c == '~' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + strings.ToUpper(string("0123456789abcdef"[c>>4])+string("0123456789abcdef"[c&15])))
		}
	}
	return b.String()
}
