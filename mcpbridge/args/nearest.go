package args

import (
	"path/filepath"
	"slices"
	"strings"
)

// Nearest returns the candidate that name most likely stands for, or "", where one of them
// must be meant: an argument, a tool. The name may be an abbreviation. Nearest needs no image.
// The helper's EDIT-DISTANCE compares what only an image knows, as symbols and systems.
func Nearest(name string, candidates []string) string {
	best, bestDistance, bestEdits := "", max(2, len(name)/3)+1, 0
	for _, c := range candidates {
		edits := editDistance(strings.ToLower(name), strings.ToLower(c))
		d := edits
		if len(name) >= 3 && (strings.HasPrefix(c, name) || strings.HasPrefix(name, c)) {
			d = min(d, 1)
		}
		if d < bestDistance || best != "" && d == bestDistance && edits < bestEdits {
			best, bestDistance, bestEdits = c, d, edits
		}
	}
	return best
}

// Misspelled returns the candidate that name most likely is a misspelling of, or "", where
// any name may be meant: a file's or a symbol's, which need not be among the candidates.
func Misspelled(name string, candidates []string) string {
	return Nearest(name, slices.DeleteFunc(slices.Clone(candidates), func(c string) bool { return !meant(name, c) }))
}

// meant reports whether written is likely a misspelling of name, or its singular or plural, by
// the rule of the helper's MEANT-P. Files with the same ending are compared without it.
func meant(written, name string) bool {
	if ext := filepath.Ext(name); filepath.Ext(written) == ext {
		written, name = strings.TrimSuffix(written, ext), strings.TrimSuffix(name, ext)
	}
	written, name = strings.ToLower(written), strings.ToLower(name)
	most := 2
	switch length := max(len(written), len(name)); {
	case length < 3 || length == 3 && !sameLetters(written, name):
		most = 0
	case length < 7:
		most = 1
	}
	plural := func(a, b string) bool { return a == b+"s" || a == b+"es" }
	return plural(written, name) || plural(name, written) || editDistance(written, name) <= most
}

func sameLetters(a, b string) bool {
	sorted := func(s string) []byte { return slices.Sorted(slices.Values([]byte(s))) }
	return slices.Equal(sorted(a), sorted(b))
}

// editDistance is how many bytes of a must be changed, left out, put in or
// swapped with their neighbour to make it b.
func editDistance(a, b string) int {
	if len(a) > 64 {
		a = a[:64]
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j-1]+cost, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
