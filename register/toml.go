package register

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// parseTOML reads TOML as Go has it.
func parseTOML(text []byte) (value map[string]any, err error) {
	err = toml.Unmarshal(text, &value)
	if value == nil {
		value = map[string]any{}
	}
	return value, err
}

// tomlTable is the table of the server.
func tomlTable(c *Client, s Server) string {
	text := tomlHeader(c) + "\n"
	for _, m := range c.entry(s) {
		if args, ok := m.value.([]string); ok && len(args) == 0 {
			continue
		}
		text += tomlMember(m.name, m.value) + "\n"
	}
	return text
}

func tomlHeader(c *Client) string { return "[" + c.key + "." + ServerName + "]" }

// tomlMember is a line; strings and numbers of JSON are TOML's, too.
func tomlMember(name string, value any) string { return name + " = " + indented(value, "", "", "") }

// addTOML returns text with the server's table at its end; or, of a table that is there,
// with another command and other arguments. Lines are looked for, not read: who calls
// it checks what has come of it.
func addTOML(text []byte, c *Client, s Server) ([]byte, error) {
	nl := lineEnd(text)
	from, to, err := tableLines(text, c)
	if err != nil {
		return nil, err
	}
	if from < 0 {
		made := strings.ReplaceAll(tomlTable(c, s), "\n", nl)
		if len(bytes.TrimSpace(text)) > 0 {
			if !bytes.HasSuffix(text, []byte("\n")) {
				text = splice(text, len(text), len(text), nl)
			}
			made = nl + made
		}
		return splice(text, len(text), len(text), made), nil
	}
	table, below := string(text[from:to]), ""
	if i := strings.Index(table, "\n["); i >= 0 {
		table, below = table[:i+1], table[i+1:]
	}
	for _, m := range []member{{"args", slicesOf(s.Args)}, {"command", s.Command}} {
		line := regexp.MustCompile(`(?m)^[ \t]*` + m.name + `[ \t]*=[^\r\n]*`)
		made := tomlMember(m.name, m.value)
		if at := line.FindStringIndex(table); at != nil {
			table = table[:at[0]] + made + table[at[1]:]
		} else if m.name == "command" || len(s.Args) > 0 {
			head, rest, _ := strings.Cut(table, "\n")
			table = strings.TrimRight(head, "\r") + nl + made + nl + rest
		}
	}
	return splice(text, from, to, table+below), nil
}

// removeTOML returns text without the server's table and those below it, and without the
// blank line before it.
func removeTOML(text []byte, c *Client) ([]byte, error) {
	from, to, err := tableLines(text, c)
	if err != nil || from < 0 {
		return text, err
	}
	if before := bytes.TrimRight(text[:from], " \t\r\n"); len(before) == 0 {
		from = 0
	} else if line := bytes.TrimSuffix(bytes.TrimSuffix(text[:from], []byte("\n")), []byte("\r")); bytes.HasSuffix(line, []byte("\n")) {
		from = len(line)
	}
	return splice(text, from, to, ""), nil
}

// tableLines are the offsets of the lines of the server's table, with those of the tables
// below it and without comments and blank lines before the next; -1 if the server is not there.
func tableLines(text []byte, c *Client) (from, to int, err error) {
	value, err := parseTOML(text)
	if err != nil {
		return 0, 0, err
	}
	servers, _ := value[c.key].(map[string]any)
	if _, there := servers[ServerName]; !there {
		return -1, -1, nil
	}
	name := `[ \t]*\[[ \t]*"?` + regexp.QuoteMeta(c.key) + `"?[ \t]*\.[ \t]*"?` + ServerName + `"?[ \t]*`
	head, below := regexp.MustCompile(`^`+name+`\]`), regexp.MustCompile(`^`+name+`\.`)
	from, offset, in := -1, 0, false
	for line := range bytes.Lines(text) {
		start := offset
		offset += len(line)
		trimmed := bytes.TrimSpace(line)
		switch {
		case head.Match(line), below.Match(line):
			in = true
			if from < 0 {
				from = start
			}
		case bytes.HasPrefix(trimmed, []byte("[")):
			in = false
		case len(trimmed) == 0, bytes.HasPrefix(trimmed, []byte("#")):
			continue
		}
		if in {
			to = offset
		}
	}
	if from < 0 {
		return 0, 0, fmt.Errorf("it has the server, but no line %s", tomlHeader(c))
	}
	return from, to, nil
}
