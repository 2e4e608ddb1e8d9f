package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// bundled are the binaries of the bundle: what a system's directory is called among
// goreleaser's, and the file in the bundle. A bundle has one for each system, so that of
// macOS is for both of its processors.
var bundled = []struct{ system, directory, file string }{
	{"linux", "*_linux_amd64*", "server/swank-mcp"},
	{"darwin", "*_darwin_all", "server/swank-mcp-darwin"},
	{"win32", "*_windows_amd64*", "server/swank-mcp.exe"},
}

// manifest is the bundle's manifest.json. What a person sets in the dialogue of their
// client becomes the environment of the server; what they leave empty counts as not given.
func manifest(f facts, version string) object {
	command := func(file string) string { return "${__dirname}/" + file }
	overrides, systems := object{}, []string{}
	for _, b := range bundled {
		systems = append(systems, b.system)
		if b.system != "linux" {
			overrides[b.system] = object{"command": command(b.file)}
		}
	}
	return object{
		"manifest_version": "0.3",
		"name":             f["PACKAGE_NAME"],
		"display_name":     f["PACKAGE_TITLE"],
		"version":          version,
		"description":      f.summary(),
		"long_description": f["PACKAGE_DESCRIPTION"],
		"author":           object{"name": f["PACKAGE_AUTHOR"]},
		"repository":       object{"type": "git", "url": f.repository()},
		"license":          f["PACKAGE_LICENSE"],
		"keywords":         []string{"lisp", "common-lisp", "sbcl", "swank", "slime"},
		"tools_generated":  true,
		"server": object{
			"type":        "binary",
			"entry_point": bundled[0].file,
			"mcp_config": object{
				"command":            command(bundled[0].file),
				"args":               []string{},
				"platform_overrides": overrides,
				"env": object{
					"SWANK_MCP_PROJECT":   "${user_config.project}",
					"SWANK_MCP_ATTACH":    "${user_config.attach}",
					"SWANK_MCP_READ_ONLY": "${user_config.read_only}",
				},
			},
		},
		"compatibility": object{"platforms": systems},
		"user_config": object{
			"project": object{"type": "directory", "title": "Project", "default": "",
				"description": "The directory worked in. Its ASDF systems are found first."},
			"attach": object{"type": "string", "title": "Attach to", "default": "",
				"description": "HOST:PORT of a Lisp that serves Swank. Empty: SBCL is started. On Windows it must be given."},
			"read_only": object{"type": "boolean", "title": "Only look", "default": false,
				"description": "Only tools that change nothing; no evaluation."},
		},
	}
}

// writeBundle writes the bundle, the same for the same binaries.
func writeBundle(f facts, version, binaries, file string) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	z := zip.NewWriter(out)
	add := func(name string, mode os.FileMode, data []byte) error {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(mode)
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	if err := add("manifest.json", 0o644, toJSON(manifest(f, version))); err != nil {
		return err
	}
	for _, b := range bundled {
		found, err := filepath.Glob(filepath.Join(binaries, b.directory, f["PACKAGE_NAME"]+"*"))
		if err != nil || len(found) != 1 {
			return fmt.Errorf("of the binary for %s, %s, are there: %q", b.system, b.directory, found)
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			return err
		}
		if err := add(b.file, 0o755, data); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return out.Close()
}

// writeRegistry writes the entry of the MCP registry, whose package is the bundle as the
// release has it.
func writeRegistry(f facts, version, bundle, file string) error {
	data, err := os.ReadFile(bundle)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	host, _, _ := strings.Cut(f["PACKAGE_HOST"], ".")
	return put(file, toJSON(object{
		"$schema":     "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		"name":        "io." + host + "." + f["PACKAGE_OWNER"] + "/" + f["PACKAGE_NAME"],
		"title":       f["PACKAGE_TITLE"],
		"description": f.summary(),
		"version":     version,
		"repository":  object{"url": f.repository(), "source": host},
		"packages": []object{{
			"registryType": "mcpb",
			"identifier":   f.repository() + "/releases/download/v" + version + "/" + filepath.Base(bundle),
			"fileSha256":   hex.EncodeToString(sum[:]),
			"transport":    object{"type": "stdio"},
		}},
	}))
}
