//go:build unix

package harness

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// nodePackages is where scripts/install-deps --test installs what clients/NAME ask for.
const nodePackages = "/usr/local/share/swank-mcp-test/npm"

// InstallPackages copies clients/NAME to the directory NAME of the run's, and gives it the
// packages that its lock file asks for.
func InstallPackages(name string) error {
	dir, from := filepath.Join(Run.Dir, name), filepath.Join(nodePackages, name)
	if err := os.CopyFS(dir, os.DirFS(InTree("e2e", "clients", name))); err != nil {
		return err
	}
	wanted, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return err
	}
	if there, err := os.ReadFile(filepath.Join(from, "package-lock.json")); err != nil || !bytes.Equal(wanted, there) {
		return fmt.Errorf("%s has not what clients/%s asks for; scripts/install-deps --test installs it", from, name)
	}
	os.RemoveAll(filepath.Join(dir, "node_modules"))
	return os.Symlink(filepath.Join(from, "node_modules"), filepath.Join(dir, "node_modules"))
}
