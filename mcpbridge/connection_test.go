package mcpbridge

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestTwoConnections: each has an order of its own, and an end of its own.
func TestTwoConnections(t *testing.T) {
	one := serve(t, Options{}).handshake()
	two := peerOf(t, one.b).handshake()
	for i := range 100 {
		var both sync.WaitGroup
		for _, p := range []*peer{one, two} {
			both.Go(func() { p.pingBehindACall(fmt.Sprint(i)) })
		}
		both.Wait()
		if t.Failed() {
			t.Fatalf("in round %d", i)
		}
	}
	two.send(evalCall("1", "wait 300ms"))
	one.stop()
	one.end(nil, closeGrace+500*time.Millisecond)
	if a := two.receive(); a.text() != "=> waited 300ms" {
		t.Errorf("the end of another connection ended a call: %+v", a)
	}
	two.alive()
}

// pingBehindACall sends a call that runs for ever, a ping, which must be answered, and
// the end of the call.
func (p *peer) pingBehindACall(id string) {
	lines := evalCall(id, "hang") + "\n" + `{"jsonrpc":"2.0","id":"ping","method":"ping"}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + "}}\n"
	answered := make(chan string, 1)
	go func() {
		line, _ := p.out.ReadString('\n')
		answered <- line
	}()
	go io.WriteString(p.in, lines)
	select {
	case line := <-answered:
		if !strings.Contains(line, `"id":"ping"`) {
			p.t.Errorf("the ping was answered %q", line)
		}
	case <-time.After(5 * time.Second):
		p.t.Error("a ping behind a call was not answered within 5 s")
	}
}
