;;;; definitions.lisp -- what a session has defined

(cl:in-package #:swank-mcp)

;;; The table of a session has each definition that the session has made and that
;;; still is the one it made: list-definitions, reset-session, save-session, the
;;; restore after a death and describe-symbol all go by it.  Noting.lisp and
;;; settle.lisp fill it; own-definitions forgets what is there no more, because it was
;;; undefined, or because a file or somebody else has defined it anew.

(defstruct (entered (:copier nil))
  order                                 ; integer, increasing
  identity                              ; see DEFINITION-IDENTITY
  boundp                                ; true of a variable that was given a value: this
  value
  text                                  ; of the key, for the bridge
  why)                                  ; why there is no source for it, or NIL

(defun interned-p (key)
  (symbol-package (key-symbol key)))

(defun still-so-p (key entry)
  (handler-case
      (and (interned-p key)
           (let ((now (definition-identity (car key) (cdr key))))
             (and now
                  #+sbcl (or (same-identity-p now (entered-identity entry))
                             ;; a DEFVAR in a file has left it alone
                             (and *launched* (entered-boundp entry)
                                  (boundp (cdr key))
                                  (eql (symbol-value (cdr key)) (entered-value entry))))
                  (or (not (entered-boundp entry)) (boundp (cdr key))))))
    (error () nil)))

(defun forget-definition (session key entry)
  "Forget KEY, which is not so any more, unless it has been defined anew since ENTRY."
  (let ((table (session-definitions session)) (text (entered-text entry)))
    (when (with-shared-table (table)
            (and (eq entry (gethash key table))
                 (remhash key table)))
      (when text
        (with-lock () (push text (session-gone session)))))))

(defun all-entered (session)
  "((KEY . ENTERED) ...): a copy, since to ask whether one is so may call code of the user's."
  (let ((table (session-definitions session)))
    (with-shared-table (table)
      (loop for key being the hash-keys of table using (hash-value entry)
            collect (cons key entry)))))

(defun own-entries (session)
  "((KEY . ENTERED) ...) in the order of definition; those no longer so are forgotten."
  (let ((busy (defining-elsewhere-p session)) (found '()))
    (loop for (key . entry) in (all-entered session)
          do (cond ((still-so-p key entry) (push (cons key entry) found))
                   ((not busy) (forget-definition session key entry))))
    (sort found #'< :key (lambda (pair) (entered-order (cdr pair))))))

(defun own-definitions (session)
  "((KIND . NAME) ...) in the order of definition, without variables that have no value."
  (loop for (key) in (own-entries session)
        when (definedp (car key) (cdr key)) collect key))

(defun lost-definitions (session)
  "((KEY-TEXT WHY) ...) of those that a new image will not have."
  (append (loop for (key . entry) in (own-entries session)
                when (entered-why entry)
                  collect (list (key-text session key) (entered-why entry)))
          (and (session-readtable-why session)
               (list (list (readtable-key) (session-readtable-why session))))))

(defun why-lost (session key)
  "Why there is no source of KEY, in words; NIL if it has one or is not the session's."
  (let ((entry (gethash key (session-definitions session))))
    (and entry (entered-why entry))))

;;; SBCL stamps what it defines with SB-C::*SOURCE-PLIST*.  The same stamp carries the
;;; source text, for those who look it up.

(defparameter *max-source-text* 200000
  "A form with more characters is not kept with what it defines.")

(defun call-with-source-text (text function)
  "Call FUNCTION; what it defines remembers TEXT, the source of a top level form."
  #+sbcl
  (let ((sbcl:*source-plist*
          (if (<= (length text) *max-source-text*)
              (list* :swank-mcp-source text sbcl:*source-plist*)
              sbcl:*source-plist*)))
    (funcall function))
  #-sbcl (progn text (funcall function)))

;;; The table

(defparameter *sibling-kinds*
  '((:function :macro :generic-function) (:class :structure :condition :type)
    (:variable :constant :symbol-macro))
  "Kinds of which a name has one.")

(defun enter-definition (session key &optional (valuep t))
  "KEY has been defined.  VALUEP is false of a variable that was given no value."
  (let* ((table (session-definitions session)) (old (gethash key table)))
    (when old (forget-old-name session key old))
    (setf (gethash key table)
          (make-entered :order (incf (session-definition-count session))
                           :identity (definition-identity (car key) (cdr key))
                           :boundp (and valuep (eq (car key) :variable) (boundp (cdr key)))
                           :value (and valuep (eq (car key) :variable) (boundp (cdr key))
                                       (symbol-value (cdr key)))))
    (dolist (kind (find (car key) *sibling-kinds* :test #'member))
      (let* ((sibling (cons kind (cdr key))) (entry (gethash sibling table)))
        (when (and entry (not (eq kind (car key))) (not (definedp kind (cdr key))))
          (forget-definition session sibling entry))))))

(defun forget-old-name (session key old)
  "The bridge knows KEY by another name if its package has been renamed since OLD."
  (let ((text (entered-text old)))
    (when (and text (string/= text (key-text session key)))
      (with-lock () (push text (session-gone session))))))

;;; What has no source

(defun note-loss (evaluation key why)
  (let ((entry (gethash key (session-definitions (evaluation-session evaluation)))))
    (when entry (setf (entered-why entry) why))
    (push (list (key-text (evaluation-session evaluation) key) why)
          (evaluation-losses evaluation))))

;;; Names by which the bridge knows definitions

(defun key-text (session key)
  "KEY, (KIND . NAME), as the bridge compares it; remembered for the day when the
name has lost its package."
  (let ((text (call-with-listing-syntax
               (lambda ()
                 (let ((*print-length* nil) (*print-level* nil)) ; all that tells two apart
                   (safely (prin1-to-string key))))))
        (entry (gethash key (session-definitions session))))
    (when entry (setf (entered-text entry) text))
    text))

(defun readtable-key () (with-standard-io-syntax (prin1-to-string '(:readtable . *readtable*))))
