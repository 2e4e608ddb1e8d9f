package swanktest

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// A recorder stands in for the test of a peer that is to fail.
type recorder struct {
	testing.TB
	mu     sync.Mutex
	errors []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestPeer(t *testing.T) {
	for name, connect := range map[string]func(testing.TB) (*Peer, net.Conn){"pipe": Pipe, "socket": SocketPair} {
		peer, client := connect(t)
		peer.Go(func() {
			peer.Expect("(a é 1)", "")
			peer.Send("(b é)", "")
			peer.ExpectClose()
		})
		io.WriteString(client, "000008(a é 1)000000")
		got := make([]byte, 18)
		if _, err := io.ReadFull(client, got); err != nil || string(got) != "000006(b é)000000" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		client.Close()
	}
}

func TestPeerFails(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"000003(x)", "swanktest: got message\n\t(x)\nwant\n\t(y)"},
		{"00000", "swanktest: reading a message: unexpected EOF"},
		{"000003(x", "swanktest: reading a message: frame of 3 bytes: unexpected EOF"},
		{"zzzzzz", `swanktest: reading a message: strconv.ParseUint: parsing "zzzzzz": invalid syntax`},
	} {
		r := &recorder{TB: t}
		peer, client := Pipe(r)
		var wg sync.WaitGroup
		wg.Go(func() {
			io.WriteString(client, tt.in)
			client.Close()
		})
		peer.Expect("(y)", "never read")
		peer.Send("never sent")
		wg.Wait()
		if got := strings.Join(r.errors, "; "); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestServe(t *testing.T) {
	peer, client := SocketPair(t)
	peer.Go(func() {
		peer.Serve(func(m string) []string { return []string{"(" + ID(m) + ")", "(end)"} })
	})
	io.WriteString(client, Frame(`(:emacs-rex (f) "P" t 17)`+"\n"))
	got, want := make([]byte, 21), Frame("(17)")+Frame("(end)")
	if _, err := io.ReadFull(client, got); err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	client.Close()
}
