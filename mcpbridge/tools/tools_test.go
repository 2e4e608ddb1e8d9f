package tools

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var declared = regexp.MustCompile(`(?m)^var \w+Tool = Tool\{\n\tName: +"([a-z-]+)",$`)

// Each tool stands in a file of its name, and each tool of a file in the list.
func TestEveryToolHasAFile(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names := declared.FindAllSubmatch(data, -1)
		if n := bytes.Count(data, []byte(" = Tool{")); n != len(names) || n > 1 {
			t.Errorf("%s: %d tools, of which %d are declared as var xxxTool = Tool{ with the name first; one a file", file, n, len(names))
		}
		for _, n := range names {
			found[string(n[1])] = file
		}
	}
	for _, tl := range All() {
		if want := strings.ReplaceAll(tl.Name, "-", "_") + ".go"; found[tl.Name] != want {
			t.Errorf("%s is in the file %q, want %s", tl.Name, found[tl.Name], want)
		}
		delete(found, tl.Name)
	}
	for name, file := range found {
		t.Errorf("%s, of %s, is not in the list of tools.go", name, file)
	}
}

// Models have other words for the values of arguments.
func TestOtherWords(t *testing.T) {
	for _, tt := range []struct {
		meant func(string) string
		words map[string]string
	}{
		{singular, map[string]string{"class": "classes", "Function": "functions", "systems": "systems", "generic_function": "generic-functions", "x": "x"}},
		{stepMode, map[string]string{"over": "next", "STEP_OVER": "next", "step-into": "into", "finish": "out", "resume": "continue", "next": "next", "fly": "fly"}},
	} {
		for word, want := range tt.words {
			if got := tt.meant(word); got != want {
				t.Errorf("%s is taken for %s, want %s", word, got, want)
			}
		}
	}
}
