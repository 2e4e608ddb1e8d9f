package args

import "strings"

// Unfenced is code without the Markdown fence that it was pasted with. Code
// that ends with three backquotes can never be read, so nothing else is meant.
// The lines keep their numbers.
func Unfenced(code string) string {
	const fence = "```"
	above, _, _ := strings.Cut(code, fence)
	body, ok := strings.CutPrefix(strings.TrimSpace(code), fence)
	if !ok {
		return code
	}
	language, body, ok := strings.Cut(body, "\n")
	if !ok || strings.ContainsAny(strings.TrimSpace(language), " ()'\"`;") {
		return code
	}
	body, ok = strings.CutSuffix(body, fence)
	if !ok || strings.Contains(body, fence) {
		return code
	}
	return strings.Repeat("\n", strings.Count(above, "\n")+1) + body
}
