package door

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// tokenBytes is the entropy of a token that is made here.
const tokenBytes = 32

// minToken is the length of the shortest token that is taken from a file.
const minToken = 32

// principalName are the names of principals; they become names of directories.
var principalName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)

// Tokens are the bearer tokens that are taken, and whose each is.
type Tokens struct {
	principals []string
	sums       [][sha256.Size]byte
}

// LoadTokens returns the tokens of a file that has a line "PRINCIPAL TOKEN" for each, and
// lines that begin with #. A file that is not there is made, with one token for principal;
// made says so. Only the user may be able to read the file. No error has a token in it.
func LoadTokens(path, principal string) (t *Tokens, made bool, err error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := makeTokens(path, principal); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, false, err
		}
		made = true
	}
	t, err = readTokens(path)
	return t, made, err
}

func makeTokens(path, principal string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "# Who may use swank-mcp over HTTP: a line PRINCIPAL TOKEN for each.\n%s %s\n", principal, newToken())
	return errors.Join(err, f.Close())
}

func newToken() string {
	var b [tokenBytes]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// private says why path is not a file that its user alone can read.
func private(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file: it must hold the tokens itself", path)
	case !ours(info):
		return fmt.Errorf("%s is another user's or can be read by others (mode %04o). Next: chmod 600 %[1]s, and replace its tokens, which others may have read", path, info.Mode().Perm())
	}
	return nil
}

func readTokens(path string) (*Tokens, error) {
	all, err := Credentials(path)
	if err != nil {
		return nil, err
	}
	t := &Tokens{}
	for _, c := range all {
		t.add(c.Principal, c.Token)
	}
	return t, nil
}

// Credential is what a client sends, and who it is then.
type Credential struct{ Principal, Token string }

// Credentials returns what a file of tokens has, at least one, for a client of the user whose
// file it is. No error has a token in it.
func Credentials(path string) (all []Credential, err error) {
	if err := private(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Fields(line)
		switch {
		case len(fields) != 2:
			return nil, fmt.Errorf("line %d of %s is not PRINCIPAL TOKEN", n, path)
		case !principalName.MatchString(fields[0]):
			return nil, fmt.Errorf("line %d of %s: the principal is not 1 to 64 letters, digits and . _ -", n, path)
		case len(fields[1]) < minToken:
			return nil, fmt.Errorf("line %d of %s: the token of %s has fewer than %d characters. Next: head -c 32 /dev/urandom | base64", n, path, fields[0], minToken)
		}
		all = append(all, Credential{fields[0], fields[1]})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no token: nobody could use the server. Next: remove it, and one is made", path)
	}
	return all, nil
}

func (t *Tokens) add(principal, token string) {
	t.principals = append(t.principals, principal)
	t.sums = append(t.sums, sha256.Sum256([]byte(token)))
}

// Principal returns whose the token is. The time that takes does not depend on which of
// them it is like.
func (t *Tokens) Principal(token string) (string, bool) {
	sum, found := sha256.Sum256([]byte(token)), -1
	for i := range t.sums {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], t.sums[i][:]), i, found)
	}
	if found < 0 {
		return "", false
	}
	return t.principals[found], true
}
