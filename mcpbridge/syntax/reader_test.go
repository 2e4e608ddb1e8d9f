package syntax

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"swank-mcp/internal/await"
)

// readAll is a script that reads, from a file, a list of texts, and prints for each how
// many forms the reader finds in it, -1 if it refuses it. Packages are made when the
// reader misses them, and symbols need not be external. Nothing is evaluated: of #. the form
// is read.
const readAll = `(let ((*read-eval* nil) (*readtable* (copy-readtable))
                       (*package* (make-package "READING" :use '(:cl))))
  (set-dispatch-macro-character #\# #\. (lambda (in char n) (declare (ignore char n)) (read in t nil t)))
  (labels ((mend (condition)
             (when (typep condition 'package-error)
               (let ((name (package-error-package condition)))
                 (cond ((find-package name) (invoke-restart 'continue)) ; its symbol is not external
                       (t (make-package name :use '()) :again)))))
           (forms (text)
             (with-input-from-string (in text)
               (loop until (eq in (read in nil in)) count t)))
           (try (text left)
             (block nil
               (handler-bind ((error (lambda (condition)
                                       (return (if (and (plusp left) (eq :again (mend condition)))
                                                   (try text (1- left))
                                                   -1)))))
                 (forms text)))))
    (with-open-file (in (second sb-ext:*posix-argv*) :external-format :utf-8)
      (dolist (text (let ((*package* (find-package "CL-USER"))) (read in)))
        (format t "~D~%" (try text 20))))))`

// readable is how many forms SBCL's reader finds in each text, -1 where it refuses it.
func readable(t *testing.T, texts []string) []int {
	t.Helper()
	var b strings.Builder
	b.WriteByte('(')
	for _, text := range texts {
		b.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(strings.ToValidUTF8(text, "?")) + "\"\n")
	}
	b.WriteByte(')')
	dir := t.TempDir()
	script, file := filepath.Join(dir, "read.lisp"), filepath.Join(dir, "texts")
	for name, text := range map[string]string{script: readAll, file: b.String()} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := await.Command(t, "sbcl", "--script", script, file)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("reading with SBCL, which scripts/install-deps installs: %v\n%s", err, out)
	}
	var counts []int
	for line := range strings.Lines(string(out)) {
		n, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		counts = append(counts, n)
	}
	if len(counts) != len(texts) {
		t.Fatalf("%d answers for %d texts, the next of which is\n%s", len(counts), len(texts), texts[len(counts)])
	}
	return counts
}
