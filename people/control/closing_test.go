package control

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"swank-mcp/internal/await"
	"swank-mcp/people/transcript"
)

// follower is somebody who follows the transcript of the server until it is closed, so that
// Close waits for it.
func follower(t *testing.T, c *Client) (ended chan error) {
	t.Helper()
	began := make(chan struct{})
	ended = make(chan error, 1)
	var once sync.Once
	go func() {
		ended <- c.Follow(t.Context(), Place{Last: 1}, func([]byte) error {
			once.Do(func() { close(began) })
			return nil
		})
	}()
	<-began
	return ended
}

// What is asked on a connection that there is while the server ends is refused, and does not
// keep it from ending.
func TestAskedWhileItEnds(t *testing.T) {
	dir := filepath.Join(shortDir(t), "run")
	s, tr := serveTest(t, dir)
	tr.Add(transcript.Entry{Kind: transcript.KindPerson, Text: "1"})
	c := only(t, dir)
	followed := follower(t, c)
	if _, err := c.Status(t.Context()); err != nil { // the connection stays
		t.Fatal(err)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		s.Close(context.Background())
	}()
	var err error
	await.True(t, "it refuses what it is asked", func() bool {
		_, err = c.Status(t.Context())
		return err != nil
	})
	if !strings.Contains(err.Error(), "the server is ending: swank-mcp ps shows") {
		t.Errorf("asked while it ends: %v", err)
	}
	select {
	case <-closed:
		t.Error("it has not waited for who follows the transcript")
	default:
	}
	tr.Close(context.Background())
	if err := <-followed; err != nil {
		t.Error(err)
	}
	await.From(t, "its end", closed)
}

// Servers end under the hands of many who ask without a pause.
func TestManyAskWhileItEnds(t *testing.T) {
	for range 20 {
		s, tr := serveTest(t, filepath.Join(shortDir(t), "run"))
		c := newClient(s.socket.path)
		c.http.Transport.(*http.Transport).MaxIdleConnsPerHost = 8
		var all sync.WaitGroup
		var answers atomic.Int64
		for range 8 {
			all.Go(func() {
				for {
					if _, err := c.Status(t.Context()); err != nil {
						return
					}
					answers.Add(1)
				}
			})
		}
		await.True(t, "they are answered", func() bool { return answers.Load() >= 20 })
		tr.Close(context.Background())
		s.Close(context.Background())
		all.Wait()
	}
}
