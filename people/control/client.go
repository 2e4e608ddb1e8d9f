package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Client speaks with one server of this user's that runs.
type Client struct {
	ID   string // of the server
	Path string // of its socket
	http *http.Client
}

// Find returns the servers that run and have their sockets in dirs, those of [Dirs]. It
// removes sockets that dead servers have left.
func Find(dirs []string) []*Client {
	var found []*Client
	for _, dir := range dirs {
		if checkDir(dir) != nil {
			continue
		}
		if unlock, err := lockDir(dir); err == nil {
			sweep(dir)
			unlock()
		}
		paths, _ := filepath.Glob(globQuote.Replace(dir) + "/*" + suffix)
		for _, path := range paths {
			info, err := os.Lstat(path)
			if err == nil && info.Mode()&os.ModeSocket != 0 {
				found = append(found, newClient(path))
			}
		}
	}
	return found
}

var globQuote = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

func newClient(path string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, "unix", path)
		if err != nil {
			return nil, err
		}
		if u, ok := c.(*net.UnixConn); ok && !ours(u) {
			c.Close()
			return nil, fmt.Errorf("%s is the socket of another user", path)
		}
		return c, nil
	}
	return &Client{ID: idOf(path), Path: path, http: &http.Client{Transport: &http.Transport{DialContext: dial, DisableCompression: true}}}
}

// StatusPatience is how long a server has to say what it does.
const StatusPatience = 3 * time.Second

// Status asks the server what it is and does.
func (c *Client) Status(ctx context.Context) (*Status, error) {
	ctx, cancel := context.WithTimeout(ctx, StatusPatience)
	defer cancel()
	var st Status
	if err := c.do(ctx, http.MethodGet, "/status", &st); err != nil {
		return nil, err
	}
	return &st, nil
}

// do makes a request and decodes the answer. An answer that is no success is an error with
// its text.
func (c *Client) do(ctx context.Context, method, path string, answer any) error {
	return c.send(ctx, method, path, "", answer)
}

// send is do with a body.
func (c *Client) send(ctx context.Context, method, path, body string, answer any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://swank-mcp"+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 10_000))
		return errors.New(strings.TrimSpace(string(text)))
	}
	return json.NewDecoder(res.Body).Decode(answer)
}

// A Place is where in a transcript to begin: behind the entry of number After, or with the
// Last entries if After is 0.
type Place struct {
	After int64
	Last  int
}

// Follow calls f with each entry of the server's transcript, as JSON, until f fails, ctx
// ends, or the connection does; then the error is nil.
func (c *Client) Follow(ctx context.Context, from Place, f func(entry []byte) error) error {
	query := fmt.Sprintf("last=%d", from.Last)
	if from.After > 0 {
		query = fmt.Sprintf("after=%d", from.After)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://swank-mcp/events?"+query, nil)
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", res.Status)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 4<<20)
	lines.Split(wholeLines)
	for lines.Scan() {
		if entry, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
			if err := f(slices.Clone(entry)); err != nil {
				return err
			}
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil // the server has ended, or it has given up one who does not read
}

// wholeLines is [bufio.ScanLines] without the piece at the end of a server that has given up one
// who does not read.
func wholeLines(data []byte, atEOF bool) (advance int, line []byte, err error) {
	if bytes.IndexByte(data, '\n') < 0 {
		return 0, nil, nil
	}
	return bufio.ScanLines(data, atEOF)
}

// actPatience is longer than a server tries.
const actPatience = stopPatience + undoPatience

func (c *Client) act(ctx context.Context, what string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, actPatience)
	defer cancel()
	return c.do(ctx, http.MethodPost, "/"+what, answer)
}

// Stop ends what is evaluated, and returns what that was.
func (c *Client) Stop(ctx context.Context) (*Stopped, error) {
	a := new(Stopped)
	return a, c.act(ctx, "stop", a)
}

// Pause has calls that would evaluate wait, or with on false go on.
func (c *Client) Pause(ctx context.Context, on bool) (*Paused, error) {
	a, what := new(Paused), "resume"
	if on {
		what = "pause"
	}
	return a, c.act(ctx, what, a)
}

// MaxSteps is how many steps [Client.Undo] takes at most, in either direction.
const MaxSteps = 1000

// Undo takes the image back by so many steps of that session, or of the only one; forward if
// they are negative.
func (c *Client) Undo(ctx context.Context, session string, steps int) (*Undone, error) {
	a := new(Undone)
	return a, c.act(ctx, fmt.Sprintf("undo?session=%s&steps=%d", url.QueryEscape(session), steps), a)
}
