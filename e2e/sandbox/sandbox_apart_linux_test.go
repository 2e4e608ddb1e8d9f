package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// What the server believes, and what other servers of the user have, is not in the project,
// nor is the project in that: no image starts, over HTTP no server, and what is said names both
// and what to do.
func TestSandboxApartFromWhatIsTrusted(t *testing.T) {
	tier.More(t)
	t.Parallel()
	o := newOutside(t, accounts()["user"])
	uid := strconv.Itoa(o.uid)
	for _, dir := range []string{"run/swank-mcp-" + uid + "/x", "run/below", "state/swank-mcp/x", "cache/swank-mcp/x", "project/state", "project/run"} {
		harness.Check(t, os.MkdirAll(o.path(dir), 0o700))
	}
	harness.Check(t, os.Symlink(o.path("run"), o.path("link")))
	harness.Check(t, os.WriteFile(o.path("project/key.pem"), nil, 0o600))
	harness.Check(t, await.Command(t, "chown", "-R", uid, o.dir).Run())
	base := slices.DeleteFunc(o.env(), func(v string) bool { return strings.HasPrefix(v, harness.RunDirVariable+"=") })
	base = append(base, "XDG_STATE_HOME="+o.path("state"))
	other := o.serve(t)
	harness.Want(t, other, "(+ 1 2)", "=> 3")
	image, err := filepath.Rel(o.dir, imageDir(t, other))
	harness.Check(t, err)
	const holds, lies = " would be the session's to write, and ", " would be the session's to write, and lies among "
	run := func(dir string, env []string, args ...string) (string, error) {
		command := o.program(o.binary, args...)
		cmd := await.Command(t, command[0], command[1:]...)
		cmd.Env, cmd.Dir = append(slices.Clone(base), env...), o.path(dir)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, c := range []struct {
		name, dir string
		env, args []string
		says      string
		httpToo   bool
	}{
		{"the temporary directory", "run", nil, nil, o.path("run") + holds + "the sockets of servers with it", true},
		{"a link to it", "project", nil, []string{"--project", o.path("link")}, o.path("link") + holds + "the sockets of servers with it", true},
		{"what is above it", "", nil, nil, o.dir, true},
		{"a directory of sockets", "run/swank-mcp-" + uid + "/x", nil, nil, lies + "the sockets of servers", true},
		{"another image's directory", image, nil, nil, lies + "the directories of images", true},
		{"sockets in the project", "project", []string{"XDG_RUNTIME_DIR=" + o.path("project/run")}, nil, holds + "the sockets of servers with it", true},
		{"a run directory in the project", "project", []string{harness.RunDirVariable + "=" + o.path("project/run")}, nil, holds + "the sockets of servers with it", true},
		{"the state in the project", "project", []string{"XDG_STATE_HOME=" + o.path("project/state")}, nil, o.path("project/state/swank-mcp"), true},
		{"the project in the state", "state/swank-mcp/x", nil, nil, lies + "the server's state", true},
		{"the project in the cache", "cache/swank-mcp/x", nil, nil, lies + "the cache", true},
		{"sessions in the state", "project", nil, []string{"--session-dir", o.path("state/swank-mcp")}, o.path("state/swank-mcp"), false},
	} {
		args := append(slices.Clone(c.args), "--sandbox", "on", "--no-userinit")
		out, err := run(c.dir, c.env, append(slices.Clone(args), "eval", "(+ 1 2)")...)
		if err == nil || strings.Contains(out, "=> 3") || !strings.Contains(out, "\nno image is started in the sandbox: ") || !strings.Contains(out, c.says) || !strings.Contains(out, "--project") {
			t.Errorf("%s: %v\n%s", c.name, err, out)
		}
		if !c.httpToo {
			continue
		}
		out, err = run(c.dir, c.env, append(args, "serve", "--http", "127.0.0.1:-1")...)
		if err == nil || strings.Contains(out, "listening") || !strings.Contains(out, c.says) || !strings.Contains(out, "--project") {
			t.Errorf("%s over HTTP: %v\n%s", c.name, err, out)
		}
	}
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"a key in the project":             {[]string{"--http", "127.0.0.1:-1", "--tls-key", "key.pem", "--tls-cert", "key.pem"}, o.path("project/key.pem")},
		"tokens in the project":            {[]string{"--http", "127.0.0.1:-1", "--tokens", "state/tokens"}, o.path("project/state/tokens")},
		"the server's socket in it":        {[]string{"--http", "unix:" + o.path("project/run/s"), "--no-auth"}, holds + "the socket of the server with it"},
		"the sessions of the server in it": {[]string{"--http", "127.0.0.1:-1", "--session-dir", "state"}, o.path("project/state")},
	} {
		if out, err := run("project", nil, append([]string{"serve"}, c.args...)...); err == nil || strings.Contains(out, "listening") || !strings.Contains(out, c.says) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	// Nor may an image be shown the sockets, at which it could connect; what lies beside them it may.
	for path, says := range map[string]string{
		o.path("run"):             " would show the sockets of servers (" + o.path("run/swank-mcp-"+uid),
		o.path("link"):            " would show the sockets of servers (" + o.path("run/swank-mcp-"+uid),
		o.path(image):             " would show the directories of images, with their sockets (" + o.path("run"),
		o.dir:                     o.dir,
		o.path("state/swank-mcp"): o.path("state/swank-mcp/"),
	} {
		flags := []string{"--sandbox-read", path, "--sandbox", "on", "--no-userinit"}
		for name, args := range map[string][]string{"an evaluation": {"eval", "(+ 1 2)"}, "over HTTP": {"serve", "--http", "127.0.0.1:-1"}, "doctor": {"doctor"}} {
			out, err := run("project", nil, append(slices.Clone(flags), args...)...)
			if err == nil || strings.Contains(out, "=> 3") || strings.Contains(out, "listening") || !strings.Contains(out, "--sandbox-read "+path+" would show ") || !strings.Contains(out, says) {
				t.Errorf("%s, which reads %s: %v\n%s", name, path, err, out)
			}
		}
	}
	for _, path := range []string{o.path("run/below"), o.path("cache")} {
		if out, err := run("project", nil, "--sandbox-read", path, "--sandbox", "on", "--no-userinit", "eval", "(+ 1 2)"); err != nil || !strings.Contains(out, "=> 3") {
			t.Errorf("one that reads %s: %v\n%s", path, err, out)
		}
	}
	// What is apart works, also below the temporary directory.
	for _, dir := range []string{"project", "run/below"} {
		if out, err := run(dir, nil, "--sandbox", "on", "--no-userinit", "eval", "(+ 1 2)"); err != nil || !strings.Contains(out, "=> 3") {
			t.Errorf("in %s: %v\n%s", dir, err, out)
		}
	}
	// As said: the same call with the project that is named works.
	if out, err := run("run", nil, "--project", filepath.Join(o.dir, "project"), "--sandbox", "on", "--no-userinit", "eval", "(+ 1 2)"); err != nil || !strings.Contains(out, "=> 3") {
		t.Errorf("as said: %v\n%s", err, fmt.Sprint(out))
	}
}
