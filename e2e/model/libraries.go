//go:build unix

package model

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
)

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

// systemSources is code that writes the files that were loaded of the system SYSTEM.
const systemSources = `(labels ((show (component)
           (typecase component
             (asdf:cl-source-file (format t "~A~%" (asdf:component-pathname component)))
             (asdf:parent-component (mapc (function show) (asdf:component-children component))))))
  (show (asdf:registered-system "SYSTEM")))`

// definition is one that a file of a library has at top level.
type definition struct {
	file, pkg, name string
	start, end      int
}

// libraries are systems of Debian's that redefining does not break.
var libraries = []string{"alexandria", "cl-ppcre", "cl-split-sequence", "fiveam", "metatilities-base", "cl-containers", "trivial-backtrace", "uax-15"}

// HasLibraries begins a session in a directory with copies of libraries, which it has loaded.
func (r *Run) HasLibraries() {
	r.World = &World{Dir: r.T.TempDir()}
	var systems []string
	for _, name := range libraries {
		from := filepath.Join("/usr/share/common-lisp/source", name)
		if _, err := os.Stat(from); err != nil {
			continue
		}
		harness.Check(r.T, os.CopyFS(r.Path(name), os.DirFS(from)))
		r.script.lines = append(r.script.lines, "fixture "+from+" "+name)
		systems = append(systems, cmp.Or(map[string]string{"cl-split-sequence": "split-sequence"}[name], name))
	}
	if len(systems) < 2 {
		r.T.Fatal("Debian's Lisp libraries are not installed: scripts/install-deps --test installs them")
	}
	r.Server = harness.StartWith(r.T, wire.Options{Dir: r.Dir, Env: harness.Environ(harness.Run.Dir, "ASDF_OUTPUT_TRANSLATIONS=/:"+r.T.TempDir()+"/")})
	for _, system := range systems {
		r.good(Tool("load-system", harness.Object{"system": system}))
		for file := range strings.Lines(r.World.Do(r.T, Eval(strings.Replace(systemSources, "SYSTEM", system, 1)))) {
			if file = strings.TrimSpace(file); strings.HasPrefix(file, r.Dir) {
				r.definitionsOf(file)
			}
		}
	}
	r.definitions = len(r.unwritten)
	r.T.Logf("%d definitions", r.definitions)
}

func (r *Run) definitionsOf(file string) {
	for line := range strings.Lines(r.World.Do(r.T, Eval(strings.Replace(topLevels, "FILES", lispString(file), 1)))) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 5 {
			d := definition{file: file, pkg: f[3], name: f[4]}
			harness.Check(r.T, json.Unmarshal([]byte(f[1]), &d.start))
			harness.Check(r.T, json.Unmarshal([]byte(f[2]), &d.end))
			r.unwritten = append(r.unwritten, d)
		}
	}
}

func init() { steps["write back"] = (*Run).writeBack }

// writeBack evaluates a definition with a blank more and writes it, which goes into its place;
// evaluated and written as it was, it leaves its file byte for byte as this was.
func (r *Run) writeBack(s Step) bool {
	if len(r.unwritten) == 0 {
		return false
	}
	last := len(r.unwritten) - 1
	i := s.IntN(len(r.unwritten))
	d := r.unwritten[i]
	r.unwritten[i], r.unwritten = r.unwritten[last], r.unwritten[:last]
	before, err := os.ReadFile(d.file)
	harness.Check(r.T, err)
	start := behindComments(string(before), d.start)
	form := string(before[start:d.end])
	if form[0] != '(' {
		return false // behind a #+, for example
	}
	spaced := "( " + form[1:]
	evaluate := func(code string) { r.good(Tool("evaluate-lisp", harness.Object{"code": code, "package": d.pkg})) }
	write := func(want string) (two bool) {
		reply := r.do(Tool("write-definition", harness.Object{"name": d.name}))
		after, err := os.ReadFile(d.file)
		harness.Check(r.T, err)
		if two = strings.Contains(reply, "TWO-DEFINITIONS"); !two && (harness.Failure(reply) || string(after) != want) {
			r.fails("%s in %s is not written as it should be", d.name, d.file)
		}
		return two
	}
	evaluate(spaced)
	two := write(string(before[:start]) + spaced + string(before[d.end:]))
	evaluate(form)
	if two {
		return false
	}
	if write(string(before)) {
		r.fails("%s has one definition, and two when it is as it was", d.name)
	}
	return true
}

// WroteMost checks that most of the definitions that were tried could be written.
func (r *Run) WroteMost() {
	if tried, done := r.definitions-len(r.unwritten), r.taken["write back"]; 10*done < 9*tried {
		r.fails("only %d of %d definitions could be written", done, tried)
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
