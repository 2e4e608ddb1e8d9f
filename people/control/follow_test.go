package control

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
)

// A server that gives up one who does not read may end in the middle of an entry.
func TestFollowCutShort(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "1.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "data: {\"n\":1}\n\ndata: {\"n\":2}\n\ndata: {\"n\":")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	var got []string
	if err := newClient(path).Follow(t.Context(), Place{Last: 1}, func(entry []byte) error {
		got = append(got, string(entry))
		return nil
	}); err != nil || !slices.Equal(got, []string{`{"n":1}`, `{"n":2}`}) {
		t.Errorf("%q, %v", got, err)
	}
}
