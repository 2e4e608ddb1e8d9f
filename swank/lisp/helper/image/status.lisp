;;;; status.lisp -- STATUS: what runs in the image

(cl:in-package #:swank-mcp)

#+sbcl
(defun running-frames (evaluation)
  "The texts of EVALUATION's frames, asked from its thread; NIL if it does not answer."
  (values (ask-thread (evaluation-thread evaluation)
                      (lambda ()
                        (when (evaluation-activep evaluation)
                          (getf (stop-report evaluation :timeout) :frames))))))

(defun running-for-wire (session)
  (let ((evaluation (with-lock ()
                      (find-if (lambda (evaluation)
                                 (and (eq session (evaluation-session evaluation))
                                      (not (evaluation-job evaluation))
                                      (not (suspendedp evaluation))))
                               *evaluations*))))
    (when evaluation
      (list :token (evaluation-token evaluation)
            :code (clip (princ-to-string (evaluation-code evaluation)) 200)
            :age (- (microseconds) (evaluation-started evaluation))
            ;; asked before the thread is interrupted
            :waits (or (lock-text (evaluation-thread evaluation)) "")
            :frames (running-frames evaluation)))))

(defun threads-for-wire ()
  (loop for thread in (swank/backend:all-threads)
        when (swank/backend:thread-alive-p thread)
          collect (list (princ-to-string (swank/backend:thread-name thread))
                        (princ-to-string (swank/backend:thread-status thread)))))

(defun definition-counts (session)
  "((SECTION COUNT) ...) of what SESSION has defined.  No value is printed: the status must not
wait for code of the user's."
  (let ((counts '()) (definitions (own-definitions session)))
    (flet ((add (section count)
             (when (plusp count)
               (let ((entry (assoc section counts)))
                 (if entry
                     (incf (second entry) count)
                     (push (list section count) counts))))))
      (loop for (kind . name) in definitions
            unless (member kind '(:method :generic-function))
              do (add (section-of kind name) 1))
      (add :generic-functions (length (call-with-listing-syntax
                                       (lambda () (generic-lines definitions)))))
      (add :packages (length (own-packages session)))
      (add :loaded-systems (length (session-systems session))))
    counts))

(defun status (&optional (session "default"))
  "Answer a plist about SESSION and the image; ages in microseconds, sizes in bytes."
  (let ((session (ensure-session session)))
    (answer (list :package (package-name (live-package session))
                  :running (running-for-wire session)
                  :suspended (suspended-for-wire session)
                  :suspended-threads (suspended-threads-for-wire session)
                  :threads (threads-for-wire)
                  :heap-used (heap-used)
                  :heap-limit (heap-size)
                  :definitions (definition-counts session)
                  :systems (sort (copy-list (session-systems session)) #'string<)
                  :echo (if *echoing* (funcall *echo-place*) "")
                  :lost (first-few (lost-definitions session) 100)))))

;;; PCL builds constructors, dispatch functions and caches at first use, which takes tens of
;;; milliseconds.  An image that is to be saved as a core does it before.

(define-condition rehearsal (error) ()
  (:report "A rehearsal."))

(defun warm-up ()
  "Evaluate some code of each kind once, in a session that is then deleted."
  (dolist (code '("(list 1 \"two\" 'three 4.0d0 #\\5 (list 6))" "(values 1 2)" "(/ 1 0)"
                  "(print 'hello)" "(defun warm (x) (let ((y 1)) x))" "(no-such-function 1)"
                  "(car 42)" "(error 'rehearsal)" "(warn \"w\")" "(format t \"~a~%\" 1)" "(foo"
                  "(make-hash-table)" "(format *error-output* \"e\")"))
    (let ((*package* (find-package '#:swank-mcp)))
      (with-output-to-string (*standard-output*)
        (evaluate code :session "rehearsal" :package "SWANK-MCP"))))
  (remhash "rehearsal" *sessions*)
  (fmakunbound 'warm)
  (with-output-to-string (*standard-output*)
    (status "rehearsal"))
  (remhash "rehearsal" *sessions*)
  (watch-launched-image)
  t)
