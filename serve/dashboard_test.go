package serve

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"swank-mcp/internal/await"
)

// Grafana's dashboard asks for what there is, and for all that is ours.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("../deploy/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	p := start(t, t.TempDir(), func(*Options) {})
	p.wants(code("(+ 1 2)").at("/s/x/mcp"), "=> 3")
	p.send(call{who: "nobody", body: "{}"})
	var there []string
	await.True(t, "all is counted", func() bool {
		there = nil
		for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+) `).FindAllStringSubmatch(p.send(call{path: "/metrics", method: "GET"}).body, -1) {
			there = append(there, m[1])
		}
		return slices.Contains(there, "swank_mcp_evaluations_total") && slices.Contains(there, "swank_mcp_refused_requests_total")
	})
	asked := map[string]bool{}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			name := strings.TrimSuffix(regexp.MustCompile(`(swank_mcp|process|go)_[a-z_]+`).FindString(target.Expr), "_bucket")
			if asked[name] = true; !slices.Contains(there, name) {
				t.Errorf("%s asks for %q in %s", panel.Title, name, target.Expr)
			}
		}
	}
	for _, name := range there {
		if strings.HasPrefix(name, "swank_mcp_") && !asked[name] {
			t.Errorf("no panel shows %s", name)
		}
	}
}
