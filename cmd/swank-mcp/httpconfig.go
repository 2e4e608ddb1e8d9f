package main

import (
	"flag"
	"fmt"
	"time"

	"swank-mcp/mcpbridge"
	"swank-mcp/serve/door"
)

// httpConfig are the flags of serve --http. [door.Place] has where it listens.
type httpConfig struct {
	place                          door.Place
	tokens                         string   // file; "": in the state directory
	origins                        []string // of web pages that may use the server
	rate                           int
	sessions, perPrincipal, images int
	pool                           int // images that are started ahead
	hibernate, sessionTimeout      time.Duration
	drain, drainDelay              time.Duration
	lease                          time.Duration // 0: no other server has the session directory
}

func (h *httpConfig) flags(fs *flag.FlagSet) {
	h.hibernate, h.sessionTimeout, h.drain = 15*time.Minute, 4*time.Hour, 10*time.Second
	fs.StringVar(&h.place.Address, "http", "", "")
	fs.StringVar(&h.tokens, "tokens", "", "")
	fs.BoolVar(&h.place.NoAuth, "no-auth", false, "")
	fs.StringVar(&h.place.Certificate, "tls-cert", "", "")
	fs.StringVar(&h.place.Key, "tls-key", "", "")
	fs.BoolVar(&h.place.BehindProxy, "behind-proxy", false, "")
	fs.Var((*listFlag)(&h.place.Hosts), "allowed-hosts", "")
	fs.Var((*listFlag)(&h.origins), "allowed-origins", "")
	fs.IntVar(&h.rate, "max-rate", 200, "")
	fs.IntVar(&h.sessions, "max-sessions", 1000, "")
	fs.IntVar(&h.perPrincipal, "max-sessions-each", 100, "")
	fs.IntVar(&h.images, "max-images", 100, "")
	fs.IntVar(&h.pool, "pool", 2, "")
	fs.Var((*secondsFlag)(&h.hibernate), "hibernate-after", "")
	fs.Var((*secondsFlag)(&h.sessionTimeout), "session-timeout", "")
	fs.Var((*secondsFlag)(&h.drain), "drain", "")
	fs.Var((*secondsFlag)(&h.drainDelay), "drain-delay", "")
	fs.Var((*secondsFlag)(&h.lease), "lease", "")
}

// checkHTTP says what is wrong with the flags of --http, or with others beside it.
func (c *config) checkHTTP() error {
	h := &c.http
	h.place.AllowRemote = c.allowRemote
	if h.place.Address == "" {
		if h.place.NoAuth || h.place.BehindProxy || h.place.Certificate != "" || h.place.Key != "" {
			return fmt.Errorf("%w: --no-auth, --behind-proxy, --tls-cert and --tls-key are of --http; give --http 127.0.0.1:7800 with them", errUsage)
		}
		return nil
	}
	if err := h.place.Check(); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	switch attach := c.attaching(); {
	case attach != "":
		return fmt.Errorf("%w: --http starts an image for each session, and %s is one that runs; without --http it is served on stdin and stdout", errUsage, attach)
	case c.session != mcpbridge.DefaultSession:
		return fmt.Errorf("%w: --session is of stdin and stdout; with --http the address says it: /s/%s/mcp", errUsage, c.session)
	case c.lisp.Resume != "":
		return fmt.Errorf("%w: --resume names a checkpoint of one session; with --http and --autosave each goes on from its own", errUsage)
	case h.lease != 0 && h.lease < time.Second:
		return fmt.Errorf("%w: --lease is 1 second or more: a server says so often that it lives; or 0, if no other one shares the directory", errUsage)
	case h.rate < 1 || h.sessions < 1 || h.perPrincipal < 1 || h.images < 1:
		return fmt.Errorf("%w: --max-rate, --max-sessions, --max-sessions-each and --max-images are 1 or more", errUsage)
	case h.pool < 0:
		return fmt.Errorf("%w: --pool is how many images are started ahead; 0 is none", errUsage)
	}
	return nil
}
