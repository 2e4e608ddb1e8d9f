package web

import (
	"html/template"
	"strings"

	"github.com/alecthomas/chroma/v2"
)

// ends are the characters that end a symbol.
const ends = `\s()"';` + "`,"

// lispLexer knows as much of Lisp as is worth a colour. It is ours, for chroma's own does
// not know operators, and package lexers reads all its languages when the program starts.
var lispLexer = chroma.MustNewLexer(&chroma.Config{Name: "Common Lisp", CaseInsensitive: true, DotAll: true}, func() chroma.Rules {
	symbol := "[^" + ends + "]+"
	return chroma.Rules{
		"root": {
			{Pattern: `\s+`, Type: chroma.Text},
			{Pattern: `;[^\n]*`, Type: chroma.Comment},
			{Pattern: `#\|`, Type: chroma.Comment, Mutator: chroma.Push("comment")},
			{Pattern: `"(?:[^"\\]|\\.)*"?`, Type: chroma.String},
			{Pattern: `#\\(?:[a-z][^` + ends + `]*|.)`, Type: chroma.String},
			{Pattern: `(\()((?:[^` + ends + `:]+::?)?(?:def(?:un|var|parameter|constant|macro|generic|method|class|struct|type|package|setf|system|test|ine-` + symbol + `)))(\s+)(` + symbol + `)`,
				Type: chroma.ByGroups(chroma.Punctuation, chroma.Keyword, chroma.Text, chroma.NameFunction)},
			{Pattern: `(\()(let\*?|lambda|if|when|unless|cond|e?case|e?typecase|progn?|prog1|block|return-from|return|loop|do|do\*|dolist|dotimes|flet|labels|macrolet|symbol-macrolet|multiple-value-bind|destructuring-bind|unwind-protect|handler-case|handler-bind|restart-case|with-` + symbol + `|setf|setq|incf|decf|push|pop|in-package|declare|locally|eval-when|the|and|or|not)(?=[` + ends + `]|$)`,
				Type: chroma.ByGroups(chroma.Punctuation, chroma.Keyword)},
			{Pattern: `:` + symbol, Type: chroma.NameConstant},
			{Pattern: `[-+]?\d+(?:\.\d*|/\d+)?(?:[esfdl][-+]?\d+)?(?=[` + ends + `]|$)`, Type: chroma.Number},
			{Pattern: `\*[^` + ends + `*]+\*`, Type: chroma.NameVariable},
			{Pattern: `(?:t|nil)(?=[` + ends + `]|$)`, Type: chroma.NameConstant},
			{Pattern: `[()]`, Type: chroma.Punctuation},
			{Pattern: `['` + "`" + `,@#]+`, Type: chroma.Operator},
			{Pattern: symbol, Type: chroma.Text},
			{Pattern: `.`, Type: chroma.Text},
		},
		"comment": {
			{Pattern: `[^|#]+`, Type: chroma.Comment},
			{Pattern: `\|#`, Type: chroma.Comment, Mutator: chroma.Pop(1)},
			{Pattern: `#\|`, Type: chroma.Comment, Mutator: chroma.Push("comment")},
			{Pattern: `[|#]`, Type: chroma.Comment},
		},
	}
})

// classes are those of the style, by what they colour.
var classes = map[chroma.TokenType]string{
	chroma.Comment: "hc", chroma.String: "hs", chroma.Keyword: "hk", chroma.NameFunction: "hf",
	chroma.NameConstant: "hn", chroma.Number: "hm", chroma.NameVariable: "hv", chroma.Punctuation: "hp", chroma.Operator: "hp",
}

// highlight is code, which is safe, as HTML.
func highlight(code string) template.HTML {
	var b strings.Builder
	tokens, err := lispLexer.Tokenise(nil, code)
	if err != nil {
		template.HTMLEscape(&b, []byte(code))
		return template.HTML(b.String())
	}
	last := ""
	for _, t := range tokens.Tokens() {
		class := classes[t.Type]
		if class != last && last != "" {
			b.WriteString("</span>")
		}
		if class != last && class != "" {
			b.WriteString(`<span class="` + class + `">`)
		}
		last = class
		template.HTMLEscape(&b, []byte(t.Value))
	}
	if last != "" {
		b.WriteString("</span>")
	}
	return template.HTML(b.String())
}
