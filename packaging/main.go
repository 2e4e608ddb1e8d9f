// Packaging writes what registries and agents want to know of a release: the bundle for
// desktops (.mcpb), server.json for the MCP registry, a plugin for Claude Code and an
// extension for Gemini CLI. What they say comes from facts.env and skill.md, beside this
// file; the version and the binaries are goreleaser's, which calls it.
//
//	packaging VERSION BINARIES DIR   writes all of it into DIR; below BINARIES are
//	                                 directories of goreleaser's, one for each system
//	packaging check SCHEMA FILE      checks JSON by its schema
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed facts.env
var factsFile string

//go:embed skill.md
var skill string

// server is what clients call it, as the documentation does.
const server = "lisp"

// facts are those of facts.env, by their names there.
type facts map[string]string

func readFacts() facts {
	f := facts{}
	for _, m := range regexp.MustCompile(`(?m)^(PACKAGE_[A-Z]+)='([^']*)'$`).FindAllStringSubmatch(factsFile, -1) {
		f[m[1]] = m[2]
	}
	return f
}

// repository is its address.
func (f facts) repository() string {
	return "https://" + f["PACKAGE_HOST"] + "/" + f["PACKAGE_OWNER"] + "/" + f["PACKAGE_NAME"]
}

// summary begins with a capital letter.
func (f facts) summary() string {
	s := f["PACKAGE_SUMMARY"]
	return "A " + s
}

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 3 && args[0] == "check":
		err = check(args[1], args[2])
	case len(args) == 3:
		err = write(readFacts(), strings.TrimPrefix(args[0], "v"), args[1], args[2])
	default:
		err = errors.New("the arguments are VERSION BINARIES DIR, or check SCHEMA FILE")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(1)
	}
}

// write writes everything for a version into dir.
func write(f facts, version, binaries, dir string) error {
	bundle := filepath.Join(dir, f["PACKAGE_NAME"]+"-"+version+".mcpb")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := writeBundle(f, version, binaries, bundle); err != nil {
		return err
	}
	if err := writeRegistry(f, version, bundle, filepath.Join(dir, "server.json")); err != nil {
		return err
	}
	if err := writePlugin(f, version, filepath.Join(dir, "claude-plugin")); err != nil {
		return err
	}
	return writeExtension(f, version, filepath.Join(dir, "gemini-extension"))
}

// object is JSON.
type object = map[string]any

func toJSON(value any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err) // strings, numbers and booleans can be encoded
	}
	return b.Bytes()
}

// put writes a file and the directories that it is in.
func put(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// check validates a file of JSON by the schema in another.
func check(schemaFile, file string) error {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		return err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return err
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return err
	}
	if text, err = os.ReadFile(file); err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	if err := resolved.Validate(value); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
