package kept

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"swank-mcp/internal/files"
)

// A core is code that is run, and it lies in a directory that may come from elsewhere, a
// cloned repository for one. So what says what it is has a seal: an HMAC-SHA256 under a
// key in a directory that is the user's alone.

// KeyFile is the name of the file with the key.
const KeyFile = "checkpoints.key"

const keySize = 32

// ErrForeign is the error of a core of which it is not known that a server of this user's
// has saved it.
var ErrForeign = errors.New("no server of this user's has saved it here, or the key that says so is gone: a core is code, and this one is not run")

// noSeal stands in the place of the seal in what is sealed.
var noSeal = hex.EncodeToString(make([]byte, sha256.Size))

// sealed returns the text of a manifest with its seal, which is noSeal in text.
func sealed(text, key []byte) []byte {
	return bytes.Replace(text, []byte(noSeal), []byte(sealOf(text, key)), 1)
}

func sealOf(text, key []byte) string {
	return sealOfParts(key, text)
}

func sealOfParts(key []byte, parts ...[]byte) string {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// sealIn returns the seal in the text of a manifest, "" if it is not where it is written.
func sealIn(text []byte) string {
	rest, ok := bytes.CutPrefix(text, []byte("{\n  \"seal\": \""))
	if !ok || len(rest) < len(noSeal) {
		return ""
	}
	return string(rest[:len(noSeal)])
}

// checkSeal returns ErrForeign unless text, which has that seal, was sealed under the key.
func (c *Cores) checkSeal(text []byte, seal string) error {
	key, err := c.key()
	before, after, found := bytes.Cut(text, []byte(seal))
	if err != nil || !found || len(seal) != len(noSeal) || !hmac.Equal([]byte(seal), []byte(sealOfParts(key, before, []byte(noSeal), after))) {
		return ErrForeign
	}
	return nil
}

// key returns the key.
func (c *Cores) key() ([]byte, error) {
	if c.keys == "" {
		return nil, errors.New("there is no place for the key by which it is known again: HOME is not set")
	}
	path := filepath.Join(c.keys, KeyFile)
	key, _, err := files.Read(path, keySize)
	if errors.Is(err, files.ErrTooLarge) || err == nil && len(key) != keySize {
		err = fmt.Errorf("%s is not a key: it has not %d bytes; remove it, and what was saved before is not run any more", path, keySize)
	}
	return key, err
}

// newKey returns the key, which it makes if there is none.
func (c *Cores) newKey() ([]byte, error) {
	key, err := c.key()
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if err := files.MakeDir(c.keys, 0o700); err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(c.keys, ".key-*.tmp") // with mode 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	key = make([]byte, keySize)
	_, _ = rand.Read(key) // it never fails
	_, err = file.Write(key)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return nil, err
	}
	// Another server may make one, too: the first one counts.
	if err := os.Link(file.Name(), filepath.Join(c.keys, KeyFile)); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return c.key()
}
