package render

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Gap stands for n characters that nothing keeps. The helper writes the same line where a
// text of one piece is too long for it.
func Gap(n int64) string {
	return "\n; … " + Count(n) + " characters left out here: too long to keep. Print less, or write it to a file …\n"
}

var gapPattern = regexp.MustCompile(`\n; … ([\d,]+) characters left out here: too long to keep\. Print less, or write it to a file …\n`)

// Gaps returns how many characters the gaps in text stand for, and how many they have themselves.
func Gaps(text string) (lost int64, own int) {
	for _, m := range gapPattern.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseInt(strings.ReplaceAll(m[1], ",", ""), 10, 64) // 0 of what is no number of ours
		lost += n
		own += utf8.RuneCountInString(m[0])
	}
	return lost, own
}
