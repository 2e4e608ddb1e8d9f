package sexp

import (
	"math/big"
	"reflect"
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	for class, tokens := range map[numClass][]string{
		numInteger: {"0", "1", "+1", "-1", "1.", "-1.", "007", "+0"},
		numRatio:   {"1/2", "-1/2", "+10/20", "0/1", "1/01", "1/0", "-1/000", "0/0"},
		numFloat: {"1.0", ".5", "-.5", "+.5", "1e5", "1E5", "1.e5", "1.5e5", "1.5e+5", "1.5e-5", "1d0", "1D0", "1f0", "1s0", "1l0",
			".5e1", "00.0"},
		numNone: {"", "+", "-", ".", "..", "+.", "-.", "1+", "1-", "+-1", "1/", "/2", "1/2/3", "1/-2", "1/2.", "1.2.3", "1..2",
			"e5", ".e5", "+e5", "1e", "1e+", "1e5.", "1e5e5", "1.5x5", "1x", "x1", "1_000", "1,5", "0x10", "1e-", "1.e", "+.e5"},
	} {
		for _, s := range tokens {
			if got := classify([]byte(s)); got != class {
				t.Errorf("classify(%q) = %d, want %d", s, got, class)
			}
		}
	}
}

// TestIntegerBounds crosses the limits of every integer kind.
func TestIntegerBounds(t *testing.T) {
	for _, c := range []struct {
		target   any
		min, max string
		outside  []string
	}{
		{new(int8), "-128", "127", []string{"-129", "128", "1270"}},
		{new(int16), "-32768", "32767", []string{"-32769", "32768"}},
		{new(int32), "-2147483648", "2147483647", []string{"-2147483649", "2147483648"}},
		{new(int64), "-9223372036854775808", "9223372036854775807", []string{"-9223372036854775809", "9223372036854775808",
			"18446744073709551616", "-18446744073709551616", "92233720368547758070", strings.Repeat("9", 1000)}},
	} {
		for _, s := range []string{c.min, c.max, c.max + ".", "+" + c.max, "00" + c.max, "0"} {
			if err := Unmarshal([]byte(s), c.target); err != nil {
				t.Errorf("%T: %v", c.target, err)
				continue
			}
			back, err := Marshal(reflect.ValueOf(c.target).Elem().Interface())
			if err != nil || string(back) != strings.Trim(s, "+.") && string(back) != strings.TrimLeft(s, "0") {
				t.Errorf("%T: %q became %q, %v", c.target, s, back, err)
			}
		}
		for _, s := range append(c.outside, "1/2", "0.0", "1e0") {
			if err := Unmarshal([]byte(s), c.target); err == nil {
				t.Errorf("%T accepts %s", c.target, s)
			}
		}
	}
}

// TestIntegersAgainstBig compares with math/big around the powers of two.
func TestIntegersAgainstBig(t *testing.T) {
	for shift := range 70 {
		for delta := int64(-3); delta <= 3; delta++ {
			for _, sign := range []int64{1, -1} {
				i := new(big.Int).Lsh(big.NewInt(sign), uint(shift))
				i.Add(i, big.NewInt(delta))
				var got int64
				if err := Unmarshal([]byte(i.String()), &got); (err == nil) != i.IsInt64() || err == nil && got != i.Int64() {
					t.Errorf("%s decodes as %d, %v", i, got, err)
				}
			}
		}
	}
}
