package mcpbridge

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/tools"
)

// Names that stand for more than one toolset.
const (
	defaultTools = "default" // those that are shown by default
	allTools     = "all"
)

// Selection says which tools a bridge shows. It is made once: the list of
// tools never changes while a bridge serves. The zero value is the default set.
type Selection struct {
	Toolsets []string // of toolset, "default" or "all"
	Tools    []string // beside those of Toolsets; alone, these and no others
	Exclude  []string // without these, whatever else names them
	ReadOnly bool     // only tools that change nothing in the image
}

// Check returns an error if the selection names something unknown, which lists what
// is valid, or if it selects no tool.
func (s Selection) Check() error {
	var names []string
	for _, t := range tools.All() {
		names = append(names, t.Name)
	}
	sets := []string{defaultTools, allTools}
	for _, set := range tools.Sets {
		sets = append(sets, string(set.Name))
	}
	if err := known("toolsets", "toolset", s.Toolsets, sets, "tools", names); err != nil {
		return err
	}
	if err := known("tools", "tool", s.Tools, names, "toolsets", sets); err != nil {
		return err
	}
	if err := known("exclude-tools", "tool", s.Exclude, names, "toolsets", sets); err != nil {
		return err
	}
	for _, name := range s.Tools {
		if !s.has(tools.Find(name)) {
			return fmt.Errorf("--tools names %s, which %s leaves out", name, s.leftOutBy(tools.Find(name)))
		}
	}
	if len(s.pick()) == 0 {
		return errors.New("the flags of tools leave no tool; --toolsets all shows every one")
	}
	return nil
}

// known checks the names given to a flag against the valid ones. Its error says so
// if a name belongs to the other flag, which is the likeliest mistake.
func known(flag, what string, given, valid []string, otherFlag string, others []string) error {
	for _, name := range given {
		if slices.ContainsFunc(valid, func(v string) bool { return tools.SameName(v, name) }) {
			continue
		}
		text := fmt.Sprintf("--%s: no %s %q", flag, what, name)
		if slices.ContainsFunc(others, func(v string) bool { return tools.SameName(v, name) }) && flag != "exclude-tools" {
			text += fmt.Sprintf(", but --%s takes that", otherFlag)
		} else if near := args.Nearest(name, valid); near != "" {
			text += fmt.Sprintf(", perhaps %s", near)
		}
		return fmt.Errorf("%s; valid: %s", text, strings.Join(valid, ", "))
	}
	return nil
}

// pick returns the selected tools, in the order of the documentation.
func (s Selection) pick() (out []*tools.Tool) {
	for _, t := range tools.All() {
		if s.has(t) {
			out = append(out, t)
		}
	}
	return out
}

// callable returns the tools that can be called, in the order of the documentation:
// those selected and those that other toolsets would show. Tools that a flag forbids
// (--tools alone, --exclude-tools, --read-only) are not callable.
func (s Selection) callable() (out []*tools.Tool) {
	for _, t := range tools.All() {
		if s.has(t) || len(s.sets()) > 0 && s.leftOutBy(t) == "" {
			out = append(out, t)
		}
	}
	return out
}

func (s Selection) has(t *tools.Tool) bool {
	return s.names(t) && s.leftOutBy(t) == ""
}

// sets are the toolsets asked for; the default one where nothing is.
func (s Selection) sets() []string {
	if len(s.Toolsets) == 0 && len(s.Tools) == 0 {
		return []string{defaultTools}
	}
	return s.Toolsets
}

func (s Selection) names(t *tools.Tool) bool {
	is := func(given string) bool { return tools.SameName(t.Name, given) }
	if slices.ContainsFunc(s.Tools, is) {
		return true
	}
	return slices.ContainsFunc(s.sets(), func(set string) bool {
		return tools.SameName(string(t.Set), set) || tools.SameName(allTools, set) ||
			tools.SameName(defaultTools, set) && t.Shown
	})
}

// leftOutBy returns the flag that takes the tool away, or "".
func (s Selection) leftOutBy(t *tools.Tool) string {
	switch {
	case s.ReadOnly && !t.ReadOnly:
		return "--read-only"
	case slices.ContainsFunc(s.Exclude, func(given string) bool { return tools.SameName(t.Name, given) }):
		return "--exclude-tools"
	}
	return ""
}

// absence says why a tool that exists is not among the selected ones, and how
// the program is to be started to have it.
func (s Selection) absence(t *tools.Tool) string {
	name := t.Name
	switch flag := s.leftOutBy(t); {
	case flag == "--read-only":
		return fmt.Sprintf("the tool %q can change the image, and swank-mcp was started with --read-only. Without that flag it is there.", name)
	case flag != "":
		return fmt.Sprintf("the tool %q is named in %s, with which swank-mcp was started. Without that name it is there.", name, flag)
	}
	var flags []string
	if sets := s.sets(); len(sets) > 0 {
		flags = append(flags, "--toolsets "+strings.Join(sets, ","))
	}
	flags = append(flags, "--tools "+strings.Join(append(slices.Clone(s.Tools), name), ","))
	return fmt.Sprintf("the tool %q is of the toolset %s and not among those that swank-mcp was started with. Starting it with `%s` brings it.",
		name, t.Set, strings.Join(flags, " "))
}

// offers reports whether the client is shown the tool.
func (b *Bridge) offers(name string) bool {
	return slices.ContainsFunc(b.tools, func(t *tools.Tool) bool { return t.Name == name })
}

// takes reports whether the tool can be called, so that a reply may name it.
func (b *Bridge) takes(name string) bool {
	return slices.ContainsFunc(b.taken, func(t *tools.Tool) bool { return t.Name == name })
}
