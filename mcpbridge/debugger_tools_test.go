package mcpbridge

import (
	"strings"
	"testing"
)

// Each tool of the debugger, as a client calls it.
func TestDebuggerTools(t *testing.T) {
	p := serve(t, Options{}).handshake()
	for _, tt := range []struct{ tool, args, want string }{
		{"get-backtrace", `{}`, "Evaluation 1 has been suspended"},
		{"inspect-frame", `{"frame":"0"}`, "Frame 0 of evaluation 1: (F 0)\n\n[Locals]\nX = 0\n\n; restart-frame"},
		{"inspect-frame", `{"frame":2}`, "[ERROR] UNKNOWN-FRAME\nThere is no frame.\n\n; Evaluation 1 is still suspended where it was.\nNext: get-backtrace {\"evaluation\": 1}"},
		{"inspect-frame", `{"frame":0,"evaluation":2}`, "[ERROR] NOT-SUSPENDED\nThere is no evaluation 2."},
		{"evaluate-in-frame", `{"frame":0,"code":"x"}`, "=> the original's value"},
		{"invoke-restart", `{"restart":0}`, "=> the original's value"},
		{"invoke-restart", `{"name":"nosuch","value":7}`, "[ERROR] UNKNOWN-RESTART\n"},
		{"return-from-frame", `{"frame":0,"values":"(values 1 2)"}`, "=> the original's value"},
		{"restart-frame", `{"frame":0}`, "=> the original's value"},
		{"step", `{"mode":"OUT"}`, "=> the original's value"},
		{"abort-evaluation", `{}`, "Evaluation 1 is aborted.\n\n[stdout]\nso far"},
		{"describe-last-error", `{}`, "[ERROR] DIVISION-BY-ZERO\n"},
		{"step", `{"mode":"back"}`, "[ERROR] INVALID-ARGUMENTS\nmode is \"back\"; valid: into, next, out, continue."},
		{"evaluate-in-frame", `{"frame":-1,"code":"x"}`, "[ERROR] INVALID-ARGUMENTS\nframe is -1"},
		{"restart-frame", `{"frame":0,"timeout":0}`, "[ERROR] INVALID-ARGUMENTS\ntimeout is 0"},
	} {
		a := p.call(tt.tool, tt.args)
		if !strings.HasPrefix(a.text(), tt.want) {
			t.Errorf("%s %s answered:\n%s\nwant:\n%s", tt.tool, tt.args, a.text(), tt.want)
		}
		if a.Result.IsError != strings.HasPrefix(tt.want, "[ERROR]") && tt.tool != "describe-last-error" {
			t.Errorf("%s %s: isError %v", tt.tool, tt.args, a.Result.IsError)
		}
	}
}
