package mcpbridge

import "testing"

func TestRootDir(t *testing.T) {
	for _, c := range []struct {
		uri           string
		unix, windows string
	}{
		{"file:///home/ann/my%20shop", "/home/ann/my shop", ""},
		{"file://localhost/home/ann", "/home/ann", ""},
		{"file:///C:/Users/Ann/shop", "", `C:\Users\Ann\shop`},
		{"file:///c%3A/Users/Ann", "", `c:\Users\Ann`},
		{"file:///C:", "", `C:\`},
		{"file://server/share/shop", "", `\\server\share\shop`},
		{"https://example.org/shop", "", ""},
		{"file:shop", "", ""},
		{"file:///%zz", "", ""},
	} {
		if got := rootDir(c.uri, false); got != c.unix {
			t.Errorf("rootDir(%q) = %q, want %q", c.uri, got, c.unix)
		}
		if got := rootDir(c.uri, true); got != c.windows {
			t.Errorf("rootDir(%q) on Windows = %q, want %q", c.uri, got, c.windows)
		}
	}
}
