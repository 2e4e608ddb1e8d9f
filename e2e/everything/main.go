//go:build conformance

// Everything is for TestConformance alone: the tools, resources and prompts that the
// conformance suites of MCP ask for, behind our own HTTP. The test adds a file with those of
// the SDK's everything-server, which has them all, when it builds this.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/serve"
	"swank-mcp/serve/door"
	"swank-mcp/serve/hub"
	"swank-mcp/swank/lisp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := door.Place{Address: os.Args[1], NoAuth: true}.Listen()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintf(os.Stderr, "serving MCP at %s/mcp\n", l.URL)
	s := serve.New(serve.Options{Hub: hub.Options{Make: func(_ hub.ID, newID func() string) (*hub.Work, error) {
		return &hub.Work{Image: lisp.New(lisp.Config{}), Bridge: newEverything(newID)}, nil
	}}})
	if err := s.Serve(ctx, l); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// everything is in the place of a bridge.
type everything struct {
	server *mcp.Server
	leave  context.CancelFunc
}

func newEverything(newID func() string) *everything {
	e := &everything{server: mcp.NewServer(&mcp.Implementation{Name: "everything", Version: "1"}, &mcp.ServerOptions{
		CompletionHandler: completionHandler, SubscribeHandler: subscribeHandler, UnsubscribeHandler: unsubscribeHandler, GetSessionID: newID,
	})}
	registerTools(e.server)
	registerResources(e.server)
	registerPrompts(e.server)
	ctx, leave := context.WithCancel(context.Background())
	e.leave = leave
	go watchedResourceUpdater(ctx, e.server)
	return e
}

func (e *everything) Server() *mcp.Server                        { return e.server }
func (e *everything) Within(ctx context.Context) context.Context { return ctx }
func (e *everything) Tell(string)                                {}
func (e *everything) Close()                                     { e.leave() }
func (e *everything) Leave()                                     { e.leave() }
