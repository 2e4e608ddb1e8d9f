//go:build unix

package harness

import (
	"bytes"
	"flag"
	"image/png"
	"os"
)

var updatePicturesFlag = flag.Bool("update-pictures", false, "write the pictures of the page that the documentation shows")

// largestPicture limits the bytes of a picture of the documentation.
const largestPicture = 100_000

// Documents compares the picture of the documentation with the window, as far as that can be
// the same each time, or writes it.
func (b *browser) Documents(name string) {
	b.T.Helper()
	path := InTree("docs", "pictures", name+".png")
	shot := b.shot()
	if *updatePicturesFlag {
		Check(b.T, os.WriteFile(path, shot, 0o644))
	}
	data, err := os.ReadFile(path)
	Check(b.T, err)
	there, err := png.DecodeConfig(bytes.NewReader(data))
	Check(b.T, err)
	now, err := png.DecodeConfig(bytes.NewReader(shot))
	Check(b.T, err)
	if there.Width != now.Width || there.Height != now.Height || len(data) > largestPicture {
		b.T.Errorf("%s has %d by %d points in %d bytes, and the page %d by %d: go test ./e2e/people -run TestWebPictures -update-pictures", path, there.Width, there.Height, len(data), now.Width, now.Height)
	}
}
