package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"swank-mcp/people/control"
	"swank-mcp/people/web"
)

// watchWeb shows the server in a page, until ctx ends. When the server ends, the page goes on
// with the next one for the same directory.
func (c *command) watchWeb(ctx context.Context, r *running) error {
	dirs := r.dirs()
	s, err := web.Serve(web.Options{Client: r.Client, Status: r.status, Find: func(ctx context.Context) (*control.Client, *control.Status) {
		return c.successor(ctx, dirs)
	}})
	if err != nil {
		return err
	}
	defer s.Close()
	if c.json {
		if err := c.printed(map[string]string{"url": s.URL()}, nil); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(c.stdout, "%s\nThat is server %s, %s. The address works once, in one browser; Ctrl-C ends the page, not the server.\n", s.URL(), r.ID, shortDirs(dirs))
	}
	if c.open {
		remove, err := openBrowser(s.URL())
		defer remove()
		if err != nil {
			fmt.Fprintf(c.stderr, "swank-mcp: no browser was opened: %v; open the address yourself\n", err)
		}
	}
	<-ctx.Done()
	return nil
}

// successor is the newest server that works for one of dirs, or nil.
func (c *command) successor(ctx context.Context, dirs []string) (*control.Client, *control.Status) {
	var best *running
	for _, r := range c.running(ctx) {
		if r.status != nil && slices.ContainsFunc(r.dirs(), func(dir string) bool { return slices.Contains(dirs, dir) }) &&
			(best == nil || r.status.Started.After(best.status.Started)) {
			best = r
		}
	}
	if best == nil {
		return nil, nil
	}
	return best.Client, best.status
}

// openBrowser opens url as this system opens files. All users see the arguments of a program,
// so it is given a file that leads there; remove removes that.
func openBrowser(url string) (remove func(), err error) {
	dir, err := os.MkdirTemp("", "swank-mcp")
	if err != nil {
		return func() {}, err
	}
	remove = func() { os.RemoveAll(dir) }
	file := filepath.Join(dir, "open.html")
	page := fmt.Sprintf(`<!doctype html><meta charset="utf-8"><title>swank-mcp</title><meta http-equiv="refresh" content="0; url=%[1]s"><a href="%[1]s">swank-mcp</a>`, url)
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		return remove, err
	}
	opener := []string{"xdg-open", file}
	switch runtime.GOOS {
	case "darwin":
		opener = []string{"open", file}
	case "windows":
		opener = []string{"rundll32", "url.dll,FileProtocolHandler", file}
	}
	return remove, exec.Command(opener[0], opener[1:]...).Run()
}
