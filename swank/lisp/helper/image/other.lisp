;;;; other.lisp -- what other Lisps have in place of the files that only SBCL reads

(cl:in-package #:swank-mcp)

;;; swank-mcp.asd marks those files by :IF-FEATURE :SBCL; other files have functions behind
;;; #+SBCL.  Here stand those of these functions that other Lisps call.

#-sbcl
(macrolet ((define-absent (&rest names)
             `(progn ,@(loop for name in names
                             collect `(defun ,name (&rest arguments)
                                        "Return NIL: only SBCL has an answer."
                                        (declare (ignore arguments))
                                        nil)))))
  (define-absent
    frame-package one-thread-text                               ; core
    lock-advice lock-text waiting-text                          ; session
    definition-sites                                            ; systems
    package-origin persons-package-p from-built-file-p          ; definitions
    building-place-text foreign-system         ; eval
    redefinition-p note-place diagnostic-place condition-slots open-board
    note-heap-base start-heap-watch ensure-guest-watch open-binding-stack-for-handlers
    note-abort-restart suspend suspended-for-wire end-suspended
    end-suspended-of
    function-type-text method-texts declared-type-lines         ; look
    instance-slots definition-sections
    package-file why-untested              ; build
    running-frames put-debugger-hooks-back note-hooks           ; image
    take-over))                                                 ; people

#-sbcl
(defun call-with-open-binding-stack (function) (funcall function))

#-sbcl
(defun call-refusing-exit (function refuse &optional thread)
  (declare (ignore refuse thread))
  (funcall function))

#-sbcl
(defun waits-for (id)
  (declare (ignore id))
  (answer ""))

#-sbcl
(defun need-contrib (name)
  (refuse "MODULE-MISSING" (format nil "~A is there in SBCL only." name)))

#-sbcl
(defun memory-report (&key (session "default") limit)
  (declare (ignore limit))
  (with-look-up (session)
    (fail-lookup "NOT-HERE" '() "This Lisp does not tell.")))

;;; Backtraces

#-sbcl
(defun program-frames (texts frames)
  (declare (ignore frames))
  (length texts))

#-sbcl
(defun foreign-frame-text (frame)
  "Swank's text of FRAME on one line, or NIL where that is nothing but an address."
  #+ecl
  (let ((name (swank/ecl::frame-name frame)))
    (and name (not (eq name 'si:bytecodes)) (prin1-to-string name)))
  #-ecl
  (clip (substitute #\space #\newline
                    (with-output-to-string (s) (swank/backend:print-frame frame s)))
        300))

#-sbcl
(defun collect-frames (limit package &key missing)
  "Swank's idea of the frames inside of EVALUATE-FORM, without those of this
helper; what is left of the implementation's own cannot be told from the user's."
  (declare (ignore missing))
  (flet ((frame-texts (package)
           (call-with-frame-printing
            package
            (lambda ()
              (let ((*print-length* *max-argument-length*) (*print-level* *max-argument-depth*))
                (remove nil (mapcar #'foreign-frame-text
                                    (swank/backend:compute-backtrace 0 (+ limit 60)))))))))
    (ignore-errors
     (swank/backend:call-with-debugging-environment
      (lambda ()
        (let* ((texts (frame-texts package))
               ;; the same with every symbol's package, to know ours by it
               (names (frame-texts (find-package '#:keyword)))
               (end (or (position-if (lambda (name) (search "SWANK-MCP::EVALUATE-FORM" name)) names)
                        (length names)))
               (ours (position-if (lambda (name) (search "SWANK-MCP::" name)) names
                                  :end end :from-end t))
               (found (subseq texts (if ours (1+ ours) 0) end)))
          (values (subseq found 0 (min limit (length found))) (length found))))))))
;;; Nothing is suspended

#-sbcl
(defun evaluate-in-frame (&rest arguments)
  (declare (ignore arguments))
  (answer (list :absent :ended)))

#-sbcl
(defun continue-suspended (&rest arguments)
  (declare (ignore arguments))
  (answer (list :absent :ended)))

#-sbcl
(defun inspect-frame (&rest arguments)
  (declare (ignore arguments))
  (answer (list :absent :ended)))
