;;;; undo.lisp -- UNDO-ENTRY: a person puts back the definitions that an agent has replaced

(cl:in-package #:swank-mcp)

(defun obstacle-to-undoing (change)
  "Why the definition before CHANGE cannot be put back, or NIL."
  (let ((key (change-key change)) (saved (change-saved change)))
    (cond ((change-newp change) "there was none before")
          ((or (null saved) (eq :left (first saved)))
           (format nil "~A changes it in place~@[; the source before is in the history~*~]"
                   (lisp-implementation-type) (change-source change)))
          ((not (same-identity-p (change-identity change)
                                 (definition-identity (car key) (cdr key))))
           "it has been defined again, or undefined, since then"))))

(defun own-again (session change)
  "The definition before CHANGE, which is back, may be one of SESSION's: enter it into its table and
journal."
  #+sbcl
  (let* ((key (change-key change)) (text (change-source change))
         (plist (definition-plist key)))
    (when (equal (session-name session) (getf plist :swank-mcp))
      (let ((order (enter-definition session key)) (package (getf plist :swank-mcp-package)))
        (when (and text package (< (length text) (action-limit :code)))
          (with-lock ()
            (push (list (list (key-text session key)) text package 0 nil nil order)
                  (session-journal session)))))))
  #-sbcl (progn session change nil))

(defun undo-change (session change)
  "Put back the definition before CHANGE.  Return NIL, or why that cannot be done."
  (or (obstacle-to-undoing change)
      (handler-case
          (handler-bind ((warning #'muffle))
            (restore-definition (namespace-of (change-key change)) (change-saved change))
            (when session (own-again session change))
            nil)
        (error (condition) (clip (condition-text condition) 200)))))

(defun undo-entry (number)
  "Put back the definitions that the entry NUMBER of the history has replaced: functions, macros,
compiler macros, methods, and variables with their values.  Print what was put back, and what was
not and why: what is new stays, and so does what somebody has defined again since, and what the Lisp
changes in place, such as classes.  The agent's next reply says what the person has undone.  Return
no values."
  (for-people-only 'undo-entry)
  (let* ((action (with-lock () (find-action number)))
         (session (and action (with-lock () (gethash (action-session action) *sessions*))))
         (done '()))
    (unless action
      (format t "~&; There is no entry ~D: (swank-mcp:history) lists those that there are.~%" number))
    (when action
      (dolist (change (action-changes action))
        (let* ((label (key-label (change-key change))) (why (undo-change session change)))
          (if why
              (format t "~&; Not put back: ~A: ~A.~%" label why)
              (progn (push label done)
                     (format t "~&; Put back: ~A~%" label)))))
      (unless (action-changes action)
        (format t "~&; Entry ~D has defined nothing.~%" number))
      (when done
        (push (format nil "The person has undone this at ~A: ~{~A~^, ~}." (clock-text (get-universal-time)) done)
              (action-remarks action))
        (when session
          (note-news session (format nil "The person has undone what evaluation ~D redefined: ~{~A~^, ~} ~[are~;is~:;are~] again as before it."
                                     number done (length done))))))
    (values)))

(defun undo-for-bridge (number &optional token)
  "UNDO-ENTRY for a person who has no REPL here.  Answer what it prints.  With TOKEN only of the entry
that has that, too: after a restore another one may have the number."
  (let ((action (with-lock () (find-action number))))
    (answer (list :text
                  (if (and token action (not (eql token (action-token action))))
                      (format nil "; There is no entry ~D any more: the image was taken back to before it.~%" number)
                      (with-output-to-string (*standard-output*) (undo-entry number)))))))
