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
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	inst, err := attachTo(ctx, c, nil)
	if err != nil {
		r.AddError("attach", "", err)
		return r
	}
	defer inst.end()
	r.Add(launch.Check{
		Name: "attach",
		Found: fmt.Sprintf("%s: %s %s, pid %d, Swank %s", c.Attach, inst.info.Implementation.Type,
			inst.info.Implementation.Version, inst.info.PID, inst.info.Version),
		Problem: strings.Join(inst.proc.Remarks(), "\n"),
	})
	return r
}
