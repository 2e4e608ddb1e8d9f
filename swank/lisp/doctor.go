package lisp

import (
	"context"
	"fmt"
	"strings"

	"swank-mcp/swank/lisp/launch"
)

// Doctor looks at everything that the image of c needs: as [launch.Doctor] does,
// or, if c names an image to attach to, by connecting to that and leaving it.
func Doctor(ctx context.Context, c Config) *launch.Report {
	if c.Attach.IsZero() {
		return launch.Doctor(ctx, c.Launch, launchCode())
	}
	r := new(launch.Report)
	lv, err := attachTo(ctx, c, nil)
	if err != nil {
		r.AddError("attach", "", err)
		return r
	}
	defer lv.end()
	r.Add(launch.Check{
		Name: "attach",
		Found: fmt.Sprintf("%s: %s %s, pid %d, Swank %s", c.Attach, lv.info.Implementation.Type,
			lv.info.Implementation.Version, lv.info.PID, lv.info.Version),
		Problem: strings.Join(lv.proc.Remarks(), "\n"),
	})
	return r
}
