package mcpbridge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSaveSession(t *testing.T) {
	dir := t.TempDir()
	p := serve(t, Options{SessionDir: dir, Tools: Selection{Toolsets: []string{"core"}}}).handshake()
	save := func(arguments string, failed bool, says ...string) {
		t.Helper()
		a := p.call("save-session", arguments)
		for _, s := range says {
			if !strings.Contains(a.text(), s) {
				t.Errorf("save-session %s does not say %q:\n%s", arguments, s, a.text())
			}
		}
		if a.Result.IsError != failed {
			t.Errorf("save-session %s: isError %v:\n%s", arguments, a.Result.IsError, a.text())
		}
	}
	file := filepath.Join(dir, "s.lisp")
	save(`{"file": "s.lisp"}`, false, "Saved: "+file+"\n1 definition, ", "2 definitions that were older")
	if data, err := os.ReadFile(file); err != nil || string(data) != ";;;; s.lisp\n(defun f () 1)\n" {
		t.Errorf("the file: %q, %v", data, err)
	}
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	save(`{"file": "s.lisp"}`, true, `file is "s.lisp", which exists in `+dir, `"overwrite": true`)
	if data, _ := os.ReadFile(file); string(data) != "mine" {
		t.Errorf("an existing file was changed: %q", data)
	}
	save(`{"file": "`+file+`", "overwrite": true}`, false, "Saved: "+file)

	outside := t.TempDir()
	for link, to := range map[string]string{"link": outside, "target.lisp": filepath.Join(outside, "target.lisp"), "link.lisp": file} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, bad := range []string{"../s.lisp", "/etc/s.lisp", outside + "/s.lisp", "a/../../s.lisp", "link/s.lisp"} {
		save(`{"file": "`+bad+`"}`, true, bad, "outside the session directory, "+dir, "--session-dir", "Next: save-session")
		save(`{"file": "`+bad+`", "overwrite": true}`, true, "outside")
	}
	save(`{"file": "target.lisp"}`, true, "exists")
	save(`{"file": "target.lisp", "overwrite": true}`, false) // the link itself is replaced
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("written outside: %v, %v", entries, err)
	}
	save(`{"file": "no/s.lisp"}`, true, "no such file or directory", "s.lisp")
	save(`{"file": "."}`, true, "a directory")
	save(`{"file": "link", "overwrite": false}`, true, "exists")
	save(`{"file": " "}`, true, "must be the name of a file")
	save(`{}`, true, "file")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

func TestSaveNothing(t *testing.T) {
	dir := t.TempDir()
	p := serve(t, Options{SessionDir: dir, Session: "empty", Tools: Selection{Toolsets: []string{"core"}}}).handshake()
	a := p.call("save-session", `{"file": "s.lisp"}`)
	if a.Result.IsError || a.text() != "Nothing to save: the session has no definitions. No file was written." {
		t.Errorf("answered %s", a.text())
	}
	if _, err := os.Stat(filepath.Join(dir, "s.lisp")); err == nil {
		t.Error("a file was written")
	}
}

func TestLoadSession(t *testing.T) {
	dir := t.TempDir()
	p := serve(t, Options{SessionDir: dir, Tools: Selection{Toolsets: []string{"core"}}}).handshake()
	for name, text := range map[string]string{
		"s.lisp": "(defun f () 1)", "saved.lisp": ";;;; saved.lisp\n;;;; A Lisp session, saved by swank-mcp on 2026-11-28: 1 definition.\n",
		"fail.lisp": "fail", "empty.lisp": "\n", "latin1": "\xe4", "large": strings.Repeat("x", 4<<20+1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "passwd")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file   string
		failed bool
		says   string
	}{
		{"s.lisp", false, "Loaded: " + dir + "/s.lisp\n2 forms\nCurrent package: COMMON-LISP-USER"},
		{"fail.lisp", true, "[ERROR] FORMS-FAILED\n1 of 2 forms in " + dir + "/fail.lisp failed; the others were evaluated.\n" +
			"Line 3: (defun f ()\n  END-OF-FILE: The code ends\n  inside the form.\nCurrent package: COMMON-LISP-USER"},
		{"empty.lisp", false, "The file is empty; nothing was loaded."},
		{"latin1", true, "it is not UTF-8 text"},
		{"large", true, "more than 4 MB"},
		{"passwd", true, "outside the session directory"},
		{"../s.lisp", true, "outside the session directory"},
		{"sess.lisp", true, "there is no such file or directory in " + dir + " (saved sessions: saved.lisp).\n\nNext: load-session {\"file\": \"saved.lisp\"}"},
		{".", true, "a directory"},
	} {
		a := p.call("load-session", `{"file": "`+c.file+`"}`)
		if a.Result.IsError != c.failed || !strings.Contains(a.text(), c.says) {
			t.Errorf("load-session %s (isError %v):\n%s\nwant (isError %v):\n%s", c.file, a.Result.IsError, a.text(), c.failed, c.says)
		}
	}
}

// A tool works in the session that the bridge was told, not in the default.
func TestToolsUseTheBridgesSession(t *testing.T) {
	files, err := filepath.Glob("tools/*.go")
	if err != nil || len(files) < 5 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(f, "_test.go") && strings.Contains(strings.ToLower(string(data)), "defaultsession") {
			t.Errorf("%s names the default session; use the request's", f)
		}
	}
}

// A directory that is not there is the fault of how the server was started: the
// error says what mends it, from within and from without.
func TestMissingSessionDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), `my "sessions"`)
	p := serve(t, Options{SessionDir: dir, Tools: Selection{Toolsets: []string{"core"}}}).handshake()
	for _, tool := range []string{"save-session", "load-session"} {
		a := p.call(tool, `{"file": "s.lisp"}`)
		for _, says := range []string{"[ERROR] NO-SESSION-DIRECTORY\n", dir + " cannot be opened: no such file or directory", "--session-dir",
			`Next: evaluate-lisp {"code": "(ensure-directories-exist \"` + filepath.Dir(dir) + `/my \\\"sessions\\\"/\")"}`} {
			if !a.Result.IsError || !strings.Contains(a.text(), says) {
				t.Errorf("%s does not say %q:\n%s", tool, says, a.text())
			}
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if a := p.call("save-session", `{"file": "s.lisp"}`); a.Result.IsError {
		t.Errorf("with the directory: %s", a.text())
	}
}
