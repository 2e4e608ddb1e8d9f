package main

import (
	"regexp"
	"slices"
	"strings"
)

// pages are the texts of help, by the word behind it. The reference, the manual page and
// the completion of shells are made of them.
var pages = []struct{ name, text string }{
	{"", usage}, {"install", usageInstall}, {"image", usageImage}, {"session", usageSession}, {"http", usageHTTP}, {"sandbox", usageSandbox}, {"people", usagePeople},
}

// A told is what a page says of a command or of a flag.
type told struct{ name, args, doc string }

var (
	toldFlag    = regexp.MustCompile(`(?m)^  --([a-z-]+) (?:([A-Z]+) )?\s*(.*(?:\n {20,}.*)*)$`)
	toldCommand = regexp.MustCompile(`(?m)^swank-mcp (?:\[FLAGS\] )?\[?([a-z]+)\]?((?: \S+)*?)  +([^|\s].*(?:\n {20,}.*)*)$`)
)

// tellsOf is what a page says, in its order: of flags, or of commands.
func tellsOf(page string, what *regexp.Regexp) (all []told) {
	for _, m := range what.FindAllStringSubmatch(page, -1) {
		all = append(all, told{m[1], strings.TrimSpace(m[2]), strings.Join(strings.Fields(m[3]), " ")})
	}
	return all
}

// toldCommands are the commands of all pages, each once.
func toldCommands() (commands []told) {
	for _, page := range pages {
		for _, t := range tellsOf(page.text, toldCommand) {
			if !slices.ContainsFunc(commands, func(have told) bool { return have.name == t.name }) {
				commands = append(commands, t)
			}
		}
	}
	return commands
}

