package syntax

import "strings"

// Mend adds the closing parentheses that are missing in text, where the indentation
// says that they belong. It returns false if the text has other problems, too.
func Mend(text string) (string, bool) {
	for range maxProblems {
		problems := Check(text).Problems
		if len(problems) == 0 {
			return text, true
		}
		p := problems[0]
		if p.Missing == 0 || len(problems) > 1 {
			return "", false
		}
		mended := p.closed(text, "")
		if !fewer(mended, p) {
			mended = p.closed(text, "\n") // the line ends in a comment
		}
		if !fewer(mended, p) {
			return "", false
		}
		text = mended
	}
	return "", false
}

// closed is text with the parentheses that p misses, after before, at the end
// of the line where they belong.
func (p *Problem) closed(text, before string) string {
	lines := strings.SplitAfter(text, "\n")
	at := min(p.Hint.Last, len(lines)) - 1
	line := strings.TrimRight(lines[at], " \t\r\n")
	lines[at] = line + before + strings.Repeat(")", p.Missing) + lines[at][len(line):]
	return strings.Join(lines, "")
}

// fewer reports whether text has another problem than p, or none.
func fewer(text string, p Problem) bool {
	problems := Check(text).Problems
	return len(problems) == 0 || problems[0].Pos != p.Pos || problems[0].Message != p.Message
}
