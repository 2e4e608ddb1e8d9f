;;;; packages.lisp -- packages that a session makes, features that it adds, its readtable

(cl:in-package #:swank-mcp)

;;; Many operators, most of them functions, make and change packages.  So packages are compared
;;; before and after.  If a plain form at top level, such as DEFPACKAGE, has changed one, its
;;; source is that form.  Otherwise it is a DEFPACKAGE made from the package as it is now.

(defparameter *package-operators*
  '(defpackage use-package unuse-package import export unexport shadow
    shadowing-import rename-package delete-package
    #+sbcl sb-ext:add-package-local-nickname #+sbcl sb-ext:remove-package-local-nickname
    #+sbcl sb-ext:lock-package #+sbcl sb-ext:unlock-package)
  "Operators whose calls at top level change packages.")

(defparameter *package-makers* '(defpackage rename-package delete-package)
  "Those that are not read in the current package: it may be the one that they make.")

(defun form-source (form package)
  "FORM printed so that it can be read again in PACKAGE; NIL if it cannot."
  (with-standard-io-syntax
    ;; only the pretty printer of SBCL prints a backquote as such
    (let ((*package* package) (*print-circle* t)
          (*print-pretty* t) (*print-right-margin* 100) (*print-miser-width* nil))
      (ignore-errors (prin1-to-string form)))))

#+sbcl
(defun package-origin (package)
  "The file that made PACKAGE, and the name of the session in its source location."
  (let ((location (ignore-errors (sbcl:package-source-location package))))
    (and location
         (values (sbcl:definition-source-location-namestring location)
                 (getf (sbcl:definition-source-location-plist location) :swank-mcp)))))

(defun package-of-a-file-p (package)
  (and (package-origin package) t))

(defun made-by-p (session package)
  (multiple-value-bind (file owner) (package-origin package)
    (cond ((not *launched*) (not (persons-package-p session package)))
          (file (enter-record package) nil)
          (owner (equal owner (session-name session)))
          (t (not (or (others-work-p session) (others-package-p session package)))))))

(defun others-package-p (session package)
  (with-lock ()
    (loop for other being the hash-values of *sessions*
          thereis (and (not (eq other session))
                       (member package (session-packages other))))))

(defun note-packages (session before)
  (let ((after (all-packages)))
    (unless (equal before after)
      (dolist (package (set-difference after before))
        (when (made-by-p session package)
          (pushnew package (session-packages session)))))
    (setf (session-known-packages session) after)))

(defun still-own-package-p (session package)
  "False if a file that is not the session's has defined PACKAGE again."
  (let ((file (package-origin package)))
    (or (null file) (not *launched*) (member file (session-files session) :test #'string=))))

(defun own-packages (session)
  "The packages that SESSION made and that still exist, by name."
  (sort (remove-if-not #'package-name (session-packages session))
        #'string< :key #'package-name))

;;; The state of a package as a form

(defun package-form (package)
  "A DEFPACKAGE that makes PACKAGE as it is, without its own internal symbols."
  (let ((shadowing (package-shadowing-symbols package)) (imports '()) (exports '()))
    (call-with-present-symbols
     (lambda (symbol status)
       (when (eq status :external) (push (symbol-name symbol) exports))
       (unless (or (eq (symbol-package symbol) package)
                   (null (symbol-package symbol))
                   (member symbol shadowing))
         (push symbol imports)))
     package)
    (do-external-symbols (symbol package) (pushnew (symbol-name symbol) exports :test #'string=))
    (flet ((names (symbols) (sort (mapcar (lambda (s) (plain-string (symbol-name s))) symbols)
                                  #'string<))
           (strings (strings) (sort (mapcar #'plain-string strings) #'string<))
           (from (option symbols)
             (loop for symbol in (sort (copy-list symbols) #'string< :key #'symbol-name)
                   collect (list option (plain-string (package-name (symbol-package symbol)))
                                 (plain-string (symbol-name symbol))))))
      `(defpackage ,(plain-string (package-name package))
         ,@(and (package-nicknames package) `((:nicknames ,@(strings (package-nicknames package)))))
         (:use ,@(strings (mapcar #'package-name (package-use-list package))))
         ,@(let ((own (remove package shadowing :key #'symbol-package :test-not #'eq)))
             (and own `((:shadow ,@(names own)))))
         ,@(from :shadowing-import-from (remove package shadowing :key #'symbol-package))
         ,@(from :import-from imports)
         ,@(and exports `((:export ,@(strings exports))))
         #+sbcl ,@(loop for (nick . real) in (sb-ext:package-local-nicknames package)
                        collect `(:local-nicknames (,(plain-string nick)
                                                    ,(plain-string (package-name real)))))
         #+sbcl ,@(and (sb-ext:package-locked-p package) '((:lock t)))
         ,@(and (documentation package t) `((:documentation ,(documentation package t))))))))

(defun plain-package-forms (form)
  "The forms in the top level FORM that change packages and have journal entries themselves."
  (when (and (consp form) (symbolp (first form)))
    (cond ((member (first form) '(progn eval-when))
           (loop for part in (rest form) append (plain-package-forms part)))
          ((member (first form) *package-operators*) (list form)))))

(defun names-package-p (form package)
  "True if FORM is a DEFPACKAGE of PACKAGE."
  (and (eq (first form) 'defpackage)
       (string= (string (second form)) (package-name package))))

(defun own-package-name-p (session designator)
  "True if DESIGNATOR, a form, is the name of a package that SESSION has made."
  (let ((name (unquoted designator)))
    (and (typep name '(or symbol string))
         (member (string name) (session-package-names session) :test #'string=))))

(defvar *package-changes* 0
  "How often something may have changed a package in a launched image.")

(defun packages-touched-p (session form)
  "True if the evaluation of FORM may have changed packages."
  (or (and (consp form) (member (first form) '(make-package delete-package)))
      (/= *package-changes* (session-package-changes session))
      (/= (length (session-packages session)) (length (session-package-forms session)))
      (names-used *package-operators* form)))

(defun commit-packages (evaluation form)
  "Put changes of the session's packages by FORM into the journal.  Plain forms in FORM have
entries already."
  (let ((session (evaluation-session evaluation)))
    (when (packages-touched-p session form)
      (setf (session-package-changes session) *package-changes*)
      (compare-packages evaluation (plain-package-forms form)))))

(defun compare-packages (evaluation forms)
  (let ((session (evaluation-session evaluation)))
    (dolist (package (session-packages session))
      (let* ((known (assoc package (session-package-forms session)))
             (name (package-name package))
             (form (and name (package-form package))))
        (cond ((null name)
               (enter-deletion evaluation package known))
              ((not (still-own-package-p session package))
               (forget-package session package known))
              ((and known (equal form (cdr known))))
              (t (unless (if known forms (find package forms :test (lambda (p f) (names-package-p f p))))
                   (enter-package-form evaluation known form))
                 (if known
                     (setf (cdr known) form)
                     (push (cons package form) (session-package-forms session)))
                 (pushnew name (session-package-names session) :test #'string=)))))))

(defun plain-string (string)
  "STRING as one that prints in quotes, whatever its element type."
  (coerce string '(simple-array character (*))))

(defun package-key (name)
  (with-standard-io-syntax (prin1-to-string (cons :package (plain-string name)))))

(defun enter-package-form (evaluation known form)
  (let ((name (second form)) (old (second (cdr known))))
    (when (and known (string/= old name))
      (push-entry evaluation (package-key old) `(rename-package ,old ,name)))
    (push-entry evaluation (package-key name) form)))

(defun forget-package (session package known)
  "Forget PACKAGE, which a file has defined again."
  (drop-package session package known)
  (with-lock () (push (package-key (package-name package)) (session-gone session))))

(defun drop-package (session package known)
  (setf (session-package-forms session) (remove known (session-package-forms session))
        (session-packages session) (remove package (session-packages session))))

(defun enter-deletion (evaluation package known)
  "Put the deletion of PACKAGE into the journal.  A restore makes it first, because definitions
in between may name its symbols."
  (drop-package (evaluation-session evaluation) package known)
  (when known
    (let* ((name (second (cdr known))) (form `(when (find-package ,name) (delete-package ,name))))
      (push-entry evaluation
                  (with-standard-io-syntax (prin1-to-string (list :form :delete name)))
                  form))))

(defun push-entry (evaluation key form)
  (let ((source (form-source form (find-package '#:common-lisp-user))))
    (when source
      (note-journal-entry evaluation (list (list key) source "COMMON-LISP-USER" 0 nil nil)
                          (session-definition-count (evaluation-session evaluation))))))

;;; Features

(defun commit-features (evaluation form)
  "Put features that FORM has added or removed into the journal: later code may test them."
  (let* ((session (evaluation-session evaluation)) (known (session-features session))
         (namedp (names-used '(*features*) form)))
    (unless (eq *features* known)
      (if (and (systems-came-p) (not namedp))
          (keep-for-systems session)
          (setf (session-features session) *features*))
      ;; what a system has pushed a restore has from the system
      (when (or namedp
                (and *launched* (eql *undefinitions* (session-undefinitions session))))
        (loop for feature in (set-exclusive-or known *features*)
              when (symbolp feature)
                do (push-entry evaluation
                               (with-standard-io-syntax (prin1-to-string (cons :feature feature)))
                               (if (member feature *features*)
                                   `(pushnew ',feature *features*)
                                   `(setf *features* (remove ',feature *features*)))))))))

;;; The readtable

(defvar *readtable-changes* 0
  "How often something may have changed a readtable in a launched image.")

(defun commit-readtable (evaluation)
  "Report changes of the session's readtable as lost: they are not restored."
  (let ((session (evaluation-session evaluation)))
    (unless (= *readtable-changes* (session-readtable-changes session))
      (setf (session-readtable-changes session) *readtable-changes*)
      (when (readtable-changed-p session)
        (setf (session-readtable-why session)
              "characters of it were given another meaning")
        (push (list (readtable-key) (session-readtable-why session))
              (evaluation-losses evaluation))))))

;;; In a person's image

#+sbcl
(defun persons-package-p (session package)
  "True if the person may have made PACKAGE while SESSION evaluated.  A DEFPACKAGE of ours has
our name in its source location; for MAKE-PACKAGE the name is searched in our code."
  (let ((location (ignore-errors (sbcl:package-source-location package))))
    (if location
        (or (package-of-a-file-p package)
            (not (equal (getf (sb-introspect:definition-source-plist
                               (sbcl:translate-source-location location))
                              :swank-mcp)
                        (session-name session))))
        (not (named-in-p (package-name package)
                         (safely (princ-to-string (evaluation-code *evaluation*))))))))

(defun named-in-p (name code)
  "True if NAME is a word of CODE, in any case: A is one of :a and \"A\", not of LAMBDA."
  (flet ((part-of-word-p (at)
           (and (< -1 at (length code))
                (or (alphanumericp (char code at)) (find (char code at) "-+*/.%&$")))))
    (loop for start = 0 then (1+ at)
          for at = (search name code :start2 start :test #'char-equal)
          while at
          thereis (not (or (part-of-word-p (1- at)) (part-of-word-p (+ at (length name))))))))
