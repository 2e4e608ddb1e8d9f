package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"swank-mcp/internal/files"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/syntax"
)

// MendFile mends the parentheses of the Lisp file at path where the
// indentation and the standard's operators tell how. It returns what it did with the
// lines that changed, or what validate-syntax says if it does not know how, and then
// leaves the file alone; "" for a file that is well-formed. The file is replaced as a
// whole, or not at all.
func MendFile(ctx context.Context, path string) (said string, mended bool, err error) {
	var trees files.Trees // of this call: code of no session writes meanwhile
	defer trees.Close()
	real, err := filepath.Abs(path)
	if err == nil {
		real, err = trees.Real(real)
	}
	if err != nil {
		return "", false, err
	}
	root, name, err := trees.Find(real, filepath.Dir(real))
	if err != nil {
		return "", false, err
	}
	defer root.Close()
	return mendIn(ctx, root, name, path)
}

// mendIn is MendFile of the file called name in root, which is shown as path.
func mendIn(ctx context.Context, root *os.Root, name, path string) (said string, mended bool, err error) {
	text, err := readIn(root, name, maxChanged)
	if err != nil {
		return "", false, err
	}
	report := syntax.Check(ctx, text)
	if len(report.Problems) == 0 {
		return "", false, nil
	}
	whole, ok := syntax.Repair(ctx, text)
	if !ok {
		return syntaxText(path, text, report), false, nil
	}
	if err := replaceIn(root, name, text, whole); err != nil {
		return "", false, err
	}
	return fmt.Sprintf("%s was not well-formed; its parentheses were mended by the indentation. Look whether this is what was meant:\n%s",
		render.Safe(path), diffText(path, text, path, whole)), true, nil
}
