package tools

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
)

// errChanged is the refusal to replace a file that somebody else is writing.
var errChanged = errors.New("somebody else has changed it meanwhile")

// replaceIn gives the file called name in root, which has the text before, the text
// after, in one step: nobody sees half of it, and a full disk leaves it as it was. Its
// permissions are kept. The error is errChanged if it has another text than before.
func replaceIn(root *os.Root, name, before, after string) (err error) {
	info, err := root.Stat(name)
	if err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text()[:8]+".tmp")
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			root.Remove(temp)
		}
	}()
	_, err = f.WriteString(after)
	if err = errors.Join(err, f.Chmod(info.Mode().Perm()), f.Sync(), f.Close()); err != nil {
		return err
	}
	if now, err := readIn(root, name, maxChanged); err != nil {
		return err
	} else if now != before {
		return errChanged
	}
	return root.Rename(temp, name)
}
