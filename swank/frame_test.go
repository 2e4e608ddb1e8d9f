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
func readAll(r io.Reader) (payloads []string, err error) {
	f := newFrameReader(r)
	for {
		fr, err := f.next()
		if err != nil {
			return payloads, err
		}
		payloads = append(payloads, string(fr.payload))
	}
}

func TestFrameReader(t *testing.T) {
	big := strings.Repeat("x", readBuffer+1)
	edge := strings.Repeat("y", readBuffer-headerLen)
	for _, tt := range []struct {
		name, in string
		want     []string
		err      string // "EOF" is the clean end
	}{
		{"empty", "", nil, "EOF"},
		{"one", "000003abc", []string{"abc"}, "EOF"},
		{"lower case header", "00000aaaaaabbbbb", []string{"aaaaabbbbb"}, "EOF"},
		{"upper case header", "00000Aaaaaabbbbb", []string{"aaaaabbbbb"}, "EOF"},
		{"zero length", "000000000001a", []string{"", "a"}, "EOF"},
		{"bytes not characters", "000006é😀000001a", []string{"é😀", "a"}, "EOF"},
		{"as large as the buffer", fmt.Sprintf("%06x%s000001a", len(edge), edge), []string{edge, "a"}, "EOF"},
		{"larger than the buffer", fmt.Sprintf("%06x%s000001a", len(big), big), []string{big, "a"}, "EOF"},
		{"short header", "000001a0000", []string{"a"}, "frame header ended after 4 of 6 bytes: unexpected EOF"},
		{"short body", "000005abc", nil, "frame ended after 3 of 5 bytes: unexpected EOF"},
		{"no body", "000005", nil, "frame ended after 0 of 5 bytes: unexpected EOF"},
		{"short large body", "0fffffabc", nil, "frame ended after 3 of 1048575 bytes: unexpected EOF"},
		{"bad header", "00000gabc", nil, `bad frame header "00000g"`},
		{"blanks in header", "    2bxx", nil, `bad frame header "    2b"`},
		{"sign in header", "+0002bxx", nil, `bad frame header "+0002b"`},
	} {
		for how, r := range map[string]io.Reader{
			"whole":     strings.NewReader(tt.in),
			"by byte":   iotest.OneByteReader(strings.NewReader(tt.in)),
			"by halves": iotest.HalfReader(strings.NewReader(tt.in)),
			"data+err":  iotest.DataErrReader(strings.NewReader(tt.in)),
		} {
			got, err := readAll(r)
			if fmt.Sprint(got) != fmt.Sprint(tt.want) || err.Error() != tt.err {
				t.Errorf("%s, %s: %.100q, %v; want %.100q, %v", tt.name, how, got, err, tt.want, tt.err)
			}
		}
	}
}

func TestFrameReaderPassesErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	for _, in := range []string{"", "0000", "000005abc", "0fffffabc"} {
		_, err := readAll(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) {
			t.Errorf("%q: %v, want %v", in, err, broken)
		}
	}
}

// A frame stays valid until the next one is read, whatever its size.
func TestFrameLargest(t *testing.T) {
	in := append([]byte("FFFFFF"), bytes.Repeat([]byte("m"), maxFrame)...)
	f := newFrameReader(bytes.NewReader(in))
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
