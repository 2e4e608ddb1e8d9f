package swank

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"
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
	refuse := func(why string) (string, error) {
		return "", fmt.Errorf("swank: reading the secret that Swank asks of its clients: %s %s: make it a file of which you can read the first line, the one of the Lisp's user, or remove it if that Lisp has none", file, why)
	}
	b, err := os.ReadFile(file)
	var failure *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // as with HOME=/dev/null
		return "", nil
	case errors.As(err, &failure):
		return refuse("cannot be read (" + failure.Err.Error() + ")")
	case err != nil:
		return refuse("cannot be read (" + err.Error() + ")")
	}
	line, _, _ := strings.Cut(string(b), "\n")
	switch {
	case line == "":
		return refuse("has an empty first line")
	case !utf8.ValidString(line):
		return refuse("is not UTF-8")
	}
	return line, nil
}
