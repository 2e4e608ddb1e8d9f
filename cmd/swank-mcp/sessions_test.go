package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"swank-mcp/serve/door"
)

// A server that is late is not said to be none.
func TestAskOfLateServer(t *testing.T) {
	late := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer late.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _, err := (&site{url: late.URL, client: late.Client()}).ask(ctx, door.Credential{}, "GET", "/readyz")
	if err == nil || !strings.HasPrefix(err.Error(), "the server has not answered yet: ") {
		t.Errorf("a late server: %v", err)
	}
	late.Close()
	_, _, err = (&site{url: late.URL, client: late.Client()}).ask(t.Context(), door.Credential{}, "GET", "/readyz")
	if err == nil || !strings.HasPrefix(err.Error(), "no server answers there") {
		t.Errorf("no server: %v", err)
	}
}
