package main

import (
	"fmt"
	"strings"

	"swank-mcp/register"
)

// completions are the scripts of shells, made of the pages of help.
var completions = map[string]func(commands, flags []told) string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}

var shells = []string{"bash", "zsh", "fish"}

func (c *command) completion() error {
	if len(c.args) != 1 || completions[c.args[0]] == nil {
		return fmt.Errorf("%w: completion needs the name of a shell: %s", errUsage, strings.Join(shells, ", "))
	}
	var flags []told
	for _, page := range pages {
		flags = append(flags, tellsOf(page.text, toldFlag)...)
	}
	fmt.Fprint(c.stdout, completions[c.args[0]](toldCommands(), flags))
	return nil
}

// words are what a flag's value, or a command's argument, is one of; nil if that is not known.
func (t told) words() []string {
	switch t.name {
	case "client":
		return register.Names()
	case "log-level":
		return []string{"debug", "info", "warn", "error"}
	case "completion":
		return shells
	case "help":
		var names []string
		for _, p := range pages[1:] {
			names = append(names, p.name)
		}
		return names
	case "allow":
		return []string{"everything", "new", "nothing", "yes", "no"}
	}
	return nil
}

// brief is the beginning of what is told, as there is little room.
func (t told) brief() string {
	doc := t.doc
	for _, end := range []string{" (", "; ", ": "} {
		doc, _, _ = strings.Cut(doc, end)
	}
	return doc
}

// flagsWith are the names of flags that take such a value.
func flagsWith(flags []told, takes func(told) bool) string {
	var names []string
	for _, f := range flags {
		if takes(f) {
			names = append(names, "--"+f.name)
		}
	}
	return strings.Join(names, " | ")
}

func isDir(t told) bool  { return t.args == "DIR" }
func isFile(t told) bool { return t.args == "FILE" || t.args == "PROGRAM" }

func bashCompletion(commands, flags []told) string {
	var names, flagNames []string
	for _, t := range commands {
		names = append(names, t.name)
	}
	for _, t := range flags {
		flagNames = append(flagNames, "--"+t.name)
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	reply := func(words []string) string {
		return fmt.Sprintf(`COMPREPLY=($(compgen -W '%s' -- "$word"))`, strings.Join(words, " "))
	}
	files := func(kind string) string {
		return fmt.Sprintf(`compopt -o filenames 2>/dev/null; local IFS=$'\n'; COMPREPLY=($(compgen %s -- "$word")); return`, kind)
	}
	line("# Completion of swank-mcp for bash: source <(swank-mcp completion bash)")
	line("_swank_mcp() {\n  local word=$2 command= i\n  COMPREPLY=()\n  case $3 in")
	line("    %s) %s ;;", flagsWith(flags, isDir), files("-d"))
	line("    %s) %s ;;", flagsWith(flags, isFile), files("-f"))
	for _, t := range flags {
		if words := t.words(); words != nil {
			line("    --%s) %s; return ;;", t.name, reply(words))
		}
	}
	takes := flagsWith(flags, func(t told) bool { return t.args != "" })
	line("    %s) return ;;\n  esac", takes)
	line("  for ((i = 1; i < COMP_CWORD; i++)); do\n    case ${COMP_WORDS[i]} in")
	line("      %s) ((i++)) ;;\n      -*) ;;\n      *) command=${COMP_WORDS[i]}; break ;;\n    esac\n  done", takes)
	line("  case $word in -*) %s; return ;; esac\n  case $command in", reply(flagNames))
	line("    '') %s ;;", reply(names))
	for _, t := range commands {
		if words := t.words(); words != nil {
			line("    %s) %s ;;", t.name, reply(words))
		}
	}
	line("  esac\n}\ncomplete -F _swank_mcp swank-mcp")
	return b.String()
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func zshCompletion(commands, flags []told) string {
	escape := strings.NewReplacer(":", `\:`, "[", `\[`, "]", `\]`)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("#compdef swank-mcp\n# Completion of swank-mcp for zsh: source <(swank-mcp completion zsh)")
	line("_swank-mcp() {\n  local context state state_descr line\n  typeset -A opt_args\n  local -a commands=(")
	for _, t := range commands {
		line("    %s", quoted(t.name+":"+strings.ReplaceAll(t.brief(), ":", `\:`)))
	}
	line("  )\n  _arguments -C \\")
	for _, t := range flags {
		spec := "--" + t.name + "[" + escape.Replace(t.brief()) + "]"
		switch words := t.words(); {
		case words != nil:
			spec += ":" + t.args + ":(" + strings.Join(words, " ") + ")"
		case isDir(t):
			spec += ":directory:_files -/"
		case isFile(t):
			spec += ":file:_files"
		case t.args != "":
			spec += ":" + t.args + ": "
		}
		line("    %s \\", quoted(spec))
	}
	line("    '1:command:->command' '*:argument:->argument'\n  case $state in\n    command) _describe command commands ;;\n    argument)\n      case $line[1] in")
	for _, t := range commands {
		if words := t.words(); words != nil {
			line("        %s) compadd -- %s ;;", t.name, strings.Join(words, " "))
		}
	}
	line("      esac ;;\n  esac\n}")
	line("if [[ $funcstack[1] == _swank-mcp ]]; then _swank-mcp; else compdef _swank-mcp swank-mcp; fi")
	return b.String()
}

func fishCompletion(commands, flags []told) string {
	quoted := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Completion of swank-mcp for fish: swank-mcp completion fish | source\ncomplete -c swank-mcp -f")
	for _, t := range commands {
		line("complete -c swank-mcp -n __fish_use_subcommand -a %s -d %s", t.name, quoted(t.brief()))
		if words := t.words(); words != nil {
			line("complete -c swank-mcp -n '__fish_seen_subcommand_from %s' -a %s", t.name, quoted(strings.Join(words, " ")))
		}
	}
	for _, t := range flags {
		takes := ""
		switch words := t.words(); {
		case words != nil:
			takes = " -x -a " + quoted(strings.Join(words, " "))
		case isDir(t):
			takes = " -x -a '(__fish_complete_directories)'"
		case isFile(t):
			takes = " -r -F"
		case t.args != "":
			takes = " -x"
		}
		line("complete -c swank-mcp -l %s%s -d %s", t.name, takes, quoted(t.brief()))
	}
	return b.String()
}