// Each page fits a screen: 24 lines of 80 columns. A test holds them to that,
// and to name every flag with its default, once.
const (
	usage = `swank-mcp gives AI agents a live Common Lisp image, over the Model Context
Protocol. To register it:  swank-mcp install --client claude-code

swank-mcp [FLAGS] [serve]       serve MCP on stdin and stdout
swank-mcp [FLAGS] eval FORM...  evaluate in a new image; without FORM, stdin
swank-mcp [FLAGS] test [NAME]   run the project's tests in a new image, and end
swank-mcp [FLAGS] doctor        what was found, what is missing, how to mend it
swank-mcp hook                  mend the Lisp file that an agent has written
swank-mcp ps | watch | stop ... see and steer servers that run: help people
swank-mcp help PAGE             install, image, session, http, sandbox, people

  --project DIR          the project worked on, whose systems are found first
  --watch-files          load what is saved of the project's loaded systems
  --timeout SECONDS      limit of an evaluation that names none (30)
  --max-timeout SECONDS  longest limit that an evaluation may name (600)
  --suspend-limit SECONDS  how long an error may wait in the debugger (600)
  --max-output N         characters of a reply before it is cut (40000)
  --toolsets NAMES       core, debug, inspect, build, profile; default; or all
  --tools NAMES          tools by name, beside --toolsets or alone
  --exclude-tools NAMES  without these tools
  --read-only            only tools that change nothing: not evaluate-lisp
  --log-level LEVEL      debug, info, warn or error; logs go to stderr (warn)

Names are separated by commas. In the environment: SWANK_MCP_READ_ONLY=true.
`
	usageInstall = `Setting swank-mcp up. All other flags: swank-mcp help
swank-mcp install [-- FLAG...]  register it with a client, started with FLAGs
swank-mcp completion SHELL      print what bash, zsh or fish needs to complete
swank-mcp version               print the version

  --client NAME          claude-code, claude-desktop, codex, cursor, vscode,
                         zed, gemini, eca; emacs (whose text is only printed)
  --print                show what would be written, and write nothing
  --uninstall            take it out of the client's configuration again

The server is called lisp. With --project DIR it is written for all who work in
that project, else for you. What else the file has stays as it is.

  swank-mcp install --client codex
  swank-mcp install --client vscode --project .
  swank-mcp install --client zed -- --attach 127.0.0.1:4006 --read-only

To complete: in ~/.bashrc  source <(swank-mcp completion bash)
             in ~/.zshrc   source <(swank-mcp completion zsh), after compinit
             in ~/.config/fish/config.fish   swank-mcp completion fish | source
`
	usageImage = `The flags of the Lisp image. All others: swank-mcp help, help session

  --attach ADDRESS       work in a Lisp that runs: HOST:PORT or unix:PATH, where
                         (swank:create-server :port PORT :dont-close t) listens
  --attach-command CMD   the same through a command: ssh HOST -W localhost:4005
  --echo                 show evaluations in the REPL of the one who works there
  --allow-remote         let --attach name another machine, not encrypted; or
                         let --http be reached from other machines
  --trace-swank FILE     append a trace of every Swank message to FILE

Without those a Lisp is launched:
  --sbcl PROGRAM         the Lisp to run (sbcl)
  --swank-dir DIR        where swank-loader.lisp is (searched in usual places)
  --heap MB              heap of the image (4096)
  --stack MB             control stack of each Lisp thread (16)
  --no-userinit          do not load ~/.sbclrc
  --no-core              neither use nor build a cached core
  --cache-dir DIR        for fasls and cores (swank-mcp in your cache directory)

Any flag can be set in the environment: --heap 4096 is SWANK_MCP_HEAP=4096.
`
	usageSession = `The flags of what is kept of a session. All others: swank-mcp help, help image

  --session NAME         work in the session of that name (default)
  --session-dir DIR      where sessions are saved (the working directory)

Of a Lisp that is launched:
  --no-checkpoints       keep no copies of the image to go back to
  --checkpoint-memory MB for all; 0 is 1024, or a tenth of what there is (0)
  --autosave             save the image to the disk at the end, and when idle
  --resume NAME          go on from a checkpoint on the disk; last: the newest
  --no-recovery          start empty after the image has died
  --no-journal           do not keep the session for the next server

Of a session at a server over HTTP, with your token in SWANK_MCP_TOKEN:
  --url URL              for eval and doctor: http://127.0.0.1:7800/s/NAME/mcp
`
	usageHTTP = `MCP over HTTP, each session with a Lisp of its own: swank-mcp serve --http ADDR
Clients send their token to http://ADDR/mcp; or to /s/NAME/mcp, for a session
that stays when they go. All other flags: swank-mcp help
swank-mcp sessions --http ADDR [show|end NAME...]  those there; more of some
swank-mcp ready --http ADDR                 0 if the server there takes calls

  --http ADDRESS         HOST:PORT or unix:PATH; 127.0.0.1 unless --allow-remote
  --tokens FILE          lines PRINCIPAL TOKEN, made at first (in your state)
  --no-auth              want no token; only for 127.0.0.1 and sockets
  --tls-cert FILE        certificate, as PEM; with --tls-key
  --tls-key FILE         its private key
  --behind-proxy         other machines reach it through a proxy that has TLS
  --allowed-hosts NAMES  names of the server that clients may use
  --allowed-origins URLS   web pages that may use it: https://app.example
  --max-rate N           requests of one principal in a second (200)
  --max-sessions N       sessions in all (1000)
  --max-sessions-each N  sessions of one principal (100)
  --max-images N         Lisp images that run at once (100)
  --pool N               images started ahead for new sessions (2)
  --hibernate-after SECONDS  when an image that nobody uses is put away (900)
  --session-timeout SECONDS  when a client that sends nothing is gone (14400)
  --drain SECONDS        for which calls may run on at the end (10)
  --drain-delay SECONDS  for which new ones are taken before that (0)
  --lease SECONDS        share --session-dir; who is silent so long is dead (0)
`
	usageSandbox = `The sandbox around a Lisp that is launched. With --http it is on unless you say
off. All other flags: swank-mcp help
Code of a session writes below the project's directory and --session-dir, has
temporary files of its own, reads the system's programs, the libraries of Lisp
and no keys, and reaches no network and no other process. What this system
cannot do of that, doctor and session-status tell.

  --sandbox MODE         on, or strict: no Lisp where something is missing (off)
  --sandbox-net PORTS    TCP ports that code may connect to, as in 443,5432
  --sandbox-read PATHS   further files and directories to read, as in PATH
  --limits LIST          memory=MB of all processes of an image together,
                         wall=SECONDS of an evaluation, also as a job; with
                         --http cpu=SECONDS in an hour for each principal, and
                         disk=MB of a session

What is refused by which means, and what is not: docs/howto/sandbox.md
`
	usagePeople = `For people beside an agent. All other flags: swank-mcp help
swank-mcp ps           the servers that run: project, client, image, activity
swank-mcp watch [ID]   follow what a server evaluates, until it ends
swank-mcp stop [ID]    end what it evaluates; the agent reads that it was you
swank-mcp pause [ID]   have calls that would evaluate wait; what runs goes on
swank-mcp resume [ID]  let them go on
swank-mcp undo [ID]    take its image back to before the last call; also with
                       --session NAME
swank-mcp allow [ID] everything|new|nothing   whether you are asked before
swank-mcp allow [ID] yes|no [N]               answer (question N)

  --steps N              undo so many calls; -N: do them again (1)
  --to NAME              undo: go to a checkpoint, by its name or number
  --json                 JSON: a line for each server, entry or answer
  --web                  watch in a page for a browser, whose address it prints
  --open                 open that page in the browser

Of a server:
  --no-transcript        note nothing of what is evaluated, but for who watches

ID is what ps shows, or the name of the project's directory. Without ID it is
the server that works for the directory you are in, or the only one.
`
)
