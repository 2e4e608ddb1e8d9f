package script

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// scriptPerson is the person in whose image the servers of one script work,
// with -attached. Their Lisp is started with the first server, is the same for
// all of them, and outlives them, as a person's Lisp does.
type scriptPerson struct {
	*harness.Person          // nil before the first server
	dir             string   // where they work, which is not where the servers do
	env             []string // of the first server: its systems can be found
}

// arguments are the flags that make a server work in the person's image. There,
// two servers of the same session name would share a session: the client
// called as has one of its own.
func (p *scriptPerson) arguments(env []string, as string) (flags []string, err error) {
	if p.Person == nil {
		if p.dir, err = os.MkdirTemp(harness.Run.Dir, "person"); err != nil {
			return nil, err
		}
		p.env = env
		if p.Person, err = harness.QuickPerson(0, p.dir, env, ""); err != nil {
			return nil, err
		}
	}
	flags = []string{"--attach", p.Address}
	if as != "" {
		flags = append(flags, "--session", as)
	}
	return flags, nil
}

// again gives the person, if there is one, another Lisp at the same address
// when theirs has been killed.
func (p *scriptPerson) again() (err error) {
	if p.Person == nil {
		return nil
	}
	p.Person.End()
	p.Person, err = harness.QuickPerson(p.Port, p.dir, p.env, "")
	return err
}

// end ends the person's Lisp, if there is one, and returns what it said.
func (p *scriptPerson) end() (said string) {
	if p.Person == nil {
		return ""
	}
	p.Person.End()
	os.RemoveAll(p.dir)
	return p.Out.String()
}

// warmPerson has Swank and the helper compiled for people's Lisps, once: the
// scripts would do so all at the same time.
func warmPerson(t *testing.T) {
	t.Helper()
	p := harness.NewPerson(t, "")
	s := harness.Attached(t, p)
	if await.Until(func() bool { text, _ := harness.Eval(t, s, "(+ 1 2)"); return text == "=> 3" }) != nil {
		t.Fatal("the helper is not there")
	}
	s.Close(await.Ceiling)
	p.End()
}

// shareSwank lets a Lisp with this home directory use the Swank that others have
// compiled: each would take half a minute for its own.
func shareSwank(home string) error {
	return os.Symlink(filepath.Join(harness.Run.Dir, ".slime"), filepath.Join(home, ".slime"))
}

// scriptCondition adds to the conditions of scripts whether they have a person's image, and whether
// scripts/test nightly runs them.
func scriptCondition(name string) (bool, error) {
	switch name {
	case "attached":
		return *harness.AttachedFlag, nil
	case "nightly":
		return tier.AtNight(), nil
	}
	return false, fmt.Errorf("unknown condition %q; there are attached and nightly", name)
}

// scriptT runs each script as a test that, with -attached, is skipped when it is
// on the list of those for launched images.
type scriptT struct{ *testing.T }

// Run is testscript's way to run one script.
func (t scriptT) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) {
		harness.SkipLaunchedOnly(t)
		f(scriptT{t})
	})
}

// Verbose tells whether the logs of scripts that succeed are shown.
func (scriptT) Verbose() bool { return testing.Verbose() }
