package clients

import (
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
)

// Resources, prompts and completion, asked for by the independent client.
func TestBesideTools(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, "(defpackage :shop (:use :cl) (:export #:price)) (defun shop:price (thing) \"What it costs.\" thing) (defvar shop::*stock* 7) :ok", "=> :OK")
	ctx := await.Context(t)

	read := func(uri string) (string, error) {
		var r struct{ Contents []struct{ URI, Text string } }
		err := s.Call(ctx, "resources/read", harness.Object{"uri": uri}, &r)
		if err != nil || len(r.Contents) != 1 || r.Contents[0].URI != uri {
			return "", err
		}
		return r.Contents[0].Text, nil
	}
	harness.Eval(t, s, "(dotimes (i 20000) (format t \"line ~d~%\" i))")
	for uri, part := range map[string]string{
		"lisp://session":                   "Image: running, ",
		"lisp://symbol/shop/price":         "(SHOP:PRICE THING)",
		"lisp://symbol/shop/*stock*":       "Value: 7",
		"lisp://symbol/cl//":               "(/ NUMBER",
		"lisp://symbol/SHOP/%2Astock%2A":   "Value: 7",
		"lisp://symbol/common-lisp/mapcar": "f_mapc_.htm",
		"lisp://output/out-1":              "line 12345\n",
	} {
		if text, err := read(uri); err != nil || !strings.Contains(text, part) {
			t.Errorf("%s: %v, no %q in\n%s", uri, err, part, harness.Clip(text))
		}
	}
	for uri, part := range map[string]string{
		"lisp://symbol/shop/prise": "Near it: SHOP:PRICE",
		"lisp://symbol/shpo/price": "Near it: SHOP",
		"lisp://output/out-99":     "There is no text under the handle",
	} {
		if text, err := read(uri); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %q, %v; want an error with %q", uri, harness.Clip(text), err, part)
		}
	}

	prompt := func(name string, args map[string]string) (string, error) {
		var r struct {
			Messages []struct{ Content struct{ Text string } }
		}
		err := s.Call(ctx, "prompts/get", harness.Object{"name": name, "arguments": args}, &r)
		if err != nil || len(r.Messages) != 1 {
			return "", err
		}
		return r.Messages[0].Content.Text, nil
	}
	for _, c := range []struct {
		name string
		args map[string]string
		part string
	}{
		{"debug-this", map[string]string{"form": "(shop:price)"}, "(shop:price)"},
		{"explain-symbol", map[string]string{"name": "shop:price"}, "Documentation: What it costs."},
		{"explore-system", map[string]string{"system": "alexandria"}, "alexandria.asd"},
	} {
		if text, err := prompt(c.name, c.args); err != nil || !strings.Contains(text, c.part) {
			t.Errorf("%s: %v, no %q in\n%s", c.name, err, c.part, harness.Clip(text))
		}
	}
	if _, err := prompt("explain-symbol", map[string]string{"name": "shop:prise"}); err == nil || !strings.Contains(err.Error(), "Near it: SHOP:PRICE") {
		t.Errorf("an unknown symbol: %v", err)
	}

	complete := func(argument, value string, known map[string]string) []string {
		var r struct{ Completion struct{ Values []string } }
		if err := s.Call(ctx, "completion/complete", harness.Object{
			"ref":      harness.Object{"type": "ref/resource", "uri": "lisp://symbol/{package}/{name}"},
			"argument": harness.Object{"name": argument, "value": value},
			"context":  harness.Object{"arguments": known},
		}, &r); err != nil {
			t.Errorf("completing %s %q: %v", argument, value, err)
		}
		return r.Completion.Values
	}
	if got := complete("package", "sho", nil); len(got) != 1 || got[0] != "shop" {
		t.Errorf("packages: %q", got)
	}
	if got := complete("name", "pri", map[string]string{"package": "shop"}); len(got) == 0 || got[0] != "price" {
		t.Errorf("names in shop: %q", got)
	}
	if got := complete("name", "m-v-b", nil); len(got) != 1 || got[0] != "multiple-value-bind" {
		t.Errorf("names: %q", got)
	}
	if got := complete("name", "", map[string]string{"package": "cl"}); len(got) != 100 {
		t.Errorf("%d names of cl, want the first 100", len(got))
	}
}
