package hub

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// What is kept of handshakes is bounded, also of clients that have gone without a word, and
// one that comes to nothing leaves nothing.
func TestHandshakesKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range handshakesKept + 20 {
		file := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(time.Duration(i-1000) * time.Second)
		if err := os.Chtimes(file, when, when); err != nil {
			t.Fatal(err)
		}
	}
	h := testHub(t, Options{
		Own:        func(ID) (Lease, error) { return oneLease{new(atomic.Bool)}, nil },
		Handshakes: func(ID) string { return dir },
	})
	s, err := h.Named(t.Context(), "anna", "x")
	if err != nil {
		t.Fatal(err)
	}
	kept := func() map[string]bool {
		files := map[string]bool{}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			files[e.Name()] = true
		}
		return files
	}
	if files := kept(); len(files) != handshakesKept || files["19"] || !files["20"] {
		t.Errorf("%d are kept", len(files))
	}
	during := 0
	s.Connect([]byte("{}"), func() { during = len(kept()) })
	if during != handshakesKept+1 || len(kept()) != handshakesKept {
		t.Errorf("%d files while a connection begins, %d after it has come to nothing", during, len(kept()))
	}
	var id string
	s.Connect([]byte("{}"), func() { id = s.newID() })
	if other := s.newID(); h.Left("anna", "x", id) || other == id {
		t.Errorf("what has no connection is left: %s, and then %s", id, other)
	}
	if s.Adopt("NEVERMADE", func([]byte) { t.Error("it was asked for") }) {
		t.Error("adopted")
	}
}
