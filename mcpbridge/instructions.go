package mcpbridge

import (
	"embed"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"swank-mcp/mcpbridge/tools"
)

// The instructions that clients get, with evaluate-lisp and without it. They are
// templates over [offered], so that they name only tools that the client is shown.
var (
	//go:embed instructions.md instructions-read.md
	instructionFiles embed.FS
	instructionTexts = template.Must(template.ParseFS(instructionFiles, "*.md"))
)

// instructions is the text for this bridge's tools.
func (b *Bridge) instructions() string {
	name := "instructions.md"
	if !b.offers("evaluate-lisp") {
		name = "instructions-read.md"
	}
	var text strings.Builder
	if err := instructionTexts.ExecuteTemplate(&text, name, offered{b}); err != nil {
		panic(err) // the file asks for something that offered does not have
	}
	return text.String()
}

// offered answers what the templates ask about the tools that are shown.
type offered struct{ b *Bridge }

// Offers reports whether the tool of that name is there.
func (o offered) Offers(name string) bool { return o.b.offers(name) }

// Project is the line of [tools.ProjectText], "" without a project.
func (o offered) Project() string {
	if o.b.o.Project == nil {
		return ""
	}
	return tools.ProjectText(o.b.o.Project(), 12)
}

// ReadOnly reports whether no tool changes the image.
func (o offered) ReadOnly() bool {
	return !slices.ContainsFunc(o.b.tools, func(t *tools.Tool) bool { return !t.ReadOnly })
}

var toolInText = regexp.MustCompile("`([a-z]+(?:-[a-z]+)*)`")

// Some joins those phrases whose tools are all there.
func (o offered) Some(phrases ...string) string {
	return strings.Join(slices.DeleteFunc(phrases, func(p string) bool {
		return slices.ContainsFunc(toolInText.FindAllStringSubmatch(p, -1), func(m []string) bool { return !o.b.offers(m[1]) })
	}), ", ")
}
