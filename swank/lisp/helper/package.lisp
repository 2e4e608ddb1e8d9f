;;;; package.lisp -- SWANK-MCP: evaluation for programs, on top of Swank.
;;;;
;;;; This package lives in the Lisp image beside Swank.  A bridge calls it with
;;;;
;;;;     (swank:eval-and-grab-output "(swank-mcp:evaluate \"...\" ...)")
;;;;
;;;; and gets back one readable s-expression of strings and numbers.  It depends
;;;; on Swank alone and sets no variable, readtable, package or hook that is not
;;;; its own: whatever an evaluation may change is bound per session.
;;;;
;;;;     wire.lisp       what an answer looks like on the wire
;;;;     sink.lisp       output streams that never fill the memory
;;;;     conditions.lisp names and texts of conditions, reader errors
;;;;     frames.lisp     backtraces of user frames, printed without user code
;;;;     warnings.lisp   warnings recorded and muffled
;;;;     session.lisp    sessions: what lasts from one evaluation to the next
;;;;     kinds.lisp      the kinds of definitions, and which one is there
;;;;     definitions.lisp what a session has defined
;;;;     noting.lisp     forms that may define something
;;;;     settle.lisp     which of them have
;;;;     theirs.lisp     what they replace of somebody else's
;;;;     packages.lisp   packages that a session makes, features, its readtable
;;;;     stop.lisp       evaluations in progress, and ending them from outside
;;;;     work.lisp       other work of a session than evaluating code
;;;;     exit.lisp       refusing to end the image or the thread
;;;;     binding-stack.lisp  collecting garbage where the binding stack is used up
;;;;     session-threads.lisp threads that a session's code starts
;;;;     locks.lisp      what threads wait for, and who has it
;;;;     suspend.lisp    evaluations that wait in the debugger
;;;;     debugger.lisp   what can be done about them
;;;;     inspect-frame.lisp  frames of theirs
;;;;     last-error.lisp what is known of the last error
;;;;     perform.lisp    reading and evaluating code, and what surrounds it
;;;;     evaluate.lisp   EVALUATE: an evaluation as a whole, and its answer
;;;;     expand.lisp     EXPAND: macro expansions
;;;;     notes.lisp      what the compiler says, with file, line and column
;;;;     building.lisp   where in a system's files an error is met
;;;;     recording.lisp  the top level forms of files
;;;;     compile.lisp    COMPILE-SOURCE, LOAD-SOURCE
;;;;     disassemble.lisp DISASSEMBLE-FUNCTION
;;;;     test-frameworks.lisp what frameworks tell of the results of their tests
;;;;     tests.lisp      RUN-TESTS
;;;;     journal.lisp    the source of what a session has defined
;;;;     kept.lisp       the parts of a form that are evaluated again
;;;;     guarded.lisp    definitions that change what the bridge stands on
;;;;     restore.lisp    RESTORE: evaluating that again in a new image
;;;;     restore-watch.lisp  what an entry may cost, and how it is stopped
;;;;     assign.lisp     variables that come into being by assignment
;;;;     baseline.lisp   what there was before a session
;;;;     undoing.lisp    which of its definitions a session has undone again
;;;;     load.lisp       LOAD-FORMS
;;;;     systems.lisp    LOAD-SYSTEM, with Quicklisp or ASDF
;;;;     registry.lisp   where the definitions of systems lie
;;;;     stale.lisp      which files of a system have changed
;;;;     orphans.lisp    definitions that their files no longer have
;;;;     structures.lisp loading structures that have changed
;;;;     listing.lisp    LIST-DEFINITIONS, LIST-PACKAGES
;;;;     reset.lisp      RESET-SESSION
;;;;     heap.lisp       a soft limit on the heap
;;;;     guest-watch.lisp the same in an image that is somebody's
;;;;     attach.lisp     being a guest in an image that is somebody's
;;;;     joining.lisp    several bridges in one session
;;;;     owners-hooks.lisp their debugger hooks, which Swank has overwritten
;;;;     echo.lisp       what the agent evaluates, shown in the person's REPL
;;;;     threads.lisp    the threads that evaluations and look-ups run on
;;;;     status.lisp     what is going on, for people who ask
;;;;     names.lisp      from typed names to symbols; look-ups and their time limit
;;;;     inert.lisp      the shape of Lisp text, without the reader
;;;;     source.lisp     where definitions come from, and their source text
;;;;     describe.lisp   DESCRIBE-SYMBOL
;;;;     apropos.lisp    APROPOS-SEARCH, COMPLETE-SYMBOL
;;;;     xref.lisp       FIND-DEFINITION, CROSS-REFERENCE
;;;;     asdf.lisp       DESCRIBE-SYSTEM
;;;;     views.lisp      what objects of each kind are made of
;;;;     inspect.lisp    INSPECT-FORM, INSPECT-HANDLE: objects, part by part
;;;;     tracing.lisp    TRACE-FORM, SWITCH-TRACE: calls and their values
;;;;     leaving.lisp    what a bridge has left on, taken back when it goes
;;;;     profiling.lisp  PROFILE-FORM: where time goes
;;;;     memory.lisp     MEMORY-REPORT: what fills the heap
;;;;     threadlist.lisp LIST-THREADS, INTERRUPT-THREAD

(cl:defpackage #:swank-mcp
  (:use #:common-lisp)
  (:export #:evaluate                   ; evaluate.lisp
           #:stop-evaluation            ; stop.lisp
           #:peek-output
           #:attach #:within            ; attach.lisp
           #:join-session               ; joining.lisp
           #:start-thread               ; threads.lisp
           #:waits-for                  ; locks.lisp
           #:evaluate-in-frame          ; debugger.lisp
           #:continue-suspended
           #:inspect-frame              ; inspect-frame.lisp
           #:backtrace                  ; last-error.lisp
           #:last-error
           #:configure                  ; session.lisp
           #:list-definitions           ; listing.lisp
           #:list-packages
           #:describe-symbol            ; describe.lisp
           #:apropos-search             ; apropos.lisp
           #:complete-symbol
           #:find-definition            ; xref.lisp
           #:cross-reference
           #:describe-system            ; asdf.lisp
           #:reset-session              ; reset.lisp
           #:load-system                ; systems.lisp
           #:load-forms                 ; load.lisp
           #:undone                     ; undoing.lisp
           #:restore                    ; restore.lisp
           #:expand                     ; expand.lisp
           #:inspect-form               ; inspect.lisp
           #:inspect-handle
           #:object
           #:trace-form                 ; tracing.lisp
           #:switch-trace
           #:profile-form               ; profiling.lisp
           #:memory-report              ; memory.lisp
           #:list-threads               ; threadlist.lisp
           #:interrupt-thread
           #:compile-source             ; compile.lisp
           #:load-source
           #:disassemble-function       ; disassemble.lisp
           #:run-tests                  ; tests.lisp
           #:status))                   ; status.lisp
