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
;;;; Its files stand in folders by what they are for.  The first file of each folder says
;;;; what the folder owns, what it uses and where to begin; swank-mcp.asd has the order, in
;;;; which each file refers only to files before it.
;;;;
;;;; The folder core/ has what knows of no session: the wire, sinks for output, conditions
;;;; and values as text, backtraces, interrupts, and what is asked of the Lisp itself
;;;; (platform.lisp; sbcl.lisp is the door to what SBCL keeps for itself).  Every folder uses it, and it uses none.  Begin with wire.lisp.

#+sbcl
(cl:eval-when (:compile-toplevel :load-toplevel :execute)
  (cl:unless (cl:find-package '#:swank-mcp/sbcl) ; its names come with sbcl.lisp
    (cl:make-package '#:swank-mcp/sbcl :use '())))

(cl:defpackage #:swank-mcp
  (:use #:common-lisp)
  #+sbcl (:local-nicknames (#:sbcl #:swank-mcp/sbcl))
  ;; What the bridge calls, by the folder that has it.
  (:export #:waits-for                  ; session/
           #:list-definitions           ; definitions/
           #:list-packages
           #:undone
           #:evaluate                   ; eval/
           #:stop-evaluation
           #:peek-output
           #:backtrace
           #:last-error
           #:evaluate-in-frame
           #:continue-suspended
           #:inspect-frame
           #:load-forms
           #:restore
           #:expand
           #:describe-symbol            ; look/
           #:apropos-search
           #:complete-symbol
           #:find-definition
           #:cross-reference
           #:describe-system
           #:inspect-form
           #:inspect-handle
           #:object
           #:know-project               ; systems/
           #:load-system                ; build/
           #:compile-source
           #:load-source
           #:disassemble-function
           #:run-tests
           #:trace-form                 ; profile/
           #:switch-trace
           #:profile-form
           #:memory-report
           #:list-threads
           #:interrupt-thread
           #:configure                  ; image/
           #:attach #:within
           #:join-session
           #:start-thread
           #:close-session #:reset-session
           #:status))
