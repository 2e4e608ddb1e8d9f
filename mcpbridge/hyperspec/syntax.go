package hyperspec

import "strings"

// Chapter 22.3 has a page for each directive of FORMAT, chapter 2.4 one for
// each standard macro character: file names by directive or characters.
var (
	directives = map[string][]string{
		"C": {"22_caa"}, "%": {"22_cab"}, "&": {"22_cac"}, "|": {"22_cad"}, "~": {"22_cae"},
		"R": {"22_cba"}, "D": {"22_cbb"}, "B": {"22_cbc"}, "O": {"22_cbd"}, "X": {"22_cbe"},
		"F": {"22_cca"}, "E": {"22_ccb"}, "G": {"22_ccc"}, "$": {"22_ccd"},
		"A": {"22_cda"}, "S": {"22_cdb"}, "W": {"22_cdc"},
		"_": {"22_cea"}, "<": {"22_cfb", "22_ceb"}, ":>": {"22_ceb"}, "I": {"22_cec"}, "/": {"22_ced"},
		"T": {"22_cfa"}, ">": {"22_cfc", "22_ceb"},
		"*": {"22_cga"}, "[": {"22_cgb"}, "]": {"22_cgc"}, "{": {"22_cgd"}, "}": {"22_cge"}, "?": {"22_cgf"},
		"(": {"22_cha"}, ")": {"22_chb"}, "P": {"22_chc"},
		";": {"22_cia"}, "^": {"22_cib"}, "NEWLINE": {"22_cic"}, "\n": {"22_cic"},
	}
	macroCharacters = map[string]string{
		"(": "02_da", ")": "02_db", "'": "02_dc", ";": "02_dd", `"`: "02_de", "`": "02_df",
		",": "02_dg", ",@": "02_dg", ",.": "02_dg", "#": "02_dh",
		`#\`: "02_dha", "#'": "02_dhb", "#(": "02_dhc", "#*": "02_dhd", "#:": "02_dhe", "#.": "02_dhf",
		"#B": "02_dhg", "#O": "02_dhh", "#X": "02_dhi", "#R": "02_dhj", "#C": "02_dhk", "#A": "02_dhl",
		"#S": "02_dhm", "#P": "02_dhn", "#=": "02_dho", "##": "02_dhp", "#+": "02_dhq", "#-": "02_dhr",
		"#|": "02_dhs", "#<": "02_dht", "#)": "02_dhv",
	}
)

// Syntax returns the pages of a directive of FORMAT, such as ~A or ~:@(, or of a
// macro character, such as #' or #+; none for anything else.
func Syntax(text string) []Page {
	text = strings.ToUpper(strings.TrimSpace(text))
	if file, ok := macroCharacters[text]; ok {
		return []Page{page("Macro Character", text, file)}
	}
	rest, ok := strings.CutPrefix(text, "~")
	if !ok {
		return nil
	}
	name := strings.TrimLeft(rest, "0123456789,+-V#")
	files, ok := directives[name]
	if !ok {
		files, ok = directives[strings.TrimLeft(name, ":@")]
	}
	if !ok {
		return nil
	}
	var pages []Page
	for _, f := range files {
		pages = append(pages, page("Format Directive", text, f))
	}
	return pages
}

func page(kind, name, file string) Page {
	return Page{Kind: kind, Names: []string{name}, URL: Root + "Body/" + file + ".htm"}
}
