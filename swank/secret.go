package swank

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
)

// ReadSecret returns the first line of the file .slime-secret in the user's
// home directory, the secret that a Swank server of the same user asks of its
// clients (swank::slime-secret), for use as [Options.Secret]. Where there is
// no such file no secret is asked and it returns "". A file whose first line is
// empty is an error: no client can tell that from no secret.
func ReadSecret() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil { // HOME is not set: as Lisp does
		var u *user.User
		if u, err = user.Current(); err == nil {
			home = u.HomeDir
		}
	}
	if err != nil {
		return "", fmt.Errorf("swank: finding the home directory for .slime-secret: %w", err)
	}
	return readSecret(filepath.Join(home, ".slime-secret"))
}

func readSecret(file string) (string, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("swank: reading the secret: %w", err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	if line == "" {
		return "", fmt.Errorf("swank: the first line of %q is empty; put a secret there or remove the file", file)
	}
	return line, nil
}
