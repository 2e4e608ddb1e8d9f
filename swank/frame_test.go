package swank

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// readAll cuts a stream into payloads and returns how it ended.
func readAll(r io.Reader, max int) (payloads []string, err error) {
	f := newFrameReader(r, max)
	for {
		fr, err := f.next()
		if err != nil {
			return payloads, err
		}
		p := string(fr.payload)
		if fr.tooBig != nil {
			p = fmt.Sprintf("%v: %s", fr.tooBig, p)
		}
		payloads = append(payloads, p)
	}
}

func TestFrameReader(t *testing.T) {
	big := strings.Repeat("x", readBuffer+1)
	edge := strings.Repeat("y", readBuffer-headerLen)
	for _, tt := range []struct {
		name, in string
		max      int
		want     []string
		err      string // "EOF" is the clean end
	}{
		{"empty", "", 0, nil, "EOF"},
		{"one", "000003abc", 0, []string{"abc"}, "EOF"},
		{"lower case header", "00000aaaaaabbbbb", 0, []string{"aaaaabbbbb"}, "EOF"},
		{"upper case header", "00000Aaaaaabbbbb", 0, []string{"aaaaabbbbb"}, "EOF"},
		{"zero length", "000000000001a", 0, []string{"", "a"}, "EOF"},
		{"bytes not characters", "000006é😀000001a", 0, []string{"é😀", "a"}, "EOF"},
		{"as large as the buffer", fmt.Sprintf("%06x%s000001a", len(edge), edge), 0, []string{edge, "a"}, "EOF"},
		{"larger than the buffer", fmt.Sprintf("%06x%s000001a", len(big), big), 0, []string{big, "a"}, "EOF"},
		{"short header", "000001a0000", 0, []string{"a"}, "frame header ended after 4 of 6 bytes: unexpected EOF"},
		{"short body", "000005abc", 0, nil, "frame ended after 3 of 5 bytes: unexpected EOF"},
		{"no body", "000005", 0, nil, "frame ended after 0 of 5 bytes: unexpected EOF"},
		{"short large body", "0fffffabc", 0, nil, "frame ended after 3 of 1048575 bytes: unexpected EOF"},
		{"bad header", "00000gabc", 0, nil, `bad frame header "00000g"`},
		{"blanks in header", "    2bxx", 0, nil, `bad frame header "    2b"`},
		{"sign in header", "+0002bxx", 0, nil, `bad frame header "+0002b"`},
		{"over the limit", "00000babc (x) 123000001a", 10, []string{"frame of 11 bytes exceeds the limit of 10: abc (x) 123", "a"}, "EOF"},
		{"far over the limit", "0000c8" + strings.Repeat("z", 200) + "000001a", 10,
			[]string{"frame of 200 bytes exceeds the limit of 10: " + strings.Repeat("z", tailLen), "a"}, "EOF"},
		{"over the limit and short", "0000c8zzz", 10, nil, "frame ended after 3 of 200 bytes: unexpected EOF"},
		{"over the limit without tail", "0000c8" + strings.Repeat("z", 190), 10, nil, "frame ended after 190 of 200 bytes: unexpected EOF"},
	} {
		if tt.max == 0 {
			tt.max = maxFrame
		}
		for how, r := range map[string]io.Reader{
			"whole":     strings.NewReader(tt.in),
			"by byte":   iotest.OneByteReader(strings.NewReader(tt.in)),
			"by halves": iotest.HalfReader(strings.NewReader(tt.in)),
			"data+err":  iotest.DataErrReader(strings.NewReader(tt.in)),
		} {
			got, err := readAll(r, tt.max)
			if fmt.Sprint(got) != fmt.Sprint(tt.want) || err.Error() != tt.err {
				t.Errorf("%s, %s: %.100q, %v; want %.100q, %v", tt.name, how, got, err, tt.want, tt.err)
			}
		}
	}
}

func TestFrameReaderPassesErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	for _, in := range []string{"", "0000", "000005abc", "0fffffabc"} {
		_, err := readAll(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken)), maxFrame)
		if !errors.Is(err, broken) {
			t.Errorf("%q: %v, want %v", in, err, broken)
		}
	}
}

// A frame stays valid until the next one is read, whatever its size.
func TestFrameLargest(t *testing.T) {
	in := append([]byte("FFFFFF"), bytes.Repeat([]byte("m"), maxFrame)...)
	f := newFrameReader(bytes.NewReader(in), maxFrame)
	fr, err := f.next()
	if err != nil || len(fr.payload) != maxFrame || !fr.owned {
		t.Fatalf("%d bytes, owned %v, %v", len(fr.payload), fr.owned, err)
	}
}

func TestFinishFrame(t *testing.T) {
	for n, want := range map[int]string{0: "000000", 10: "00000a", 0xABCDEF: "abcdef", maxFrame: "ffffff"} {
		b := make([]byte, headerLen+n)
		if err := finishFrame(b, 0); err != nil || string(b[:headerLen]) != want {
			t.Errorf("header of %d bytes: %q, %v; want %q", n, b[:headerLen], err, want)
		}
	}
	err := finishFrame(make([]byte, headerLen+maxFrame+1), 0)
	if tooBig := (*FrameSizeError)(nil); !errors.As(err, &tooBig) || tooBig.Size != maxFrame+1 {
		t.Errorf("one byte too many: %v", err)
	}
}
