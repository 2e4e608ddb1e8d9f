package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"swank-mcp/serve/door"
)

// readyPatience is how long a server may take to say that it is ready.
const readyPatience = 3 * time.Second

// ready asks a server over HTTP whether it takes calls, as health checks of containers do. It
// wants no token.
func (c *command) ready(ctx context.Context) error {
	if c.http.place.Address == "" {
		return fmt.Errorf("%w: ready asks a server over HTTP; say which one: swank-mcp ready --http 127.0.0.1:7800", errUsage)
	}
	s, err := c.siteOf()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	status, body, err := s.ask(ctx, door.Credential{}, "GET", "/readyz")
	text := strings.TrimSpace(string(body))
	switch {
	case err != nil:
		return err
	case status != http.StatusOK:
		return fmt.Errorf("the server at %s is not ready: %s", s.url, text)
	}
	fmt.Fprintln(c.stdout, text)
	return nil
}
