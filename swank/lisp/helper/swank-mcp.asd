;;;; swank-mcp.asd -- the Lisp half of swank-mcp, the package SWANK-MCP, which runs beside Swank.
;;;;
;;;; This is the only list of its files, in the order in which they are loaded: each refers
;;;; only to what stands before it, which a test holds.  The bridge reads the list here
;;;; (swank/lisp/helper.go) and sends the files without ASDF, which a person's image may not
;;;; have.  With ASDF, for work on the helper in a Lisp of one's own:
;;;;
;;;;     (asdf:load-asd "/.../swank/lisp/helper/swank-mcp.asd")
;;;;     (asdf:load-system "swank-mcp")
;;;;     (asdf:test-system "swank-mcp")
;;;;
;;;; Swank need not be a system that ASDF finds: it is one of the dependencies only where it
;;;; is not loaded already, which Swank says by :SWANK among *FEATURES*.

(defsystem "swank-mcp"
  :description "Evaluation for programs, on top of Swank"
  :depends-on ((:feature (:not :swank) "swank")
               (:feature :sbcl "sb-posix") (:feature :sbcl "sb-introspect") (:feature :sbcl "sb-cltl2"))
  :serial t
  :components
  (;; Text, output, conditions, frames: nothing of sessions.
   (:module "core"
    :serial t
    :components ((:file "package") (:file "sbcl") (:file "platform") (:file "text")
                 (:file "wire") (:file "sink") (:file "exit") (:file "conditions") (:file "printing")
                 (:file "user-code") (:file "frames") (:file "failure") (:file "inert")
                 (:file "interrupts") (:file "binding-stack")))
   ;; Sessions, evaluations and guests; names and look-ups in a session.
   (:module "session"
    :serial t
    :components ((:file "session") (:file "evaluation") (:file "guests") (:file "threads")
                 (:file "locks") (:file "names") (:file "lookups")))
   ;; ASDF's systems and their files.
   (:module "systems"
    :serial t
    :components ((:file "asdf") (:file "source") (:file "orphans") (:file "marks")
                 (:file "project") (:file "registry") (:file "stale") (:file "structures") (:file "advice")))
   ;; What a session has defined, and its source.
   (:module "definitions"
    :serial t
    :components ((:file "kinds") (:file "guarded") (:file "toplevels") (:file "definitions")
                 (:file "baseline") (:file "loaded-systems") (:file "theirs") (:file "recording")
                 (:file "assign") (:file "noting") (:file "packages") (:file "declarations")
                 (:file "kept") (:file "journal") (:file "undoing") (:file "settle")
                 (:file "collect") (:file "listing")))
   ;; Evaluating, stopping, suspending, bringing back.
   (:module "eval"
    :serial t
    :components ((:file "diagnostics") (:file "loading") (:file "notes") (:file "building")
                 (:file "warnings") (:file "reports") (:file "hooks")
                 (:file "session-threads") (:file "stop") (:file "filling") (:file "heap")
                 (:file "guest-watch") (:file "last-error") (:file "outcome")
                 (:file "suspend") (:file "restore-watch") (:file "restore-entries")
                 (:file "work") (:file "perform") (:file "echo") (:file "evaluate")
                 (:file "restore") (:file "load") (:file "expand")
                 (:file "suspended-frames") (:file "debugger") (:file "inspect-frame")))
   ;; Questions about symbols, definitions, systems, objects.
   (:module "look"
    :serial t
    :components ((:file "describe") (:file "apropos") (:file "xref") (:file "describe-system")
                 (:file "views") (:file "inspect")))
   ;; Loading, compiling, disassembling, testing.
   (:module "build"
    :serial t
    :components ((:file "load-system") (:file "compile") (:file "disassemble")
                 (:file "test-frameworks") (:file "tests")))
   ;; Calls, time, allocation, the heap, threads.
   (:module "profile"
    :serial t
    :components ((:file "tracing") (:file "sampling") (:file "allocation") (:file "profiling")
                 (:file "memory") (:file "threadlist")))
   ;; The image as a whole: launched or a person's.
   (:module "image"
    :serial t
    :components ((:file "serving") (:file "owners-hooks") (:file "leaving") (:file "attach")
                 (:file "joining") (:file "reset") (:file "closing")
                 (:file "start") (:file "status"))))
  :in-order-to ((test-op (test-op "swank-mcp/tests"))))

;;; The tests stand beside the tests of the bridge, so that they are not embedded in its
;;; binary.  Those of a session build on each other: their order is not that of the folders.

(defsystem "swank-mcp/tests"
  :depends-on ("swank-mcp" "fiveam")
  :pathname "../testdata/helper/"
  :serial t
  :components ((:file "suite") (:file "core/wire") (:file "core/sink")
               (:file "core/conditions") (:file "core/frames") (:file "session/session")
               (:file "eval/foreign") (:file "eval/evaluate") (:file "session/names")
               (:file "core/inert") (:file "systems/source") (:file "session/lookups")
               (:file "eval/debugger") (:file "eval/expand") (:file "eval/notes")
               (:file "definitions/recording") (:file "build/disassemble")
               (:file "build/tests") (:file "core/interrupts")
               (:file "definitions/definitions") (:file "eval/hostile")
               (:file "look/inspect") (:file "image/forgive") (:file "profile/tracing")
               (:file "profile/profiling") (:file "profile/memory")
               (:file "profile/threadlist"))
  :perform (test-op (operation system)
             (unless (uiop:symbol-call "SWANK-MCP" "RUN-SUITE")
               (error "Tests of the helper have failed."))))
