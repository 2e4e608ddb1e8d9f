package sexp

// numClass is what an unescaped token is as a number.
type numClass byte

const (
	numNone numClass = iota // a symbol
	numInteger
	numRatio
	numFloat
)

func digits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}

// classify follows CLHS 2.3.1 for base 10:
//
//	integer = [sign] digit+ ["."]
//	ratio   = [sign] digit+ "/" digit+
//	float   = [sign] digit* "." digit+ [exponent] | [sign] digit+ ["." digit*] exponent
func classify(b []byte) numClass {
	i := 0
	if i < len(b) && (b[i] == '+' || b[i] == '-') {
		i++
	}
	whole := i
	i = digits(b, i)
	hasWhole := i > whole
	if hasWhole && i == len(b) {
		return numInteger
	}
	if i == len(b) {
		return numNone
	}
	if b[i] == '/' && hasWhole {
		if end := digits(b, i+1); end > i+1 && end == len(b) {
			return numRatio
		}
		return numNone
	}
	hasFraction := false
	if b[i] == '.' {
		fraction := i + 1
		i = digits(b, fraction)
		hasFraction = i > fraction
		if i == len(b) {
			switch {
			case hasFraction:
				return numFloat
			case hasWhole:
				return numInteger
			}
			return numNone
		}
	}
	if !hasWhole && !hasFraction || !isExponent(b[i]) {
		return numNone
	}
	if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
		i++
	}
	if end := digits(b, i); end > i && end == len(b) {
		return numFloat
	}
	return numNone
}

// isExponent reports whether c marks an exponent; the letter tells the format.
func isExponent(c byte) bool {
	switch c | 0x20 {
	case 'e', 's', 'f', 'd', 'l':
		return true
	}
	return false
}

// parseInt parses an integer token that fits an int64.
func parseInt(b []byte) (int64, bool) {
	neg := b[0] == '-'
	if neg || b[0] == '+' {
		b = b[1:]
	}
	var u uint64
	for _, c := range b {
		if c == '.' {
			break
		}
		d := uint64(c - '0')
		if u > (1<<63-d)/10 {
			return 0, false
		}
		u = u*10 + d
	}
	if neg {
		return -int64(u), true
	}
	return int64(u), u < 1<<63
}
