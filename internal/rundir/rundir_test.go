package rundir

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for value, want := range map[string]string{
		"":        "",
		"/run/me": "",
		"run":     `SWANK_MCP_RUN_DIR="run" is not an absolute path: give one, for example SWANK_MCP_RUN_DIR=/`,
	} {
		t.Setenv(Variable, value)
		err := Check()
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", value, err, want)
		}
		if Dir() != value {
			t.Errorf("Dir() = %q, want %q", Dir(), value)
		}
	}
}
