package main

import (
	"path/filepath"
	"strings"
)

// started is the server as it is started where packages or a person have put it into
// PATH: a plugin and an extension are the same for all systems.
func started() object {
	return object{server: object{"command": "swank-mcp", "args": []string{}}}
}

// writePlugin writes the plugin for Claude Code, which is a marketplace with this one
// plugin, too: the server, the skill, and the hook that mends parentheses.
func writePlugin(f facts, version, dir string) error {
	about := object{
		"name":        f["PACKAGE_NAME"],
		"description": f.summary() + ". It needs swank-mcp in PATH: " + f.repository(),
		"version":     version,
		"author":      object{"name": f["PACKAGE_AUTHOR"]},
		"repository":  f.repository(),
		"license":     f["PACKAGE_LICENSE"],
	}
	marketplace := object{
		"name":    f["PACKAGE_NAME"],
		"owner":   object{"name": f["PACKAGE_AUTHOR"]},
		"plugins": []object{{"name": f["PACKAGE_NAME"], "source": "./", "description": f.summary()}},
		"metadata": object{
			"description": f.summary(),
		},
	}
	hook := object{"hooks": object{"PostToolUse": []object{{
		"matcher": "Write|Edit|MultiEdit",
		"hooks":   []object{{"type": "command", "command": "swank-mcp hook"}},
	}}}}
	for name, data := range map[string][]byte{
		".claude-plugin/plugin.json":      toJSON(about),
		".claude-plugin/marketplace.json": toJSON(marketplace),
		".mcp.json":                       toJSON(object{"mcpServers": started()}),
		"hooks/hooks.json":                toJSON(hook),
		"skills/common-lisp/SKILL.md":     []byte(skill),
	} {
		if err := put(filepath.Join(dir, filepath.FromSlash(name)), data); err != nil {
			return err
		}
	}
	return nil
}

// writeExtension writes the extension for Gemini CLI: the server, and the skill's text as
// its context. It has Gemini's own time limit, as the quickstart has it.
func writeExtension(f facts, version, dir string) error {
	servers := started()
	servers[server].(object)["timeout"] = 600000
	_, context, _ := strings.Cut(strings.TrimPrefix(skill, "---\n"), "---\n")
	if err := put(filepath.Join(dir, "gemini-extension.json"), toJSON(object{
		"name":            f["PACKAGE_NAME"],
		"version":         version,
		"description":     f.summary(),
		"mcpServers":      servers,
		"contextFileName": "LISP.md",
	})); err != nil {
		return err
	}
	return put(filepath.Join(dir, "LISP.md"), []byte(strings.TrimSpace(context)+"\n"))
}
