package mcpbridge

import (
	"strings"
	"testing"
)

// Calls about jobs, of which the fake image has number 2, which runs.
func TestJobs(t *testing.T) {
	p := serve(t, Options{}).handshake()
	for _, c := range []struct{ tool, arguments, want string }{
		{"read-output", `{"handle": "job-2"}`, "; job-2, running for 3 s: (work)\n\n[stdout]\nhalf way"},
		{"read-output", `{"handle": " JOB-2 ", "grep": "way"}`, "; job-2, running for 3 s: (work)\n9: half way\n; 1 matching line in job-2."},
		{"read-output", `{"handle": "job-2", "offset": 9, "limit": 4}`, "; job-2, running for 3 s: (work)\n; job-2, characters 9 to 13 of 17\nhalf\n; more: read-output {\"handle\": \"job-2\", \"offset\": 13}"},
		{"read-output", `{"handle": "job-7"}`, "[ERROR] UNKNOWN-JOB\nThere is no job-7. There are:\njob-2, running for 3 s: (work)\n\nNext: read-output {\"handle\": \"job-2\"}"},
		{"abort-evaluation", `{"evaluation": "job-2"}`, "job-2 is aborted.\n\n[stdout]\nhalf way"},
		{"abort-evaluation", `{"job": 2}`, "job-2 is aborted.\n\n[stdout]\nhalf way"},
		{"abort-evaluation", `{"evaluation": "work-2"}`, "[ERROR] INVALID-ARGUMENTS\nevaluation must be a number, not the string \"work-2\"."},
	} {
		if got := p.call(c.tool, c.arguments).text(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s:\n%s\nwant:\n%s", c.tool, c.arguments, got, c.want)
		}
	}
}
