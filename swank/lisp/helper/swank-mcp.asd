;;;; swank-mcp.asd -- the Lisp half of swank-mcp, the package SWANK-MCP, which runs beside Swank.
;;;;
;;;; This is the only list of its files, in the order in which they are loaded: each refers
;;;; only to what stands before it, which a test holds.  Other Lisps leave out what has
;;;; :IF-FEATURE :SBCL; image/other.lisp is for them.  The bridge reads the list here
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
               (:feature :sbcl "sb-posix") (:feature :sbcl "sb-bsd-sockets")
               (:feature :sbcl "sb-introspect") (:feature :sbcl "sb-cltl2"))
  :serial t
  :components
  (;; Text, output, conditions, frames: nothing of sessions.
   (:module "core"
    :serial t
    :components ((:file "package") (:file "sbcl") (:file "platform")
                 (:file "patience") (:file "text") (:file "wire") (:file "sink") (:file "flushed")
                 (:file "exit" :if-feature :sbcl)
                 (:file "conditions") (:file "printing") (:file "user-code") (:file "frames")
                 (:file "backtrace" :if-feature :sbcl) (:file "scanner") (:file "interrupts")
                 (:file "binding-stack" :if-feature :sbcl)))
   ;; Sessions, evaluations and guests; names and look-ups in a session.
   (:module "session"
    :serial t
    :components ((:file "session") (:file "history") (:file "echoes") (:file "shown") (:file "evaluation")
                 (:file "readtables") (:file "guests") (:file "threads")
                 (:file "locks" :if-feature :sbcl) (:file "names") (:file "lookups")))
   ;; ASDF's systems and their files.
   (:module "systems"
    :serial t
    :components ((:file "asdf") (:file "source") (:file "identities" :if-feature :sbcl)
                 (:file "fingerprints") (:file "project") (:file "registry") (:file "stale")
                 (:file "compiled") (:file "structures")
                 (:file "kept-fasls" :if-feature :sbcl) (:file "fresh") (:file "advice")))
   ;; What a session has defined, and its source.
   (:module "definitions"
    :serial t
    :components ((:file "kinds") (:file "bridge-definitions") (:file "toplevels")
                 (:file "definitions") (:file "baseline") (:file "loaded-systems")
                 (:file "globals")
                 (:file "replaced") (:file "changes") (:file "recording")
                 (:file "candidates") (:file "packages")
                 (:file "replay") (:file "journal") (:file "undefining") (:file "commit")
                 (:file "collect") (:file "later")))
   ;; What is loaded of the project's systems, and what is on disk.
   (:module "project"
    :serial t
    :components ((:file "forms") (:file "objects") (:file "records") (:file "loads")
                 (:file "comparison") (:file "image") (:file "calls") (:file "users")
                 (:file "defpackage") (:file "labels") (:file "code") (:file "table")
                 (:file "findings") (:file "packages") (:file "judge") (:file "status")))
   ;; Evaluating, stopping, suspending, bringing back.
   (:module "eval"
    :serial t
    :components ((:file "diagnostics") (:file "system-loading") (:file "notes")
                 (:file "build-places" :if-feature :sbcl)
                 (:file "frame-places" :if-feature :sbcl) (:file "warnings") (:file "reports")
                 (:file "hooks") (:file "stop") (:file "last-error") (:file "outcome")
                 (:file "suspend" :if-feature :sbcl)
                 (:file "suspended-threads" :if-feature :sbcl)
                 (:file "session-threads" :if-feature :sbcl)
                 (:file "heap-limit" :if-feature :sbcl) (:file "heap-filled" :if-feature :sbcl)
                 (:file "heap-watch" :if-feature :sbcl)
                 (:file "long-lists" :if-feature :sbcl)
                 (:file "guest-heap-watch" :if-feature :sbcl) (:file "restore-watch")
                 (:file "restore-entries") (:file "looking")
                 (:file "perform") (:file "evaluate") (:file "background")
                 (:file "restore") (:file "load-forms") (:file "expand")
                 (:file "suspended-frames" :if-feature :sbcl)
                 (:file "debugger" :if-feature :sbcl)
                 (:file "shown-frames" :if-feature :sbcl)
                 (:file "inspect-frame" :if-feature :sbcl)))
   ;; Questions about symbols, definitions, systems, objects.
   (:module "look"
    :serial t
    :components ((:file "lambda-lists") (:file "listing") (:file "describe") (:file "apropos")
                 (:file "exports") (:file "library") (:file "written") (:file "describe-symbol")
                 (:file "describe-system") (:file "xref") (:file "sources") (:file "reading")
                 (:file "views") (:file "inspect")))
   ;; Loading, compiling, disassembling, testing.
   (:module "build"
    :serial t
    :components ((:file "compile") (:file "apart") (:file "load-system") (:file "reload")
                 (:file "disassemble") (:file "test-frameworks") (:file "more-frameworks")
                 (:file "tests") (:file "needs")))
   ;; Calls, time, allocation, the heap, threads.
   (:module "profile"
    :serial t
    :components ((:file "tracing") (:file "sampling" :if-feature :sbcl)
                 (:file "stacks" :if-feature :sbcl) (:file "profiling")
                 (:file "memory" :if-feature :sbcl) (:file "threadlist")))
   ;; The image as a whole: launched or a person's.
   (:module "image"
    :serial t
    :components ((:file "serving") (:file "debugger-hooks" :if-feature :sbcl)
                 (:file "guest-cleanup") (:file "attach") (:file "joining")
                 (:file "reset") (:file "closing") (:file "start") (:file "status")
                 (:file "other")))
   ;; What a person calls who shares the image.
   (:module "people"
    :serial t
    :components ((:file "stop") (:file "pause") (:file "history") (:file "undo")
                 (:file "show") (:file "echo") (:file "editors") (:file "allow")
                 (:file "take-over" :if-feature :sbcl) (:file "watching")))
   ;; Copies of a launched image.
   (:module "checkpoint"
    :serial t
    :components ((:file "pausing" :if-feature (:and :sbcl :unix))
                 (:file "rehearsal" :if-feature (:and :sbcl :unix))
                 (:file "alarms" :if-feature (:and :sbcl :unix))
                 (:file "descriptors" :if-feature (:and :sbcl :unix))
                 (:file "obstacles" :if-feature (:and :sbcl :unix))
                 (:file "copies" :if-feature (:and :sbcl :unix))
                 (:file "saving" :if-feature (:and :sbcl :unix))
                 (:file "hooks" :if-feature (:and :sbcl :unix))
                 (:file "checkpoint" :if-feature (:and :sbcl :unix)))))
  :in-order-to ((test-op (test-op "swank-mcp/tests"))))

