;;;; package.lisp -- SWANK-MCP: evaluation for programs, on top of Swank.
;;;;
;;;; This package lives in the Lisp image beside Swank.  A bridge calls it with
;;;;
;;;;     (swank:eval-and-grab-output "(swank-mcp:evaluate \"...\" ...)")
;;;;
;;;; and gets back one readable s-expression of strings and numbers.  It depends on Swank alone
;;;; and sets no variable, readtable, package or hook that is not its own: whatever an evaluation
;;;; may change is bound per session.
;;;;
;;;; Its files stand in folders by purpose.  The first file of each folder says what the folder
;;;; owns, what it uses and where to begin.  swank-mcp.asd has the order, in which each file refers
;;;; only to files before it.
;;;;
;;;; The folder core/ knows of no session.  It has the wire, sinks for output, the text of
;;;; conditions and values, backtraces, interrupts, and what depends on the Lisp (platform.lisp;
;;;; sbcl.lisp has SBCL's internal names).  Every folder uses it, and it uses none.  Begin with
;;;; wire.lisp.

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
           #:undefined-definitions
           #:by #:by-person             ; session/
           #:evaluate                   ; eval/
           #:stop-evaluation
           #:peek-output
           #:make-job
           #:job-output
           #:backtrace
           #:last-error
           #:evaluate-in-frame
           #:continue-suspended
           #:suspended-threads
           #:inspect-frame
           #:load-forms
           #:restore #:take-journal
           #:expand
           #:describe-symbol            ; look/
           #:apropos-search
           #:complete-symbol
           #:find-definition #:session-sources #:definition-written #:read-unlike
           #:file-readings #:writable-form
           #:cross-reference
           #:describe-system
           #:inspect-form
           #:inspect-handle
           #:object
           #:know-project               ; systems/
           #:prepare-fresh #:keep-fasls
           #:project-status #:project-definition-texts #:project-table #:know-table ; project/
           #:load-system                ; build/
           #:reload-changed
           #:compile-source
           #:load-source
           #:disassemble-function
           #:run-tests
           #:system-needs
           #:defined-names
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
           #:release-thread
           #:close-session #:reset-session
           #:status
           #:note-pause #:echo #:undo-for-bridge #:allow-for-bridge #:answer-question ; people/
           #:checkpoint #:resume-copy #:resume-core #:after-restore) ; checkpoint/
  ;; What a person calls who shares the image.
  (:export #:stop #:pause #:resume #:history #:history-entries #:undo-entry
           #:show #:show-code #:show-error #:echo-to #:allow #:take-over)     ; people/
  (:export #:agents #:agent-definitions) ; for editors
  ;; What a program may use.
  (:export #:*before-checkpoint* #:*after-restore*))
