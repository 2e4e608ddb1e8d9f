package project

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/tier"
)

var writeBacks = flag.Int("writeback", 100, "how many definitions TestWriteBack writes into their files")

// topLevels is code that writes for each definition at top level of FILES a line: of JSON,
// but for what the reader makes of names.
const topLevels = `(dolist (file '(FILES))
  (with-open-file (in file)
    (let ((*package* *package*) (*print-pretty* nil))
      (loop
        (peek-char t in nil)
        (let* ((start (file-position in)) (form (read in nil in)))
          (when (eq form in) (return))
          (when (consp form)
            (case (first form)
              (in-package (eval form))
              ((defun defmacro defgeneric defmethod defvar defparameter defclass define-condition
                deftype define-compiler-macro define-modify-macro)
               (let ((name (if (consp (second form)) (second (second form)) (second form))))
                 (format t "~{~A~}~%"
                         (list (namestring file) #\Tab start #\Tab (file-position in) #\Tab
                               (package-name *package*) #\Tab
                               (format nil (if (consp (second form)) "(setf ~A::~A)" "~A::~A")
                                       (package-name (symbol-package name)) (symbol-name name)))))))))))))`

// sources is code that writes the files that were loaded of the system SYSTEM.
const sources = `(labels ((show (component)
           (typecase component
             (asdf:cl-source-file (format t "~A~%" (asdf:component-pathname component)))
             (asdf:parent-component (mapc (function show) (asdf:component-children component))))))
  (show (asdf:registered-system "SYSTEM")))`

// libraries are systems of Debian's, copied to dir, that redefining does not break.
func libraries(t *testing.T, dir string) (systems []string) {
	t.Helper()
	for _, name := range []string{"alexandria", "cl-ppcre", "cl-split-sequence", "fiveam", "metatilities-base", "cl-containers", "trivial-backtrace", "uax-15"} {
		from := filepath.Join("/usr/share/common-lisp/source", name)
		if _, err := os.Stat(from); err != nil {
			continue
		}
		harness.Check(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(from)))
		systems = append(systems, cmp.Or(map[string]string{"cl-split-sequence": "split-sequence"}[name], name))
	}
	if len(systems) < 2 {
		t.Fatal("Debian's Lisp libraries are not installed: scripts/install-deps --test installs them")
	}
	return systems
}

// TestWriteBack: definitions of Debian's libraries that are evaluated with a blank more
// and written go into their places; evaluated and written as they were, they leave their
// files byte for byte as these were.
func TestWriteBack(t *testing.T) {
	tier.More(t)
	t.Parallel()
	dir := t.TempDir()
	systems := libraries(t, dir)
	s := harness.StartWith(t, wire.Options{Dir: dir, Env: harness.Environ(harness.Run.Dir, "ASDF_OUTPUT_TRANSLATIONS=/:"+t.TempDir()+"/")})
	var files []string
	for _, system := range systems {
		harness.Good(t, s, "load-system", harness.Object{"system": system})
		text := harness.Good(t, s, "evaluate-lisp", harness.Object{"code": strings.Replace(sources, "SYSTEM", system, 1)})
		for line := range strings.Lines(text) {
			if file := strings.TrimSpace(line); strings.HasPrefix(file, dir) {
				files = append(files, file)
			}
		}
	}
	var all [][]string
	for _, file := range files {
		quoted, _ := json.Marshal(file)
		text := harness.Good(t, s, "evaluate-lisp", harness.Object{"code": strings.Replace(topLevels, "FILES", string(quoted), 1)})
		for line := range strings.Lines(text) {
			if fields := strings.Split(strings.TrimSpace(line), "\t"); len(fields) == 5 {
				all = append(all, fields)
			}
		}
	}
	t.Logf("%d files, %d definitions", len(files), len(all))
	random := rand.New(rand.NewPCG(5, 6))
	done, twice := 0, 0
	order := random.Perm(len(all))
	for n := 0; n < len(all) && done < *writeBacks; n++ {
		f := all[order[n]]
		file, pkg, name := f[0], f[3], f[4]
		before, err := os.ReadFile(file)
		harness.Check(t, err)
		start, end := behindComments(string(before), number(t, f[1])), number(t, f[2])
		form := string(before[start:end])
		if form[0] != '(' {
			continue // behind a #+, for example
		}
		evaluate := func(code string) {
			harness.Good(t, s, "evaluate-lisp", harness.Object{"code": code, "package": pkg})
		}
		evaluate("( " + form[1:])
		r := harness.Call(t, s, "write-definition", harness.Object{"name": name})
		if strings.Contains(r.Text(), "TWO-DEFINITIONS") {
			twice++
			evaluate(form)
			continue
		}
		changed, err := os.ReadFile(file)
		harness.Check(t, err)
		want := append(append(append([]byte{}, before[:start]...), "( "+form[1:]...), before[end:]...)
		if r.IsError || !bytes.Equal(changed, want) {
			t.Fatalf("%s in %s, with a blank more:\n%s", name, file, harness.Clip(r.Text()))
		}
		evaluate(form)
		r = harness.Call(t, s, "write-definition", harness.Object{"name": name})
		after, err := os.ReadFile(file)
		harness.Check(t, err)
		if r.IsError || !bytes.Equal(before, after) {
			t.Fatalf("%s in %s, as it was:\n%s", name, file, harness.Clip(r.Text()))
		}
		done++
	}
	t.Logf("%d were written and put back; %d more have a name with two forms", done, twice)
	if done < *writeBacks {
		t.Errorf("only %d of %d definitions could be written", done, *writeBacks)
	}
}

// behindComments is the offset in text behind the blanks and line comments at at.
func behindComments(text string, at int) int {
	for {
		switch rest := text[at:]; {
		case strings.HasPrefix(rest, ";"):
			at += strings.IndexByte(rest, '\n')
		case strings.TrimLeft(rest, " \t\n") != rest:
			at = len(text) - len(strings.TrimLeft(rest, " \t\n"))
		default:
			return at
		}
	}
}

func number(t *testing.T, text string) (n int) {
	t.Helper()
	harness.Check(t, json.Unmarshal([]byte(text), &n))
	return n
}
