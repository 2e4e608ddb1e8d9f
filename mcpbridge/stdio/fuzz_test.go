package stdio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/stdio/stdiotest"
)

// FuzzLines: the codec gives back the lines of any input, whatever the sizes
// of its reads, and the reading of a line agrees with encoding/json.
func FuzzLines(f *testing.F) {
	for _, tt := range stdiotest.Hostile {
		if len(tt.Line) < 1000 {
			f.Add([]byte(tt.Line))
		}
	}
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}` + "\r\n\n" + `{"jsonrpc":"2.0","id":"a\"b","method":"x"}`))
	f.Add([]byte(`{"a":[1,{"b":"]}"}],"\u0069d":1 , "id" : 2,"jsonrpc":"2.0","method":"x","params":{}}`))
	f.Add([]byte(`[ ]` + "\n" + `[ 1 , [2] , "," , {"a":","} , null ]`))
	f.Fuzz(func(t *testing.T, input []byte) {
		const max = 256
		for _, r := range []io.Reader{bytes.NewReader(input), iotest.OneByteReader(bytes.NewReader(input))} {
			frames := readFrames(t, r, max)
			lines := linesOf(input, max)
			if len(frames) != len(lines) {
				t.Fatalf("%d frames of the lines %q", len(frames), lines)
			}
			for i := range frames {
				if f := &frames[i]; !f.isOf(lines[i], max) {
					t.Fatalf("line %q was read as %q … %q, long: %v", lines[i], f.data, f.tail, f.long)
				}
				checkFrame(t, &frames[i], max)
			}
		}
	})
}

// linesOf are the lines of input with their ends, but for blank ones, which are
// skipped unless they are too long.
func linesOf(input []byte, max int) (lines [][]byte) {
	for line := range bytes.Lines(input) {
		if len(line) > max+len("\r\n") || len(bytes.Trim(line, " \t\r\n")) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// isOf reports whether f is what is to be read of line: all of it, or the two
// ends of a long one.
func (f *frame) isOf(line []byte, max int) bool {
	if len(line) <= max+len("\r\n") {
		return !f.long && bytes.Equal(f.data, bytes.Trim(line, " \t\r\n"))
	}
	end := bytes.TrimRight(line, " \t\r\n")
	return f.long && len(f.data) > 0 && len(f.data) <= edge && len(f.tail) <= edge &&
		bytes.HasPrefix(line, f.data) && bytes.HasSuffix(end, f.tail)
}

func readFrames(t *testing.T, r io.Reader, max int) (frames []frame) {
	br := bufio.NewReaderSize(r, 16)
	for {
		var f frame
		if err := (lineCodec{max}).ReadObject(br, &f); err != nil {
			if err != io.EOF {
				t.Fatal(err)
			}
			return frames
		}
		if !f.long && (len(f.data) == 0 || len(f.data) > max+2 || bytes.IndexByte(f.data, '\n') >= 0) {
			t.Fatalf("frame %q", f.data)
		}
		frames = append(frames, f)
	}
}

func checkFrame(t *testing.T, f *frame, max int) {
	refusal := checkLine(f, max)
	if !f.long && (refusal == nil) != json.Valid(f.data) {
		t.Fatalf("%q: refusal %v", f.data, refusal)
	}
	edgeID(f)
	if refusal != nil {
		if line := errorLine(nil, refusal); !json.Valid(line) || !utf8.Valid(line) {
			t.Fatalf("refused with %q", line)
		}
		return
	}
	switch f.data[0] {
	case '[':
		var want []json.RawMessage
		if err := json.Unmarshal(f.data, &want); err != nil {
			t.Fatal(err)
		}
		got := rawtext.Elements(f.data)
		if len(got) != len(want) {
			t.Fatalf("%q: %d elements, want %d", f.data, len(got), len(want))
		}
		for i := range got {
			if !bytes.Equal(got[i], want[i]) {
				t.Fatalf("%q: element %q, want %q", f.data, got[i], want[i])
			}
		}
	case '{':
		var want map[string]json.RawMessage
		if err := json.Unmarshal(f.data, &want); err != nil {
			t.Fatal(err)
		}
		got := make(map[string]json.RawMessage)
		rawtext.Members(f.data, func(key, value []byte) { got[strings.ToValidUTF8(string(key), "\ufffd")] = value })
		for k, v := range want {
			if utf8.ValidString(k) && !strings.Contains(k, "\ufffd") && !bytes.Equal(got[k], v) {
				t.Fatalf("%q: member %q is %q, want %q", f.data, k, got[k], v)
			}
		}
		if m, _ := parseMessage(f.data); m.id != nil {
			if line := errorLine(m.id, refuse(-32600, "x")); !json.Valid(line) || !utf8.Valid(line) {
				t.Fatalf("id %q answered with %q", m.id, line)
			}
		}
	}
}
