package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
)

// Era is one of the two ways in which MCP clients begin.
type Era int

const (
	// Handshake is every revision up to 2025-11-25: initialize, then initialized.
	Handshake Era = iota
	// Stateless is 2026-07-28: no handshake, every request carries _meta.
	Stateless
)

func (e Era) String() string {
	if e == Stateless {
		return "2026-07-28"
	}
	return "2025-11-25"
}

// Opened is what the server said of itself.
type Opened struct {
	ProtocolVersion string          `json:"protocolVersion"`   // handshake only
	Versions        []string        `json:"supportedVersions"` // stateless only
	Capabilities    json.RawMessage `json:"capabilities"`
	Instructions    string          `json:"instructions"`
	ServerInfo      struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"serverInfo"`
}

// Open does what a client of the era does first: initialize and initialized,
// or server/discover.
func (c *Client) Open(ctx context.Context) (Opened, error) {
	var o Opened
	if c.opts.Era == Stateless {
		return o, c.Call(ctx, "server/discover", nil, &o)
	}
	err := c.Call(ctx, "initialize", map[string]any{
		"protocolVersion": c.opts.Era.String(),
		"capabilities":    map[string]any{},
		"clientInfo":      c.info(),
	}, &o)
	if err != nil {
		return o, err
	}
	if o.ProtocolVersion != c.opts.Era.String() {
		return o, fmt.Errorf("wire: asked for %v, server chose %q", c.opts.Era, o.ProtocolVersion)
	}
	return o, c.Notify("notifications/initialized", nil)
}

func (c *Client) info() map[string]any {
	return map[string]any{"name": cmp.Or(c.opts.Client, "wire"), "version": "1"}
}

// meta is the _meta object of every message of the era, to be extended.
func (c *Client) meta() map[string]any {
	if c.opts.Era != Stateless {
		return map[string]any{}
	}
	return map[string]any{
		"io.modelcontextprotocol/protocolVersion":    Stateless.String(),
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		"io.modelcontextprotocol/clientInfo":         c.info(),
	}
}
