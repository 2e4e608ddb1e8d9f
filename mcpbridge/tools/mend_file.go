package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/syntax"
)

// MendFile mends the parentheses of the Lisp file at path, an absolute path, where the
// indentation and the standard's operators tell how. It returns what it did with the
// lines that changed, or what validate-syntax says if it does not know how, and then
// leaves the file alone; "" for a file that is well-formed. The file is replaced as a
// whole, or not at all.
func MendFile(path string) (said string, mended bool, err error) {
	text, err := readSource(path)
	if err != nil {
		return "", false, err
	}
	report := syntax.Check(text)
	if len(report.Problems) == 0 {
		return "", false, nil
	}
	whole, ok := syntax.Repair(text)
	if !ok {
		return syntaxText(path, text, report), false, nil
	}
	if err := replaceFile(path, whole); err != nil {
		return "", false, err
	}
	return fmt.Sprintf("%s was not well-formed; its parentheses were mended by the indentation. Look whether this is what was meant:\n%s",
		render.Safe(path), changedLines(text, whole)), true, nil
}

// replaceFile gives the file at path, or the one that a link there leads to, another
// text, with its permissions kept.
func replaceFile(path, text string) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // if it has not become the file
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// maxChanged is how many changed lines are shown.
const maxChanged = 20

// changedLines shows the lines in which two texts of as many lines differ, as a diff does.
func changedLines(before, after string) string {
	old, changed := strings.Split(before, "\n"), strings.Split(after, "\n")
	var b strings.Builder
	n := 0
	for i := range min(len(old), len(changed)) {
		if old[i] == changed[i] {
			continue
		}
		if n++; n <= maxChanged {
			fmt.Fprintf(&b, "@@ -%d +%d @@\n-%s\n+%s\n", i+1, i+1, render.Safe(old[i]), render.Safe(changed[i]))
		}
	}
	if n > maxChanged {
		fmt.Fprintf(&b, "and %s more\n", render.Plural(n-maxChanged, "line"))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
