// Package hyperspec knows the pages of the Common Lisp HyperSpec: where each of
// the 978 symbols of the package COMMON-LISP is described, each directive of
// FORMAT and each macro character of the reader. It holds names of pages and
// nothing of what is on them, and needs no network.
package hyperspec

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// Root is where the HyperSpec is on the web.
const Root = "http://www.lispworks.com/documentation/HyperSpec/"

// Page is a page of the HyperSpec.
type Page struct {
	Kind  string   // "Function", "Macro", …: what it describes
	Names []string // the symbols it describes, in upper case; or a title
	URL   string
}

// pagesText has a line for each page: its file's name and the symbols on it.
//
//go:embed pages.txt
var pagesText string

type index struct {
	pages map[string][]Page   // symbol in upper case to its pages
	words map[string][]string // word of a symbol's name to symbols, sorted
	names []string            // every symbol, sorted
}

var load = sync.OnceValue(func() *index {
	ix := &index{pages: map[string][]Page{}, words: map[string][]string{}}
	for line := range strings.Lines(pagesText) {
		fields := strings.Fields(strings.ToUpper(line))
		file, _, _ := strings.Cut(line, " ")
		p := Page{Kind: cmp.Or(kinds[file[:2]], "Section"), Names: fields[1:], URL: Root + "Body/" + file + ".htm"}
		for _, name := range p.Names {
			ix.pages[name] = append(ix.pages[name], p)
		}
	}
	for name := range ix.pages {
		ix.names = append(ix.names, name)
		for _, w := range words(name) {
			ix.words[w] = append(ix.words[w], name)
		}
	}
	slices.Sort(ix.names)
	for _, names := range ix.words {
		slices.Sort(names)
	}
	return ix
})

// kinds are what the first letters of a page's file say; others are sections.
var kinds = map[string]string{
	"f_": "Function", "m_": "Macro", "s_": "Special Operator", "v_": "Variable", "t_": "Type", "e_": "Condition Type",
	"d_": "Declaration", "r_": "Restart", "03": "Lambda List Keyword",
}

// words are the parts of a name that the permuted index lists it under.
func words(name string) []string {
	return slices.Compact(slices.Sorted(slices.Values(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-*+&/<>=", r) }))))
}

// Symbol returns the pages of a standard symbol, in any case; none for others.
func Symbol(name string) []Page { return load().pages[strings.ToUpper(name)] }

// Symbols returns the names of all symbols, sorted.
func Symbols() []string { return slices.Clone(load().names) }

// Word returns the symbols that the permuted index lists under the word.
func Word(word string) []string { return slices.Clone(load().words[strings.ToUpper(word)]) }

// Permuted returns the pages of the permuted symbol index that list the symbol,
// one for each first letter of its words.
func Permuted(name string) []string {
	var urls []string
	for _, w := range append(words(strings.ToUpper(name)), "") {
		letter := "9" // not alphabetic
		if w != "" && w[0] >= 'A' && w[0] <= 'Z' {
			letter = w[:1]
		} else if len(urls) > 0 {
			continue
		}
		if url := Root + "Front/X_Perm_" + letter + ".htm"; !slices.Contains(urls, url) {
			urls = append(urls, url)
		}
	}
	return urls
}

// Glossary returns the page of the glossary for words with that first letter.
func Glossary(word string) string {
	letter := "9"
	if c := strings.ToLower(word)[0]; c >= 'a' && c <= 'z' {
		letter = string(c)
	}
	return Root + "Body/26_glo_" + letter + ".htm"
}