;;; The tests stand beside the tests of the bridge, so that they are not embedded in its
;;; binary.  Those of a session build on each other: their order is not that of the folders.

(defsystem "swank-mcp/tests"
  :depends-on ("swank-mcp" "fiveam")
  :pathname "../testdata/helper/"
  :serial t
  :components ((:file "suite") (:file "core/wire") (:file "core/sink")
               (:file "core/conditions") (:file "core/frames") (:file "session/session")
               (:file "eval/foreign") (:file "eval/looking") (:file "eval/evaluate") (:file "session/names")
               (:file "core/scanner") (:file "systems/source") (:file "systems/kept-fasls")
               (:file "systems/fresh") (:file "session/lookups")
               (:file "eval/debugger") (:file "eval/expand") (:file "eval/notes")
               (:file "definitions/recording") (:file "build/disassemble")
               (:file "build/tests") (:file "core/interrupts")
               (:file "definitions/definitions") (:file "eval/hostile")
               (:file "look/inspect") (:file "look/library") (:file "look/xref")
               (:file "image/safe-close") (:file "profile/tracing")
               (:file "profile/profiling") (:file "profile/memory")
               (:file "profile/threadlist"))
  :perform (test-op (operation system)
             (unless (uiop:symbol-call "SWANK-MCP" "RUN-SUITE")
               (error "Tests of the helper have failed."))))
