package mcpbridge

import (
	"context"

	"swank-mcp/mcpbridge/stdio"
)

// connection is what belongs to one of the connections that a bridge serves. The
// handlers of its calls find it in their context: the SDK keeps the values, though
// not the end, of the context that it was given to connect with.
type connection struct {
	order stdio.Order
	over  context.Context // ends with the service of the connection
}

type connectionKey struct{}

func (c *connection) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// orderOf returns the order of the connection whose handler has ctx, nil where it
// is not one of [Bridge.Serve]'s.
func orderOf(ctx context.Context) *stdio.Order {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		return &c.order
	}
	return nil
}

// lifeOf returns the context with which calls of that connection end.
func (b *Bridge) lifeOf(ctx context.Context) context.Context {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		return c.over
	}
	return b.base
}
