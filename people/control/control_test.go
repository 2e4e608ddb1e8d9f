package control

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"swank-mcp/people/transcript"
	"swank-mcp/swank/lisp"
)

// serveTest serves an image that does not run, in one of dirs.
func serveTest(t *testing.T, dirs ...string) (*Server, *transcript.Transcript) {
	t.Helper()
	tr := transcript.New(transcript.Options{})
	s, err := Serve(Options{Image: lisp.New(lisp.Config{}), Transcript: tr, Dirs: dirs, Version: "test", Clients: func() []string { return []string{"tester 1"} }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		tr.Close(context.Background())
		s.Close(context.Background())
	})
	return s, tr
}

// shortDir is a directory whose path leaves room for the name of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "swc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func only(t *testing.T, dirs ...string) *Client {
	t.Helper()
	found := Find(dirs)
	if len(found) != 1 {
		t.Fatalf("%d servers are found", len(found))
	}
	return found[0]
}

// A server is found, says what it is, and is not found any more when it has ended.
func TestStatus(t *testing.T) {
	dir := filepath.Join(shortDir(t), "run")
	s, _ := serveTest(t, "/proc/nowhere/run", dir)
	for path, want := range map[string]os.FileMode{dir: os.ModeDir | 0o700, s.socket.path: os.ModeSocket | 0o600} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	st, err := only(t, "/nowhere", dir).Status(t.Context())
	if err != nil || st.ID != s.ID() || st.PID != os.Getpid() || st.Version != "test" || st.Image.State != "not started" || st.Clients[0] != "tester 1" || st.Sessions == nil {
		t.Errorf("it says %+v, %v", st, err)
	}
	s.Close(t.Context())
	if found := Find([]string{dir}); len(found) != 0 {
		t.Errorf("found afterwards: %v", found[0].Path)
	}
}

// Two servers of one name are both found; what a dead one has left goes, and nothing else.
func TestSocketsOfOthers(t *testing.T) {
	dir := filepath.Join(shortDir(t), "run")
	first, _ := serveTest(t, dir)
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "99.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	if err := os.WriteFile(filepath.Join(dir, "mine.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if found := Find([]string{dir}); len(found) != 1 || found[0].ID != first.ID() {
		t.Errorf("%d are found", len(found))
	}
	second, _ := serveTest(t, dir)
	if found := Find([]string{dir}); len(found) != 2 || second.ID() != first.ID()+"-2" {
		t.Errorf("%d are found, the second is %s", len(found), second.ID())
	}
	files, _ := os.ReadDir(dir)
	if len(files) != 3 {
		t.Errorf("there are %v", files)
	}
}

// Any number of servers begin and end at once.
func TestManyServers(t *testing.T) {
	dir := filepath.Join(shortDir(t), "run")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			tr := transcript.New(transcript.Options{})
			s, err := Serve(Options{Image: lisp.New(lisp.Config{}), Transcript: tr, Dirs: []string{dir}})
			if err != nil {
				t.Error(err)
				return
			}
			time.Sleep(100 * time.Millisecond)
			if _, err := newClient(s.socket.path).Status(t.Context()); err != nil {
				t.Error(err)
			}
			tr.Close(t.Context())
			s.Close(t.Context())
		})
	}
	all.Wait()
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("left: %v", files)
	}
}

// A directory that others can enter, a link, or a path too long is not used.
func TestUnsafeDirectories(t *testing.T) {
	base := shortDir(t)
	open, link, long, good := filepath.Join(base, "open"), filepath.Join(base, "link"), filepath.Join(base, strings.Repeat("x", 100)), filepath.Join(base, "good")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(base, "target"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(base, "target"), link); err != nil {
		t.Fatal(err)
	}
	s, _ := serveTest(t, open, link, long, good)
	if filepath.Dir(s.socket.path) != good {
		t.Errorf("it is in %s", s.socket.path)
	}
	if found := Find([]string{open, link, long}); len(found) != 0 {
		t.Errorf("found %s", found[0].Path)
	}
	if _, err := Serve(Options{Dirs: []string{open, link}}); err == nil || !strings.Contains(err.Error(), "alone can enter") {
		t.Errorf("nothing is left: %v", err)
	}
}

// Who follows gets the last entries, then each as it comes, and the end.
func TestFollow(t *testing.T) {
	dir := filepath.Join(shortDir(t), "run")
	s, tr := serveTest(t, dir)
	for i := range 5 {
		tr.Add(transcript.Entry{Kind: transcript.KindPerson, Text: fmt.Sprint(i)})
	}
	c := only(t, dir)
	var got []string
	end := make(chan error)
	go func() {
		end <- c.Follow(t.Context(), Place{Last: 2}, func(entry []byte) error {
			var e transcript.Entry
			if err := json.Unmarshal(entry, &e); err != nil {
				return err
			}
			got = append(got, e.Text)
			if e.Text == "4" {
				tr.Add(transcript.Entry{Kind: transcript.KindPerson, Text: "5\n\ndata: x"})
				go func() {
					tr.Close(context.Background())
					s.Close(context.Background())
				}()
			}
			return nil
		})
	}()
	if err := <-end; err != nil || fmt.Sprintf("%q", got) != `["3" "4" "5\n\ndata: x"]` {
		t.Errorf("followed %q: %v", got, err)
	}
}

// A reader begins where it says, by the query or as browsers do; what makes no sense is
// refused with an example.
func TestPlaces(t *testing.T) {
	dir := filepath.Join(shortDir(t), "run")
	_, tr := serveTest(t, dir)
	for i := range 5 {
		tr.Add(transcript.Entry{Kind: transcript.KindPerson, Text: fmt.Sprint(i)})
	}
	c := only(t, dir)
	// ask returns the entries that come: if want is some, until these have come and a moment
	// more for those that are too many.
	ask := func(query, lastID, want string) string {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		end := time.AfterFunc(30*time.Second, cancel)
		defer end.Stop()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://x/events"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Last-Event-ID", lastID)
		res, err := c.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(res.Body)
			return strings.TrimSpace(string(text))
		}
		if want == "" {
			end.Reset(200 * time.Millisecond)
		}
		ids := ""
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				if ids += id; ids == want {
					end.Reset(100 * time.Millisecond)
				}
			}
		}
		return ids
	}
	for _, c := range []struct{ query, lastID, want string }{
		{"", "", ""},
		{"?last=2", "", "45"},
		{"?last=100", "1", "12345"},
		{"?after=3", "", "45"},
		{"", "2", "345"},
		{"?after=100", "", ""},
		{"?last=x", "", "last=x is not how many entries; for example /events?last=20"},
		{"?after=-1", "", "after=-1 is not the number of an entry; for example /events?after=17"},
	} {
		if got := ask(c.query, c.lastID, c.want); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.query, c.lastID, got, c.want)
		}
	}
}
