package launch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"swank-mcp/internal/files"
)

// Made says what an image was made of: a core of it is of use only with the same.
type Made struct {
	System string `json:"system"` // "linux/amd64"
	SBCL   string `json:"sbcl"`   // "SBCL 2.2.9.debian"
	Build  string `json:"build"`  // which SBCL has of itself; "" if unknown
	Swank  string `json:"swank"`  // its version
	Source string `json:"source"` // a hash of Swank's sources
	Helper string `json:"helper"` // a hash of our code in the image
}

// OtherError says that a core was made of something else than an image would be now.
type OtherError struct{ Core, Now string } // "SBCL 2.2.9.debian, build …"

func (e *OtherError) Error() string {
	return fmt.Sprintf("it is of %s, and here is %s", e.Core, e.Now)
}

const system = runtime.GOOS + "/" + runtime.GOARCH

// Made says what the image of the copy was made of, but for the build of SBCL, which
// [BuildOf] a core of it tells.
func (c *Copy) Made() (m Made, err error) {
	f := c.line.image
	m = Made{System: system, SBCL: c.line.first.Implementation, Swank: c.line.first.Swank, Helper: f.code.hash()}
	m.Source, err = sourceHash(f.swank)
	return m, err
}

// CheckMade returns an [*OtherError] if an image of c and code would be made of something
// else than m, or how that could not be found out.
func CheckMade(ctx context.Context, c Config, code Code, m Made) error {
	f, err := findImageFiles(ctx, c, code)
	if err != nil {
		return err
	}
	if m.System != system {
		return &OtherError{m.System, system}
	}
	if core := sbclCore(f.sbcl); core != "" {
		if build, err := BuildOf(core); err == nil && build != m.Build {
			version, err := sbclVersion(ctx, f.sbcl)
			if err != nil {
				version = f.sbcl
			}
			return &OtherError{fmt.Sprintf("%s, build %s", m.SBCL, m.Build), fmt.Sprintf("%s, build %s", version, build)}
		}
	}
	source, err := sourceHash(f.swank)
	if err != nil {
		return err
	}
	if source != m.Source {
		return &OtherError{"Swank " + m.Swank + " with other sources", "the Swank of " + f.swank}
	}
	if m.Helper != code.hash() {
		return &OtherError{"another version of swank-mcp", "this one"}
	}
	return nil
}

func (c Code) hash() string {
	sum := sha256.Sum256(slices.Concat(c.Boot, bytes.Join(c.Helper, nil)))
	return hex.EncodeToString(sum[:8])
}

// sourceHash is a hash of Swank's sources in dir.
func sourceHash(dir string) (string, error) {
	files, err := swankSources(dir)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		rel, _ := filepath.Rel(dir, name) // it is below
		fmt.Fprintf(h, "%q %d\n", rel, len(text))
		h.Write(text)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// Words at the beginning of a core: what it is, and the entry with the id of the build of
// SBCL, after which come the length of the entry in words, that of the id, and the id.
const (
	coreMagic  = 0x5342434C
	buildEntry = 3860
)

// BuildOf returns the id of the build of SBCL that has saved a core.
func BuildOf(core string) (string, error) {
	path, err := filepath.EvalSymlinks(core) // as SBCL's own may be
	if err != nil {
		return "", err
	}
	file, err := files.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return BuildIn(file)
}

// BuildIn is BuildOf of a core that is open, from where it stands.
func BuildIn(file io.Reader) (string, error) {
	var head struct{ Magic, Entry, Words, Length uint64 }
	if err := binary.Read(file, binary.LittleEndian, &head); err != nil {
		return "", err
	}
	if head.Magic != coreMagic || head.Entry != buildEntry || head.Length > 1000 {
		return "", errors.New("it does not begin as a core of SBCL does")
	}
	id := make([]byte, head.Length)
	_, err := io.ReadFull(file, id)
	return string(id), err
}
