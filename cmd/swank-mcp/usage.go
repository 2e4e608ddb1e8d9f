package main

// Each page fits a screen: 24 lines of 80 columns. A test holds them to that,
// and to name every flag with its default, once.
const (
	usage = `swank-mcp gives AI agents a live Common Lisp image, over the Model Context
Protocol. To register it:  claude mcp add lisp -- swank-mcp

swank-mcp [FLAGS]               serve MCP on stdin and stdout (also: serve)
swank-mcp [FLAGS] eval FORM...  evaluate in a new image; without FORM, stdin
swank-mcp [FLAGS] test [SYSTEM] run the project's tests in a new image, and end
swank-mcp [FLAGS] doctor        what was found, what is missing, how to mend it
swank-mcp hook                  mend the Lisp file that an agent has written
swank-mcp ps | watch | stop ... see and steer servers that run: help people
swank-mcp help image | help session | help sandbox | version     further flags

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
	usageImage = `The flags of the Lisp image. All others: swank-mcp help, help session

  --attach ADDRESS       work in a Lisp that runs: HOST:PORT or unix:PATH, where
                         (swank:create-server :port PORT :dont-close t) listens
  --attach-command CMD   the same through a command: ssh HOST -W localhost:4005
  --echo                 show evaluations in the REPL of the one who works there
  --allow-remote         let --attach name another machine: not encrypted
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
  --checkpoint-memory MB for all; 0 is 1024, or a tenth of the machine's (0)
  --autosave             save the image to the disk at the end, and when idle
  --resume NAME          go on from a checkpoint on the disk; last: the newest
  --no-recovery          start empty after the image has died
  --no-journal           do not keep the session for the next server
`
	usageSandbox = `The sandbox around a Lisp that is launched. All other flags: swank-mcp help
Code of a session writes below the project's directory and --session-dir, has
temporary files of its own, reads the system's programs, the libraries of Lisp
and no keys, and reaches no network and no other process. What this system
cannot do of that, doctor and session-status tell.

  --sandbox MODE         on, or strict: no Lisp where something is missing (off)
  --sandbox-net PORTS    TCP ports that code may connect to, as in 443,5432
  --sandbox-read PATHS   further files and directories to read, as in PATH

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
