package lisp

import (
	"os"
	"testing"
	"time"

	"swank-mcp/swank/lisp/kept"
)

// A checkpoint that is being saved is listed as that alone until the end of saving can be told,
// though all of its files are there already.
func TestOnDiskOnce(t *testing.T) {
	cores, err := kept.CoresIn(nil, t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	core := &kept.Core{Name: "evening", Time: time.Now()}
	err = cores.Save(t.Context(), core, "", func(file string, _ kept.Opener) error {
		core.Size, core.Checksum, core.Made = 1, 1, []byte(`{"sbcl": "SBCL"}`)
		return os.WriteFile(file, []byte{0}, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	im := &Image{}
	im.disk.cores = cores
	s := &Session{im: im, name: "default"}
	if list := s.CheckpointsOnDisk(); len(list) != 1 || list[0].Saving {
		t.Errorf("saved, it is listed as %+v", list)
	}
	im.disk.saving = map[string]*saving{"evening": {since: time.Now()}}
	if list := s.CheckpointsOnDisk(); len(list) != 1 || !list[0].Saving {
		t.Errorf("while it is being saved, it is listed as %+v", list)
	}
}
