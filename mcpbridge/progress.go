package mcpbridge

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/mcpbridge/render"
)

// maxProgress is the length in bytes of the newest output that one progress
// notification carries. All of it is in the reply.
const maxProgress = 2000

// progress returns a function for lisp.Request.Progress that tells the client
// how the call goes on: the seconds so far as the progress, strictly growing,
// and the new output as the message. It is nil when the client did not ask.
func progress(ctx context.Context, req *mcp.CallToolRequest) func(time.Duration, string) {
	token := req.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	last := 0.0
	return func(elapsed time.Duration, output string) {
		now := float64(elapsed.Milliseconds()) / 1000
		last = max(now, last+0.001)
		if n := len(output) - maxProgress; n > 0 {
			for n < len(output) && !utf8.RuneStart(output[n]) {
				n++
			}
			output = "…" + output[n:]
		}
		if output == "" {
			output = "running for " + render.Age(elapsed)
		}
		// Progress that cannot be sent is no reason to stop the evaluation: a
		// broken connection cancels ctx.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: last, Message: render.Safe(output),
		})
	}
}
