package door

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// Place is where a server listens and what protects it there.
type Place struct {
	Address     string // HOST:PORT, or unix:PATH
	AllowRemote bool   // others than this machine may reach it
	NoAuth      bool   // without a token
	Certificate string // file, with Key; "" is no TLS
	Key         string // file
	BehindProxy bool   // a proxy before it has TLS
	Hosts       []string
}

// Check says, in one sentence that names flags, why the server is not to listen there.
func (p Place) Check() error {
	if (p.Certificate == "") != (p.Key == "") {
		return errors.New("--tls-cert and --tls-key belong together: give both")
	}
	if p.unix() {
		if !filepath.IsAbs(p.path()) {
			return fmt.Errorf("--http %s: the path of a socket must be absolute", p.Address)
		}
		return nil
	}
	host, _, err := net.SplitHostPort(p.Address)
	switch {
	case err != nil:
		return fmt.Errorf("--http %s is neither HOST:PORT, as 127.0.0.1:7800, nor unix:PATH", p.Address)
	case loopback(host):
		return nil
	case !p.AllowRemote:
		return fmt.Errorf("--http %s can be reached from other machines, and whoever may use it runs code as you: give --allow-remote with it, or listen on 127.0.0.1", p.Address)
	case p.NoAuth:
		return fmt.Errorf("--no-auth is for 127.0.0.1 and sockets alone: with --http %s every machine could run code as you", p.Address)
	case p.Certificate == "" && !p.BehindProxy:
		return fmt.Errorf("--http %s can be reached from other machines: it needs --tls-cert and --tls-key, or --behind-proxy where a proxy before it has TLS", p.Address)
	case p.BehindProxy && len(p.Hosts) == 0:
		return errors.New("--behind-proxy needs --allowed-hosts: the names by which clients reach the proxy")
	}
	return nil
}

func (p Place) unix() bool   { return strings.HasPrefix(p.Address, "unix:") }
func (p Place) path() string { return strings.TrimPrefix(p.Address, "unix:") }

// loopback reports whether the name is of this machine for itself.
func loopback(host string) bool {
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// Listener listens, and knows what the door has to know of that.
type Listener struct {
	net.Listener
	URL  string            // of the server: "https://127.0.0.1:7800", or "unix:/run/mcp.sock"
	Unix bool              // it is a socket of this machine
	Cert *x509.Certificate // nil without TLS

	// Follow is for the ConnState of the http.Server that serves here: without it a connection
	// that says nothing keeps its descriptor where there is no other.
	Follow func(net.Conn, http.ConnState)
}

// Listen listens at a place that has passed its Check.
func (p Place) Listen() (*Listener, error) {
	if p.unix() {
		l, err := listenUnix(p.path())
		if err != nil {
			return nil, err
		}
		s := spare(l)
		return &Listener{Listener: s, URL: p.Address, Unix: true, Follow: s.silent.follow}, nil
	}
	address := p.Address
	if host, port, _ := net.SplitHostPort(address); strings.EqualFold(host, "localhost") {
		address = net.JoinHostPort("127.0.0.1", port) // not what a resolver makes of it
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := spare(l)
	out := &Listener{Listener: s, URL: "http://" + l.Addr().String(), Follow: s.silent.follow}
	if p.Certificate == "" {
		return out, nil
	}
	pair, err := tls.LoadX509KeyPair(p.Certificate, p.Key)
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("--tls-cert %s with --tls-key %s: %w", p.Certificate, p.Key, err)
	}
	out.Cert, out.URL = pair.Leaf, "https://"+l.Addr().String()
	out.Listener = tls.NewListener(s, &tls.Config{
		Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
	})
	return out, nil
}

// listenUnix makes a socket that this user alone can reach. It gets its name when its mode
// is right. One of that name that nobody listens at is replaced.
func listenUnix(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("%s exists and is no socket", path)
		}
		switch c, err := net.Dial("unix", path); {
		case err == nil:
			c.Close()
			return nil, fmt.Errorf("%s: another server listens there", path)
		case !nobodyListens(err):
			return nil, fmt.Errorf("%s: it is not known whether another server listens there: %w", path, err)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	temporary := fmt.Sprintf("%s.%d", path, os.Getpid())
	os.Remove(temporary)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: temporary, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err = os.Chmod(temporary, 0o600); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		l.Close()
		os.Remove(temporary)
		return nil, err
	}
	return named{l, path}, nil
}

// named is a listener whose name goes with it.
type named struct {
	net.Listener
	path string
}

func (n named) Close() error {
	os.Remove(n.path)
	return n.Listener.Close()
}
