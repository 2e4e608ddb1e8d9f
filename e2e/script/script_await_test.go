package script

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"swank-mcp/internal/await"
)

// await REGEXP TOOL [ARGUMENT=VALUE...]: call the tool, again and again, until its reply
// matches; for what happens beside the calls.
func awaitCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: await REGEXP TOOL [ARGUMENT=VALUE...]")
	}
	wanted, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	arguments, rest := assignments(args[2:])
	if len(rest) > 0 {
		ts.Fatalf("await: %q is no ARGUMENT=VALUE", rest[0])
	}
	ctx, stop := await.Limited(context.Background())
	defer stop()
	for {
		r, err := client(ts).Tool(ctx, args[1], arguments)
		if err != nil {
			ts.Fatalf("no reply matched %s: %v", args[0], err)
		}
		if wanted.MatchString(r.Text()) {
			fmt.Fprintln(ts.Stdout(), r.Text())
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
