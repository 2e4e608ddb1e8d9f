package sexp

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestClassify(t *testing.T) {
	for class, tokens := range map[numClass][]string{
		numInteger:   {"0", "1", "+1", "-1", "1.", "-1.", "007", "+0"},
		numRatio:     {"1/2", "-1/2", "+10/20", "0/1", "1/01"},
		numZeroDenom: {"1/0", "-1/000", "0/0"},
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
		target any
		min    string
		max    string
	}{
		{new(int8), "-128", "127"},
		{new(int16), "-32768", "32767"},
		{new(int32), "-2147483648", "2147483647"},
		{new(int64), "-9223372036854775808", "9223372036854775807"},
		{new(uint8), "0", "255"},
		{new(uint16), "0", "65535"},
		{new(uint32), "0", "4294967295"},
		{new(uint64), "0", "18446744073709551615"},
	} {
		one := big.NewInt(1)
		below := new(big.Int).Sub(bigInt(c.min), one).String()
		above := new(big.Int).Add(bigInt(c.max), one).String()
		for _, s := range []string{c.min, c.max, c.max + ".", "0"} {
			if err := Unmarshal([]byte(s), c.target); err != nil {
				t.Errorf("%T: %v", c.target, err)
				continue
			}
			back, err := Marshal(c.target)
			if err != nil || string(back) != strings.TrimSuffix(s, ".") {
				t.Errorf("%T: %q became %q, %v", c.target, s, back, err)
			}
		}
		for _, s := range []string{below, above, above + "0", "-" + above + "00", "1/2", "0.0", "1e0"} {
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
				var v any
				if err := Unmarshal([]byte(i.String()), &v); err != nil {
					t.Fatal(err)
				}
				if _, small := v.(int64); small != i.IsInt64() || fmt.Sprint(v) != i.String() {
					t.Errorf("%s decodes as %T %v", i, v, v)
				}
			}
		}
	}
}

func TestFloatText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		b, err := Marshal(f)
		if math.IsNaN(f) || math.IsInf(f, 0) || f != 0 && math.Abs(f) < 0x1p-1022 {
			if err == nil {
				t.Fatalf("Marshal(%v) = %q", f, b)
			}
			return
		}
		var back float64
		if err := Unmarshal(b, &back); err != nil || math.Float64bits(back) != math.Float64bits(f) {
			t.Fatalf("%v became %q became %v, %v", f, b, back, err)
		}
		if _, err := Marshal(Raw(b)); err != nil {
			t.Fatalf("%q is not safe: %v", b, err)
		}
	})
}

func TestFloat32Text(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float32Range(0x1p-126, math.MaxFloat32).Draw(t, "f")
		b, err := Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var back float32
		if err := Unmarshal(b, &back); err != nil || back != f {
			t.Fatalf("%v became %q became %v, %v", f, b, back, err)
		}
	})
}

// TestAnyNumberIntoFloat: integers and ratios round to the nearest float.
func TestAnyNumberIntoFloat(t *testing.T) {
	for text, want := range map[string]float64{
		"1": 1, "-3": -3, "9007199254740993": 9007199254740992, "1/3": 1.0 / 3, "-1/3": -1.0 / 3, "2.5": 2.5, "1s1": 10,
		"123456789012345678901234567890": 1.2345678901234568e29,
	} {
		var f float64
		if err := Unmarshal([]byte(text), &f); err != nil || f != want {
			t.Errorf("%s = %v, %v, want %v", text, f, err, want)
		}
	}
	var f float64
	if err := Unmarshal([]byte("1"+strings.Repeat("0", 400)), &f); err == nil {
		t.Errorf("10^400 = %v", f)
	}
}

func TestBigTargets(t *testing.T) {
	var i big.Int
	if err := Unmarshal([]byte("123456789012345678901234567890"), &i); err != nil || i.String() != "123456789012345678901234567890" {
		t.Errorf("%v, %v", &i, err)
	}
	var list []*big.Int
	if err := Unmarshal([]byte("(1 nil 8/4 3.0)"), &list); err != nil || len(list) != 4 || list[1] != nil || list[2].Int64() != 2 || list[3].Int64() != 3 {
		t.Errorf("%v, %v", list, err)
	}
	var r big.Rat
	for text, want := range map[string]string{"5": "5/1", "5/10": "1/2", "0.25": "1/4", "-1.5d0": "-3/2"} {
		if err := Unmarshal([]byte(text), &r); err != nil || r.String() != want {
			t.Errorf("%s = %v, %v, want %s", text, &r, err, want)
		}
	}
	for _, text := range []string{"x", `"1"`, "#<1>", "1e999"} {
		if err := Unmarshal([]byte(text), &r); err == nil {
			t.Errorf("%s = %v", text, &r)
		}
	}
}
