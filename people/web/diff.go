package web

import "strings"

// A change is a line of a unified diff: "-" and "+" are of one of the texts, " " of both, and
// "@" stands for lines that are left out.
type change struct{ Sign, Text string }

const (
	around  = 3         // lines that are shown around what differs
	mostLCS = 4_000_000 // steps of looking for what is the same
)

// diff is how the lines of a text became those of another.
func diff(before, after string) (all []change) {
	a, b := splitLines(before), splitLines(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	add := func(sign string, lines []string) {
		for _, l := range lines {
			all = append(all, change{sign, l})
		}
	}
	add(" ", a[:head])
	all = append(all, changes(a[head:len(a)-tail], b[head:len(b)-tail])...)
	add(" ", a[len(a)-tail:])
	return folded(all)
}

func splitLines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }

// changes is the whole diff of a and b, by their longest common subsequence, if that can be
// found in time.
func changes(a, b []string) (all []change) {
	if len(a)*len(b) > mostLCS {
		for _, l := range a {
			all = append(all, change{"-", l})
		}
		for _, l := range b {
			all = append(all, change{"+", l})
		}
		return all
	}
	common := make([][]int, len(a)+1) // how many lines a[i:] and b[j:] have in common
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			all = append(all, change{" ", a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			all = append(all, change{"-", a[i]})
			i++
		default:
			all = append(all, change{"+", b[j]})
			j++
		}
	}
	return all
}

// folded is a diff without the lines that are far from what differs.
func folded(all []change) (short []change) {
	near := make([]bool, len(all))
	for i, c := range all {
		if c.Sign != " " {
			for k := max(0, i-around); k <= min(len(all)-1, i+around); k++ {
				near[k] = true
			}
		}
	}
	for i, c := range all {
		switch {
		case near[i]:
			short = append(short, c)
		case i == 0 || near[i-1]:
			short = append(short, change{Sign: "@"})
		}
	}
	return short
}
