package sexp

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
)

// numClass is what an unescaped token without colons is as a number.
type numClass byte

const (
	numNone numClass = iota // a symbol
	numInteger
	numRatio
	numZeroDenom // 1/0, which the reader refuses
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
		end := digits(b, i+1)
		if end == i+1 || end != len(b) {
			return numNone
		}
		for _, c := range b[i+1:] {
			if c != '0' {
				return numRatio
			}
		}
		return numZeroDenom
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

// parseBig parses an integer token.
func parseBig(b []byte) (*big.Int, error) {
	if len(b) > MaxDigits {
		return nil, ErrTooLarge
	}
	if b[len(b)-1] == '.' {
		b = b[:len(b)-1]
	}
	i, ok := new(big.Int).SetString(string(b), 10)
	if !ok {
		return nil, errRange
	}
	return i, nil
}

// parseRatio parses a ratio token.
func parseRatio(b []byte) (*big.Rat, error) {
	if len(b) > MaxDigits {
		return nil, ErrTooLarge
	}
	r, ok := new(big.Rat).SetString(string(b))
	if !ok {
		return nil, errRange
	}
	return r, nil
}

// parseFloat parses a float token. Without exponent or with "e" or "d" it is a
// double, as Swank prints (its default format is double); "f" and "s" are
// single and are widened.
func parseFloat(b []byte) (float64, error) {
	bits := 64
	text := []byte(string(b))
	for i, c := range text {
		if isExponent(c) {
			if c |= 0x20; c == 'f' || c == 's' {
				bits = 32
			}
			text[i] = 'e'
		}
	}
	f, err := strconv.ParseFloat(string(text), bits)
	if err != nil {
		return 0, errRange
	}
	return f, nil
}

// infinity recognises the datums that stand for the infinities.
func infinity(b []byte) (float64, bool) {
	switch string(b) {
	case "#.sb-ext:double-float-positive-infinity", "#.sb-ext:single-float-positive-infinity":
		return math.Inf(1), true
	case "#.sb-ext:double-float-negative-infinity", "#.sb-ext:single-float-negative-infinity":
		return math.Inf(-1), true
	}
	return 0, false
}

// appendFloat writes f, which is finite, with the exponent marker of its
// format: 'd' for 64 bits, 'f' for 32.
func appendFloat(b []byte, f float64, bits int, marker byte) []byte {
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-5 || a >= 1e21) {
		format = 'e'
	}
	text := strconv.AppendFloat(nil, f, format, -1, bits)
	mantissa, exponent := text, []byte("0")
	for i, c := range text {
		if c == 'e' {
			mantissa, exponent = text[:i], text[i+1:]
			exponent = bytes.Replace(bytes.TrimPrefix(exponent, []byte("+")), []byte("-0"), []byte("-"), 1)
		}
	}
	b = append(b, mantissa...)
	if classify(mantissa) == numInteger {
		b = append(b, ".0"...)
	}
	b = append(b, marker)
	return append(b, exponent...)
}
