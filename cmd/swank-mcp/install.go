package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"swank-mcp/register"
)

// install writes the server into the configuration of a client, of this user or of the
// project that --project names, or takes it out. The arguments are the server's.
func (c *command) install(ctx context.Context) error {
	client, ok := register.Find(c.client)
	if !ok {
		what := "install needs --client NAME"
		if c.client != "" {
			what = fmt.Sprintf("--client %q is not known", c.client)
		}
		return fmt.Errorf("%w: %s; there are %s", errUsage, what, strings.Join(register.Names(), ", "))
	}
	if err := c.checkServer(); err != nil {
		return err
	}
	if client.Shown() {
		if c.uninstall {
			return fmt.Errorf("the configuration of %s is Lisp: take the server out of it by hand", client.Title)
		}
		fmt.Fprintf(c.stdout, "For your init file:\n\n%s", client.Snippet(c.asStarted()))
		return nil
	}
	if c.project == "" && client.ByCommand() {
		return c.installByCommand(ctx, client)
	}
	place, err := c.place(client)
	if err != nil {
		return err
	}
	if c.print {
		fmt.Fprintf(c.stdout, "For %s:\n\n%s", place.File, client.Snippet(c.asStarted()))
		return nil
	}
	if c.uninstall {
		outcome, err := client.Remove(place)
		if err != nil {
			return err
		}
		c.tellUninstalled(client, place.File, outcome == register.Removed)
		return nil
	}
	outcome, err := client.Add(place, c.asStarted())
	if err != nil {
		fmt.Fprintf(c.stderr, "What it is to have:\n\n%s\n", client.Snippet(c.asStarted()))
		return err
	}
	c.tellInstalled(client, place.File, outcome)
	return nil
}

// asStarted is this program as a client is to start it: by its whole path, as programs of a
// desktop have another PATH; in a project by its name, as others have another path.
func (c *command) asStarted() register.Server {
	s := register.Server{Command: program(), Args: c.args}
	if c.project != "" {
		s.Command = "swank-mcp"
	} else if path, err := exec.LookPath(s.Command); err == nil {
		if path, err := filepath.Abs(path); err == nil {
			s.Command = path
		}
	}
	return s
}

// checkServer refuses arguments with which no server would start, and flags of the
// server that are given to install.
func (c *command) checkServer() error {
	if c.uninstall && len(c.args) > 0 {
		return fmt.Errorf("%w: install --uninstall takes no argument %q", errUsage, c.args[0])
	}
	if len(c.ofServer) > 0 {
		return fmt.Errorf("%w: flags of the server stand behind --: swank-mcp install --client %s -- %s", errUsage, c.client, strings.Join(c.ofServer, " "))
	}
	var server command
	name, err := server.parse(c.args)
	if err == nil && (name != "serve" || len(server.args) > 0) {
		err = fmt.Errorf("%w: behind -- stand flags of the server, and no %q", errUsage, append(server.args, name)[0])
	}
	if err == nil && server.http.place.Address != "" {
		err = fmt.Errorf("%w: install is for servers that a client starts and speaks with over stdin and stdout, which --http does not do; docs/howto/http.md has what clients want of the other kind", errUsage)
	}
	return err
}

// place is the client's file of the project, or of this user.
func (c *command) place(client *register.Client) (register.Place, error) {
	if c.project == "" {
		return client.OfUser()
	}
	dir, err := filepath.Abs(c.project)
	if err != nil {
		return register.Place{}, err
	}
	place, ok := client.OfProject(dir)
	if !ok {
		return place, fmt.Errorf("%w: %s has no configuration of a project; leave out --project", errUsage, client.Title)
	}
	return place, nil
}

func (c *command) tellInstalled(client *register.Client, file string, outcome register.Outcome) {
	line := strings.Join(append([]string{c.asStarted().Command}, c.args...), " ")
	switch outcome {
	case register.Unchanged:
		fmt.Fprintf(c.stdout, "%s has the server %q already: %s\n", file, register.ServerName, line)
		return
	case register.Added:
		fmt.Fprintf(c.stdout, "Added the server %q to %s: %s\n", register.ServerName, file, line)
	default:
		fmt.Fprintf(c.stdout, "Changed the server %q in %s: %s\n", register.ServerName, file, line)
	}
	fmt.Fprintln(c.stdout, client.Next)
	if _, err := exec.LookPath(c.asStarted().Command); err != nil {
		fmt.Fprintf(c.stdout, "PATH does not find swank-mcp yet: put %s into one of its directories.\n", program())
	}
}

func (c *command) tellUninstalled(client *register.Client, where string, was bool) {
	if !was {
		fmt.Fprintf(c.stdout, "%s has no server %q.\n", where, register.ServerName)
		return
	}
	fmt.Fprintf(c.stdout, "Removed the server %q from %s. If %s runs, it keeps the server until it ends.\n", register.ServerName, where, client.Title)
}

// installByCommand has Claude Code write its own file: all that it remembers is in it,
// and it writes it anew while it runs.
func (c *command) installByCommand(ctx context.Context, client *register.Client) error {
	remove := []string{"claude", "mcp", "remove", "--scope", "user", register.ServerName}
	add := append([]string{"claude", "mcp", "add", "--scope", "user", register.ServerName, "--", c.asStarted().Command}, c.args...)
	if c.print {
		fmt.Fprintf(c.stdout, "A command:\n\n%s\n", shellLine(add))
		return nil
	}
	file := filepath.Join(os.Getenv("CLAUDE_CONFIG_DIR"), ".claude.json")
	if !filepath.IsAbs(file) {
		home, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		file = filepath.Join(home, ".claude.json")
	}
	has, err := client.Has(file)
	if err != nil {
		return err
	}
	want := c.asStarted()
	switch {
	case has != nil && has.Command == "" && !c.uninstall:
		return &register.FileError{File: file, Err: register.ErrNoCommand}
	case has == nil && c.uninstall:
		c.tellUninstalled(client, file, false)
		return nil
	case has != nil && !c.uninstall && has.Command == want.Command && slices.Equal(has.Args, want.Args):
		c.tellInstalled(client, file, register.Unchanged)
		return nil
	}
	outcome := register.Added
	if has != nil {
		outcome = register.Changed
		if err := c.have(ctx, remove); err != nil {
			return err
		}
	}
	if c.uninstall {
		c.tellUninstalled(client, file, true)
		return nil
	}
	if err := c.have(ctx, add); err != nil {
		return err
	}
	c.tellInstalled(client, file, outcome)
	return nil
}

// have runs another program's command, whose output is shown if it fails.
func (c *command) have(ctx context.Context, line []string) error {
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("PATH has no %s, which writes its configuration itself. Where it is, run:\n%s", line[0], shellLine(line))
	}
	if err != nil {
		_, _ = io.Copy(c.stderr, &out)
		return fmt.Errorf("%s: %w", shellLine(line), err)
	}
	return nil
}

// shellLine is a command as a shell reads it.
func shellLine(words []string) string {
	var quoted []string
	for _, w := range words {
		if w == "" || strings.ContainsFunc(w, func(r rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+", r)
		}) {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		quoted = append(quoted, w)
	}
	return strings.Join(quoted, " ")
}
