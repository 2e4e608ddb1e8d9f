package project

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// definition matches the beginning of a definition of a system; a comment before it on its
// line makes it none.
var definition = regexp.MustCompile(`(?im)^[^;\n]*\((?:[a-z/]+:+)?defsystem\s+(?:"([^"]+)"|#?:?([^\s()"#]+))`)

// ofTests matches the names of systems that have tests, such as app/tests and app-test.
var ofTests = regexp.MustCompile(`(?:^|[-/._])tests?$`)

// TestSystem returns the name of the system that has the project's tests: of its systems
// the one that is called so, or else the one whose definition has a test-op. The text of
// the definitions is searched; nothing is read. The error names those that there are.
func (p *Project) TestSystem() (string, error) {
	if len(p.Dirs) == 0 {
		return "", errors.New("the working directory is no project")
	}
	var all, called, operated []string
	for _, file := range p.Definitions {
		text, err := p.definition(file)
		if err != nil {
			return "", err
		}
		found := definition.FindAllSubmatchIndex(text, -1)
		for i, m := range found {
			end := len(text)
			if i+1 < len(found) {
				end = found[i+1][0]
			}
			name := submatch(text, m, 1) + strings.ToLower(submatch(text, m, 2)) // a symbol folds
			all = append(all, name)
			if ofTests.MatchString(name) {
				called = append(called, name)
			}
			if strings.Contains(strings.ToLower(string(text[m[0]:end])), "test-op") {
				operated = append(operated, name)
			}
		}
	}
	for _, names := range [][]string{called, operated} {
		slices.Sort(names)
		switch names = slices.Compact(names); len(names) {
		case 0:
		case 1:
			return names[0], nil
		default:
			return "", fmt.Errorf("the project in %s has more than one system with tests: %s", p.where(), strings.Join(names, ", "))
		}
	}
	if len(all) == 0 {
		return "", fmt.Errorf("there is no definition of a system (*.asd) in %s", p.where())
	}
	slices.Sort(all)
	return "", fmt.Errorf("no system of the project in %s is called as if it had tests, and none has a test-op: %s", p.where(), strings.Join(slices.Compact(all), ", "))
}

// definition returns the text of file, one of Definitions.
func (p *Project) definition(file string) ([]byte, error) {
	for _, dir := range p.Dirs {
		if name, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(name) {
			at, err := p.open(dir)
			if err != nil {
				return nil, err
			}
			defer at.root.Close()
			return at.read(name)
		}
	}
	return nil, fmt.Errorf("%s lies in no directory of the project", file)
}

func (p *Project) where() string { return strings.Join(p.Dirs, ", ") }

func submatch(text []byte, m []int, n int) string {
	if m[2*n] < 0 {
		return ""
	}
	return string(text[m[2*n]:m[2*n+1]])
}
