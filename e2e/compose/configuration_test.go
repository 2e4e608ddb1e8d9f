package compose

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"
)

// configuration is docker-compose.yml as far as the other files have to fit to it.
type configuration struct {
	Services map[string]struct {
		Build struct {
			Context, Dockerfile, Target string
			Args                        map[string]string
		}
		User        string
		Networks    any // names, or a map of them
		Secrets     []any
		Volumes     []string
		Healthcheck struct{ Test []string }
		DependsOn   map[string]map[string]string `yaml:"depends_on"`
		ReadOnly    bool                         `yaml:"read_only"`
		CapDrop     []string                     `yaml:"cap_drop"`
		SecurityOpt []string                     `yaml:"security_opt"`
	}
	Networks, Secrets, Volumes map[string]any
}

// TestConfiguration reads docker-compose.yml and compose/Dockerfile without an engine: what a
// service names is there, and none has more rights than it needs. scripts/compose-test starts
// the services.
func TestConfiguration(t *testing.T) {
	stages, copied := stagesOf(t)
	text, err := os.ReadFile("../../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	// Anchors are merged in lists of their own, x-service and so on, which no field has.
	var c configuration
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Services) < 8 {
		t.Fatalf("there are only %d services", len(c.Services))
	}
	for name, s := range c.Services {
		if s.Build.Context != "." || s.Build.Dockerfile != "compose/Dockerfile" || !slices.Contains(stages, s.Build.Target) {
			t.Errorf("%s is built from %+v; the stages are %q", name, s.Build, stages)
		}
		if user, _, _ := strings.Cut(s.User, ":"); user == "" || user == "0" || user == "root" {
			t.Errorf("%s runs as %q", name, s.User)
		}
		if !s.ReadOnly || !slices.Contains(s.CapDrop, "ALL") || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s may do more than it needs: read_only %v, cap_drop %q, security_opt %q", name, s.ReadOnly, s.CapDrop, s.SecurityOpt)
		}
		for other, how := range s.DependsOn {
			on, ok := c.Services[other]
			if !ok {
				t.Errorf("%s depends on %s, which is not there", name, other)
			}
			if how["condition"] == "service_healthy" && on.Healthcheck.Test == nil && on.Build.Target != "http" { // its image has one
				t.Errorf("%s waits for the health of %s, which nothing checks", name, other)
			}
		}
		for _, secret := range s.Secrets {
			source, _ := secret.(string)
			if long, ok := secret.(map[any]any); ok {
				source, _ = long["source"].(string)
			}
			if _, ok := c.Secrets[source]; !ok {
				t.Errorf("%s wants the secret %v, which is not there", name, secret)
			}
		}
		for _, network := range namesOf(s.Networks) {
			if _, ok := c.Networks[network]; !ok {
				t.Errorf("%s is in the network %s, which is not there", name, network)
			}
		}
		for _, volume := range s.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if _, ok := c.Volumes[source]; !ok {
				t.Errorf("%s has the volume %s, which is not there", name, volume)
			}
		}
		if len(s.Healthcheck.Test) > 1 {
			inside := s.Healthcheck.Test[1]
			if _, err := os.Stat("../../" + strings.Replace(inside, "/opt/swank", "compose/lisp", 1)); err != nil {
				t.Errorf("%s checks its health by %s: %v", name, inside, err)
			}
		}
	}
	for _, path := range copied {
		if strings.HasPrefix(path, "bin/compose/") { // built by scripts/compose-test
			continue
		}
		if _, err := os.Stat(filepath.Join("../..", path)); err != nil {
			t.Errorf("compose/Dockerfile copies %s: %v", path, err)
		}
	}
}

// namesOf returns the names in a list, or those that a map has values for.
func namesOf(listed any) (names []string) {
	switch listed := listed.(type) {
	case []any:
		for _, name := range listed {
			names = append(names, fmt.Sprint(name))
		}
	case map[any]any:
		for name := range listed {
			names = append(names, fmt.Sprint(name))
		}
	}
	return names
}

// stagesOf returns the names of the stages of compose/Dockerfile, and what they copy of the
// repository.
func stagesOf(t *testing.T) (stages, copied []string) {
	t.Helper()
	text, err := os.ReadFile("../../compose/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	instruction := regexp.MustCompile(`(?m)^(FROM|COPY) (\S+)(?: AS)? (\S+)$`)
	for _, m := range instruction.FindAllStringSubmatch(string(text), -1) {
		if m[1] == "FROM" {
			if base := m[2]; base != "scratch" && !strings.HasPrefix(base, "debian:${DEBIAN}") && !slices.Contains(stages, base) {
				t.Errorf("the stage %s begins with %s", m[3], base)
			}
			stages = append(stages, m[3])
		} else {
			copied = append(copied, m[2])
		}
	}
	return stages, copied
}
