;;;; load-forms.lisp -- LOAD-FORMS: a file of forms, such as a saved session

(cl:in-package #:swank-mcp)

;;; Unlike EVALUATE this goes on after a form that fails.  A definition that fails is tried again
;;; at the end, when what it needs may be there.

(defun load-forms (code &key (session "default") (token 0) written)
  "Evaluate the forms of CODE one after the other in SESSION, beginning in
COMMON-LISP-USER.  WRITTEN, if not NIL, is the DEFINITION-TIME at which CODE was written: what would
take back what SESSION has that is later is refused.  The answer is EVALUATE's, without values; its
report is

  :FORMS   how many there were
  :FAILED  ((LINE FORM WHY) ...) of those that failed to the end"
  (call-as-work (lambda (evaluation read)
                  (declare (ignore read))
                  (when written (refuse-older (evaluation-session evaluation) code written))
                  (load-code evaluation code))
                :code '(load-session) :session session :token token
                :package "COMMON-LISP-USER"))

(defun call-or-why (function &optional (text #'condition-text))
  "What FUNCTION returns; or NIL and why it failed, with TEXT of the condition."
  (block nil
    (call-with-debugger-hooks
     function
     (lambda (condition)
       (return (values nil (format nil "~A: ~A" (type-label condition)
                                   (clip (funcall text condition) 500))))))))

(defun unreadable-text (condition stream)
  (if (and (typep condition 'end-of-file)
           (eq stream (ignore-errors (stream-error-stream condition))))
      "a closing parenthesis, quote or bar is missing"
      (condition-text condition)))

(defun next-line-of-form (code start)
  "Where the next line after START begins that looks like the start of a form."
  (let ((newline (search (format nil "~%(") code :start2 (min (1+ start) (length code)))))
    (if newline (1+ newline) (length code))))

(defun defining-form-p (form)
  (and (consp form) (symbolp (first form)) (ignore-errors (defining-call-p form)) t))

(defstruct (loaded-form (:conc-name lf-) (:copier nil))
  form source package line why)

(defun system-of-form (form)
  "The name of the system if FORM is one by which a saved session loads a system, or NIL."
  (and (consp form)
       (loading-call-p form)
       (consp (rest form))
       (stringp (second form))
       (second form)))

(defun load-form (evaluation loaded)
  "Evaluate the form of LOADED and set why it failed, if it did.  A system is loaded as by
LOAD-SYSTEM: ASDF alone does not see all that has changed on disk."
  (let* ((form (lf-form loaded)) (system (system-of-form form)))
    (setf (evaluation-form evaluation) form
          (lf-why loaded)
          (nth-value 1 (call-or-why
                        (lambda ()
                          (if system
                              (load-system-in (evaluation-session evaluation)
                                              (lambda () (load-named-system system :quietly t)))
                              (evaluate-toplevel evaluation form 1 (lf-source loaded)))
                          (values t nil)))))))

(defun read-forms-calling (code function)
  "Read the forms of CODE and call FUNCTION with a LOADED-FORM for each; one that cannot be read
says why."
  (let ((in (make-string-input-stream code)))
    (loop
      (let* ((start (file-position in))
             (begin (next-form-position code start))
             (line (line-and-column code begin)))
        (multiple-value-bind (form why)
            (call-or-why (lambda () (values (read-form in) nil))
                         (lambda (condition) (unreadable-text condition in)))
          (cond (why
                 (let ((next (next-line-of-form code begin)))
                   (funcall function (make-loaded-form :line line :why why
                                                       :source (subseq code begin next)))
                   (file-position in next)))
                ((eq form in) (return))
                (t (funcall function
                            (make-loaded-form :form form :package *package* :line line
                                              :source (subseq code begin (file-position in)))))))))))

(defun call-in-package-of (form function)
  "Call FUNCTION, and then, if FORM is an IN-PACKAGE, be in its package, or in one without a name if
there is none: what is read for it must not get into another one."
  (funcall function)
  (when (and (consp form) (eq (first form) 'in-package) (consp (rest form)))
    (setf *package* (or (find-package (second form)) (unnamed-package)))))

(defvar *unnamed-package* nil "The package of UNNAMED-PACKAGE.")

(defun unnamed-package ()
  "A package for what is read in one that is not there; it goes with the reading."
  (or *unnamed-package*
      (setf *unnamed-package* (make-package (symbol-name (gensym "SWANK-MCP-")) :use '(#:common-lisp)))))

(defun older-forms (session code time)
  "What evaluating CODE, written at TIME, would take back of what SESSION has, in words.  CODE is read
and not evaluated."
  (let ((*unnamed-package* nil) (*package* *package*) (*read-eval* nil) (found '()))
    (unwind-protect
         (read-forms-calling code
                             (lambda (loaded)
                               (unless (lf-why loaded)
                                 (call-in-package-of
                                  (lf-form loaded)
                                  (lambda ()
                                    (dolist (said (taken-back session (lf-form loaded) (lf-source loaded) time))
                                      (pushnew said found :test #'string=)))))))
      (when *unnamed-package* (delete-package *unnamed-package*)))
    (nreverse found)))

(defparameter *max-older* 20 "How many things a refusal names that a file would take back.")

(defun refuse-older (session code time)
  "Refuse to evaluate CODE, written at TIME, if that would take back what SESSION has."
  (let ((older (older-forms session code time)))
    (when older
      (refuse "LATER-IN-SESSION"
              (format nil "Nothing was loaded. It would take back:~{~%- ~A~}~@[~%and ~D more~]"
                      (first-few older *max-older*)
                      (count-beyond older *max-older*))))))

(defun load-code (evaluation code)
  (let ((forms 0) (failed '()))
    (report-with evaluation
                 (lambda ()
                   (plist-without-nils
                    :forms forms
                    :failed (loop for loaded in (reverse failed)
                                  collect (list (lf-line loaded)
                                                (clip (first-line (lf-source loaded)) 70)
                                                (lf-why loaded))))))
    (read-forms-calling code
                        (lambda (loaded)
                          (incf forms)
                          (unless (lf-why loaded) (load-form evaluation loaded))
                          (when (lf-why loaded) (push loaded failed))))
    (setf failed (load-again evaluation failed))
    '()))

(defun load-again (evaluation failed)
  "Evaluate the definitions among FAILED, the newest first, again as long as one more succeeds;
return the others."
  (loop
    (let ((before (length failed)))
      (dolist (loaded (reverse failed))
        (when (and (defining-form-p (lf-form loaded))
                   (package-name (lf-package loaded)))
          (let ((*package* (lf-package loaded)))
            (load-form evaluation loaded))))
      (setf failed (remove nil failed :key #'lf-why))
      (when (or (null failed) (= before (length failed)))
        (return failed)))))

(defun first-line (text)
  (subseq text 0 (or (position #\newline text) (length text))))
