package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"swank-mcp/serve/door"
	"swank-mcp/serve/hub"
)

// sessionsPatience is how long a server may take to answer.
const sessionsPatience = 30 * time.Second

// sessions lists those of a server over HTTP, for all principals whose tokens this user can
// read, or ends some.
func (c *command) sessions(ctx context.Context) error {
	if c.http.place.Address == "" {
		return fmt.Errorf("%w: sessions are of a server over HTTP; say which one: swank-mcp sessions --http 127.0.0.1:7800", errUsage)
	}
	who := []door.Credential{{Principal: door.Anybody}}
	if !c.http.place.NoAuth {
		var err error
		if who, err = door.Credentials(c.tokensFile(c.httpState())); err != nil {
			return fmt.Errorf("the tokens: %w", err)
		}
	}
	s, err := c.siteOf()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, sessionsPatience)
	defer cancel()
	if len(c.args) == 0 {
		return c.listSessions(ctx, s, who)
	}
	do := map[string]func(context.Context, *site, []door.Credential, string) error{"show": c.showSession, "end": c.endSession}[c.args[0]]
	if do == nil || len(c.args) < 2 {
		return fmt.Errorf("%w: sessions takes no %q; to see or to end one: swank-mcp sessions --http ADDRESS show PRINCIPAL/NAME, or end PRINCIPAL/NAME", errUsage, strings.Join(c.args, " "))
	}
	for i, name := range c.args[1:] {
		if i > 0 && c.args[0] == "show" {
			fmt.Fprintln(c.stdout)
		}
		if err := do(ctx, s, who, name); err != nil {
			return err
		}
	}
	return nil
}

// site is a server over HTTP as its user reaches it.
type site struct {
	url    string
	client *http.Client
}

// siteOf is the server that the flags name, as they do for the server itself.
func (c *command) siteOf() (*site, error) {
	p, transport := c.http.place, &http.Transport{}
	address := p.Address
	if host, port, err := net.SplitHostPort(address); err == nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
		address = net.JoinHostPort("127.0.0.1", port) // it listens there, too
	}
	s := &site{url: "http://" + address, client: &http.Client{Transport: transport}}
	if path, ok := strings.CutPrefix(p.Address, "unix:"); ok {
		s.url = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
	} else if p.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(p.Certificate, p.Key)
		if err != nil {
			return nil, fmt.Errorf("--tls-cert %s with --tls-key %s: %w", p.Certificate, p.Key, err)
		}
		roots := x509.NewCertPool()
		roots.AddCert(pair.Leaf) // it is the server's own, whatever names it has
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, ServerName: firstName(pair.Leaf)}
		s.url = "https://" + address
	}
	return s, nil
}

// firstName is a name that the certificate is good for.
func firstName(c *x509.Certificate) string {
	if len(c.DNSNames) > 0 {
		return c.DNSNames[0]
	}
	if len(c.IPAddresses) > 0 {
		return c.IPAddresses[0].String()
	}
	return ""
}

// ask sends a request of the principal's, and returns what is answered.
func (s *site) ask(ctx context.Context, who door.Credential, method, path string) (status int, body []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, nil)
	if err != nil {
		return 0, nil, err
	}
	if who.Token != "" {
		r.Header.Set("Authorization", "Bearer "+who.Token)
	}
	resp, err := s.client.Do(r)
	if errors.Is(err, context.DeadlineExceeded) {
		return 0, nil, fmt.Errorf("the server has not answered yet: %w", err)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("no server answers there; swank-mcp serve --http starts one: %w", err)
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

func (c *command) listSessions(ctx context.Context, s *site, who []door.Credential) error {
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "SESSION\tIMAGE\tCLIENTS\tREQUESTS\tUSED")
	for _, one := range who {
		status, body, err := s.ask(ctx, one, "GET", "/sessions")
		var list []hub.Info
		switch {
		case err != nil:
			return err
		case status == http.StatusUnauthorized: // its line is newer than the server
			continue
		case status != http.StatusOK:
			return fmt.Errorf("the server answers %s", strings.TrimSpace(string(body)))
		}
		if err := json.Unmarshal(body, &list); err != nil {
			return fmt.Errorf("what answers at %s is no server of swank-mcp: %w", s.url, err)
		}
		for _, i := range list {
			fmt.Fprintf(w, "%s/%s\t%s\t%d\t%d\t%s\n", one.Principal, i.Name, awake(i.Awake), i.Connections, i.Users, i.Used.Local().Format(time.DateTime))
		}
	}
	return w.Flush()
}

func awake(yes bool) string {
	if yes {
		return "awake"
	}
	return "put away"
}

// endSession ends the session PRINCIPAL/NAME.
func (c *command) endSession(ctx context.Context, s *site, who []door.Credential, session string) error {
	_, err := s.askOf(ctx, who, "DELETE", session)
	if err == nil {
		fmt.Fprintf(c.stdout, "Ended %s.\n", session)
	}
	return err
}

// askOf sends a request about the session PRINCIPAL/NAME, in the name of its principal.
func (s *site) askOf(ctx context.Context, who []door.Credential, method, session string) (body []byte, err error) {
	principal, name, _ := strings.Cut(session, "/")
	for _, one := range who {
		if one.Principal != principal {
			continue
		}
		switch status, body, err := s.ask(ctx, one, method, "/sessions/"+url.PathEscape(name)); {
		case err != nil:
			return nil, err
		case status < 300:
			return body, nil
		case status != http.StatusNotFound && status != http.StatusUnauthorized:
			return nil, fmt.Errorf("the server answers %s", strings.TrimSpace(string(body)))
		}
	}
	return nil, fmt.Errorf("there is no session %s; swank-mcp sessions lists those that there are, as PRINCIPAL/NAME", session)
}
