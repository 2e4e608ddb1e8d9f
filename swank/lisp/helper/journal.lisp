;;;; journal.lisp -- the source of what a session defines

(cl:in-package #:swank-mcp)

;;; The bridge keeps the source of each definition, to bring the session back
;;; when its image has died.  What is handed out for that must be safe to
;;; evaluate again: definitions, packages, declarations, systems; never code
;;; that merely contains a definition, of which only the definition is taken.

(defparameter *package-operators*
  '(defpackage make-package use-package unuse-package import export unexport shadow
    shadowing-import rename-package delete-package)
  "Operators whose calls at top level change packages.")

(defparameter *declaring-operators* '(declaim proclaim require))

(defparameter *wrapping-operators*
  '(let let* flet labels macrolet symbol-macrolet locally eval-when)
  "Operators that give the definitions in them an environment, which must be
there again when they are.")

(defun loading-call-p (form)
  "True of (ASDF:LOAD-SYSTEM ...) and (QL:QUICKLOAD ...)."
  (and (symbolp (first form))
       (first form)
       (member (symbol-name (first form)) '("LOAD-SYSTEM" "QUICKLOAD") :test #'string=)
       (implementation-or-loader-p (symbol-package (first form)))))

(defun implementation-or-loader-p (package)
  (and package
       (find-if (lambda (prefix) (eql 0 (search prefix (package-name package))))
                '("ASDF" "QL" "QUICKLISP"))))

(defun defining-call-p (form)
  "True of a form that does nothing but define: a defining operator's, or a call
of a macro of the user's that expanded to definitions."
  (let ((operator (first form)))
    (or (assoc operator *defining-operators*)
        (and (symbolp operator)
             (macro-function operator)
             (not (eq (symbol-package operator) (find-package '#:common-lisp)))))))

(defun users-package-p (designator)
  "False of packages without which no image works, and of what is no name."
  (let ((name (cond ((and (consp designator) (eq (first designator) 'quote)) (second designator))
                    (t designator))))
    (and name
         (typep name '(or symbol string))
         (notany (lambda (prefix) (eql 0 (search prefix (string name))))
                 '("SWANK" "SB-" "COMMON-LISP" "CL" "KEYWORD" "ASDF" "UIOP")))))

(defun replay-kind (form)
  "How the top level FORM, which has been evaluated, is to be evaluated again:
:WHOLE, :PARTS (the forms in it, each by itself), :DEFINITIONS (those that it
made), or NIL for not at all."
  (when (and (consp form) (symbolp (first form)))
    (let ((operator (first form)))
      (cond ((and (member operator '(delete-package rename-package))
                  (not (users-package-p (second form))))
             nil)
            ((or (member operator *package-operators*)
                 (member operator *declaring-operators*))
             :whole)
            ;; the system is noted by its name
            ((loading-call-p form) nil)
            ((null *noted*) (and (eq operator 'progn) :parts))
            ((or (defining-call-p form) (member operator *wrapping-operators*)) :whole)
            ((eq operator 'progn) :parts)
            (t :definitions)))))

(defun key-text (session key)
  "KEY, (KIND . NAME), as the bridge compares it; remembered for the day when the
name has lost its package."
  (let ((text (call-with-listing-syntax
               (lambda ()
                 (let ((*print-length* nil) (*print-level* nil)) ; all that tells two apart
                   (safely (prin1-to-string key))))))
        (entry (gethash key (session-definitions session))))
    (when entry (setf (cdr entry) text))
    text))

(defun form-source (form package)
  "FORM printed so that it can be read again in PACKAGE; NIL if it cannot."
  (with-standard-io-syntax
    (let ((*package* package) (*print-pretty* nil) (*print-circle* t))
      (ignore-errors (prin1-to-string form)))))

(defun journal-entry (session keys text package)
  (list (mapcar (lambda (key) (key-text session key)) keys)
        text
        (package-name package)
        0                               ; milliseconds, where they are known
        (and (some #'bridge-key-p keys) t)))

(defun standard-syntax-p (session)
  "False if source that this session reads may mean something else elsewhere."
  (and (eql *read-base* 10)
       (eq *read-default-float-format* 'single-float)
       (eq *readtable* (session-readtable session))))

(defun journal-entries (session form text package)
  "Entries (KEYS TEXT PACKAGE-NAME) for the top level FORM, whose source in the
user's code is TEXT, read in PACKAGE; TEXT is NIL for a part of such a form."
  (flet ((source () (or (and (standard-syntax-p session) text)
                        (form-source form package)
                        text)))
    (ecase (replay-kind form)
      ((nil) '())
      (:whole (let ((source (source)))
                (and source
                     (list (journal-entry session
                                          (or (mapcar #'car *noted*) (list (cons :form source)))
                                          source package)))))
      (:parts (loop for part in (rest form)
                    append (let ((*noted* (noted-in part)))
                             (journal-entries session part nil package))))
      (:definitions (loop for (key . defining) in (reverse *noted*)
                          for source = (form-source defining package)
                          when source collect (journal-entry session (list key) source package))))))

(defun noted-in (form)
  "Those of *NOTED* whose forms are FORM, or in it; all of them if it has a macro call
out of which they may have come.  Literals in FORM may be circular."
  (let ((seen (make-hash-table :test 'eq)))
    (labels ((walk (form)
               (when (and (consp form) (not (gethash form seen)))
                 (when (expands-to-definitions-p form)
                   (return-from noted-in *noted*))
                 (loop for rest = form then (cdr rest)
                       while (and (consp rest) (not (gethash rest seen)))
                       do (setf (gethash rest seen) t)
                          (walk (car rest))))))
      (when *noted* (walk form)))
    (remove-if-not (lambda (noted) (gethash (cdr noted) seen)) *noted*)))

(defun expands-to-definitions-p (form)
  (let ((operator (first form)))
    (and (symbolp operator)
         (macro-function operator)
         (not (member operator *wrapping-operators*))
         (not (assoc operator *defining-operators*)))))
