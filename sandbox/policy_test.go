package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swank-mcp/swank/lisp/launch"
)

// aHome is a home directory of the test's.
func aHome(t *testing.T, files map[string]string) string {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func TestSecrets(t *testing.T) {
	home := aHome(t, map[string]string{".ssh/id": "key", "project/a.lisp": "", "other": ""})
	for path, want := range map[string]string{
		home: ".ssh", filepath.Dir(home): ".ssh", "/": ".ssh", home + "/.ssh": ".ssh", home + "/.ssh/id": ".ssh", home + "/.aws": ".aws",
		"/etc": "/etc/", "/etc/shadow": "/etc/shadow",
		home + "/project": "", "/usr": "", "/etc/ssl/certs": "", home + "/.config/common-lisp": "",
	} {
		if got := secretIn(path); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("secretIn(%s) = %q, want %q", path, got, want)
		}
	}
	if err := os.Symlink(home+"/.ssh", home+"/project/keys"); err != nil {
		t.Fatal(err)
	}
	if secretIn(home+"/project/keys") == "" {
		t.Error("a link to the keys passes for none")
	}
}

// What ASDF is told of is read, but no directory that has keys.
func TestRegistryReads(t *testing.T) {
	home := aHome(t, map[string]string{
		".config/common-lisp/source-registry.conf":          `(:source-registry (:tree "~/lisp/") (:directory (:home "more")) (:tree "` + "~/" + `") :inherit-configuration)`,
		".config/common-lisp/source-registry.conf.d/a.conf": `(:tree "/opt/lisp/")`,
		"lisp/x.asd": "", "more/y.asd": "", ".ssh/id": "",
	})
	t.Setenv("CL_SOURCE_REGISTRY", home+"/lisp//:"+home+"/.ssh/:")
	got := registryReads(nil)
	for _, want := range []string{home + "/lisp", home + "/more", "/opt/lisp"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q lacks %s", got, want)
		}
	}
	if slices.Contains(got, home) || slices.Contains(got, home+"/.ssh") {
		t.Errorf("%q has keys", got)
	}
	if got := registryReads([]string{home + "/.config/common-lisp"}); slices.Contains(got, home+"/more") || !slices.Contains(got, home+"/lisp") {
		t.Errorf("a session that writes the configuration reads %q", got)
	}
}

// Links in the directories of libraries lead to directories that are read, too.
func TestHomeReadsFollowLinks(t *testing.T) {
	home := aHome(t, map[string]string{"src/lib/lib.asd": "", "common-lisp/other.txt": "", ".ssh/id": ""})
	for link, to := range map[string]string{"lib": "/src/lib", "keys": "/.ssh"} {
		if err := os.Symlink(home+to, home+"/common-lisp/"+link); err != nil {
			t.Fatal(err)
		}
	}
	got := homeReads(nil)
	if !slices.Contains(got, home+"/src/lib") || slices.Contains(got, home+"/.ssh") {
		t.Errorf("got %q", got)
	}
	if got := homeReads([]string{home + "/common-lisp"}); slices.Contains(got, home+"/src/lib") {
		t.Errorf("a session makes links to read %q", got)
	}
}

func TestEnvironment(t *testing.T) {
	p := &policy{Cache: `/a "b"`, Temp: "/tmp", Ports: []int{53}}
	got := environment([]string{"PATH=/bin", "LC_ALL=C", "AWS_SECRET_ACCESS_KEY=x", "SSH_AUTH_SOCK=/s", "XDG_RUNTIME_DIR=/r", "TMPDIR=/mine"}, p)
	want := []string{"PATH=/bin", "LC_ALL=C", `XDG_CACHE_HOME=/a "b"`, "TMPDIR=/tmp",
		`ASDF_OUTPUT_TRANSLATIONS=(:output-translations (t ("/a \"b\"/common-lisp/" :implementation)) :ignore-inherited-configuration)`, "RES_OPTIONS=use-vc"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// The project is asked for at each start: a client may name it late.
func TestPolicyAsksForTheProject(t *testing.T) {
	home := aHome(t, map[string]string{"a/x": "", "b/x": "", ".ssh/id": ""})
	project := home + "/a"
	s := New(Options{Mode: On, Writes: func() []string { return []string{project, home + "/gone"} }})
	can, err := whatIsAble(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := launch.Confined{Own: t.TempDir(), Cache: "/c", HeapMB: 512, Reads: []string{"/usr/bin", "/no/such"}}
	first, err := s.policy(c, can)
	if err != nil || !slices.Equal(first.Writes, []string{project}) || slices.Contains(first.Reads, "/no/such") {
		t.Errorf("got %+v, %v", first, err)
	}
	project = home + "/b"
	second, err := s.policy(c, can)
	if err != nil || !slices.Equal(second.Writes, []string{project}) {
		t.Errorf("got %+v, %v", second, err)
	}
	if first.Cache == second.Cache || !strings.HasPrefix(first.Cache, "/c/sandbox/") {
		t.Errorf("two projects share what they compile: %s, %s", first.Cache, second.Cache)
	}
	// A directory in the project could be a link that code of the session has made.
	project = home + "/b"
	if err := os.Symlink(home+"/a", project+"/sessions"); err != nil {
		t.Fatal(err)
	}
	inner := New(Options{Mode: On, Writes: func() []string { return []string{project, project + "/sessions"} }, Reads: []string{project + "/sessions"}})
	if p, err := inner.policy(c, can); err != nil || !slices.Equal(p.Writes, []string{project}) || slices.Contains(p.Reads, project+"/sessions") {
		t.Errorf("a link in the project leads out: %+v, %v", p, err)
	}
	for path, want := range map[string]bool{project + "/x": true, project + "/sessions": true, home + "/a": true, "/usr/bin": false} {
		if got := inner.mayWrite(path); got != want {
			t.Errorf("mayWrite(%s) = %v", path, got)
		}
	}
	// So it is by whatever way it is named, and wherever it leads by now. Two names of one directory are two.
	for link, to := range map[string]string{home + "/b/.link": "../b", home + "/link": project, home + "/deep": "link/sub/..", project + "/sub": home + "/a", home + "/same": "link"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{home + "/link/sessions", home + "/deep", home + "/link/sub", home + "/same/.link/sub", home + "/b/.link/sessions"} {
		inner := New(Options{Mode: On, Writes: func() []string { return []string{project, name} }, Reads: []string{name}})
		if p, err := inner.policy(c, can); err != nil || !slices.Equal(p.Writes, []string{project}) || slices.Contains(p.Reads, name) {
			t.Errorf("%s, in the project, leads out: %+v, %v", name, p, err)
		}
	}
	twice := New(Options{Mode: On, Writes: func() []string { return []string{project, home + "/same"} }})
	if p, err := twice.policy(c, can); err != nil || !slices.Equal(p.Writes, []string{project, home + "/same"}) {
		t.Errorf("two names of the project: %+v, %v", p, err)
	}
	kept := home + "/b/tokens"
	guarded := New(Options{Mode: On, Secret: []string{kept}, Writes: func() []string { return []string{project} }})
	if _, err := guarded.policy(c, can); err == nil || !strings.Contains(err.Error(), kept) {
		t.Errorf("a project with a secret of the server's: %v", err)
	}
	project = home
	if _, err := s.policy(c, can); err == nil || !strings.Contains(err.Error(), "--project") {
		t.Errorf("the home directory as project: %v", err)
	}
}

func TestOff(t *testing.T) {
	if s := New(Options{Mode: Off}); s.Launch() != nil {
		t.Errorf("got %v", s.Launch())
	}
}
