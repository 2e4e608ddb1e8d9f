package flame

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"swank-mcp/swank/lisp"
)

func TestSVG(t *testing.T) {
	p := &lisp.Profile{
		Frames: []lisp.ProfileFrame{{Function: "the form"}, {Function: "SHOP:TOTAL"}, {Function: "(LAMBDA (X) :IN \"a<b>\")", Kind: lisp.ProgramFrame},
			{Function: "SORT", Kind: lisp.LispFrame}, {Function: "RARE"}},
		Stacks: []lisp.ProfileStack{{Samples: 7500, Frames: []int{0, 1, 2}}, {Samples: 2000, Frames: []int{0, 1}}, {Samples: 499, Frames: []int{0, 3}}, {Samples: 1, Frames: []int{4}}},
	}
	svg := string(SVG("(f \x00 & g)", p))
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("no XML: %v\n%s", err, svg)
		}
	}
	for _, want := range []string{
		"<title>all: 10000 of 10000 samples, 100.0 %</title>",
		"<title>SHOP:TOTAL: 9500 of 10000 samples, 95.0 %</title>",
		`<title>(LAMBDA (X) :IN &#34;a&lt;b&gt;&#34;): 7500 of 10000 samples, 75.0 %</title><rect x="0.00" y="40" width="900.00"`,
		`<title>SORT: 499 of 10000 samples, 5.0 %</title><rect x="1140.00" y="57" width="59.88" height="16" fill="#9fc5d8"`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("missing: %s\n%s", want, svg)
		}
	}
	if strings.Contains(svg, "RARE") {
		t.Error("a function too narrow to be seen is drawn")
	}
	if got := SVG("nothing", &lisp.Profile{}); got != nil {
		t.Errorf("a graph of no stacks: %s", got)
	}
}
