
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
  (let* ((session (evaluation-session evaluation)) (known (session-features session)))
    (unless (eq *features* known)
      (setf (session-features session) *features*)
      ;; what a system has pushed a restore has from the system
      (when (or (names-used '(*features*) form)
                (and *launched* (eql *undefinitions* (session-undefinitions session))))
        (loop for feature in (set-exclusive-or known *features*)
              when (symbolp feature)
                do (push-entry evaluation
                               (with-standard-io-syntax (prin1-to-string (cons :feature feature)))
                               (if (member feature *features*)
                                   `(pushnew ',feature *features*)
                                   `(setf *features* (remove ',feature *features*)))))))))

;;; The readtable

(defun readtable-differences (readtable base)
  "True if READTABLE reads a character of ASCII differently from BASE."
  (flet ((differs (a b)
           (not (or (eq a b)
                    ;; a dispatching character has a closure that is copied with the table
                    (and (functionp a) (functionp b) (not (symbolp a)) (not (symbolp b))
                         #+sbcl (and (sbcl:closurep a) (sbcl:closurep b)))))))
    (loop for code below 128
          for char = (code-char code)
          thereis (or (differs (get-macro-character char readtable)
                               (get-macro-character char base))
                      (and (not (digit-char-p char))
                           (differs (ignore-errors (get-dispatch-macro-character #\# char readtable))
                                    (ignore-errors (get-dispatch-macro-character #\# char base))))))))

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

(defun readtable-changed-p (session)
  "True if the session's code has changed its readtable in place."
  (readtable-differences (session-readtable session) (session-first-syntax session)))

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
;;;; recording.lisp -- the top level forms of files that the session compiles or loads

(cl:in-package #:swank-mcp)

;;; Files that a session loads, by LOAD-SOURCE, by COMPILE-SOURCE or by LOAD in its code, count
;;; as code that it evaluates.  What they define is listed, undefined by a reset, and restored
;;; when the image has died.  The restore evaluates the defining forms, not the file, whose other
;;; effects must not happen again.  SBCL keeps the forms in SB-C::*SOURCE-INFO*; we read it
;;; whenever a macro is expanded, and definitions are macro calls.  Files of systems belong to
;;; ASDF, and so does what they define.

(defstruct (file-recorder (:copier nil))
  file                   ; truename of the one asked for; NIL if code has called LOAD
  (infos '())            ; (SOURCE-INFO . number of forms seen), newest first
  (forms '())            ; toplevels, newest first
  (package *package*))

(defun adopt-file ()
  "Record the definitions of the file that the session's code is loading or compiling, unless
ASDF does that."
  (unless (or *file-recorder* (systems-file-p))
    (setf *file-recorder* (make-file-recorder))))

(defun systems-file-p ()
  "True while ASDF works, or a file of a system or of SBCL is being loaded."
  (or (asdf-at-work-p)
      (and *load-truename*
           (or (equalp (pathname-type *load-truename*) "asd")
               #+sbcl (module-file-p *load-truename*)))))

#+sbcl
(defun module-file-p (file)
  "True of SBCL's own modules, which REQUIRE loads."
  (and (equal (first (last (pathname-directory file))) "contrib")
       (stringp (pathname-name file))
       (or (eql 0 (search "sb-" (pathname-name file)))
           (member (pathname-name file) '("asdf" "uiop") :test #'string=))))

(defun own-file-p ()
  "True while the recorder's file, or a source file that it loads, is compiled or loaded."
  (let ((file (file-recorder-file *file-recorder*)))
    (cond ((systems-file-p) nil)
          ((null file) t)
          (*compile-file-truename* (equal *compile-file-truename* file))
          (*load-truename* t))))

#+sbcl
(defun file-being-read ()
  "The SOURCE-INFO of the innermost file that is being compiled or loaded.  Code that EVAL
compiles has one of its own, without a stream."
  (loop for info = sbcl:*source-info* then (sbcl:source-info-parent info)
        while info
        when (sbcl:source-info-stream info) return info))

#+sbcl
(defun record-forms (recorder)
  "Record the top level forms that were read since the last time."
  (let ((info (file-being-read)))
    (when (and info (own-file-p))
      (unless (assoc info (file-recorder-infos recorder))
        (push (cons info 0) (file-recorder-infos recorder)))
      (setf (file-recorder-package recorder) *package*)
      (record-rest recorder))))

#+sbcl
(defun record-rest (recorder)
  (loop for entry in (reverse (file-recorder-infos recorder))
        for (info . seen) = entry
        for forms = (sbcl:file-info-forms (sbcl:source-info-file-info info))
        do (loop for i from seen below (length forms)
                 do (let ((before (first (file-recorder-forms recorder))))
                      ;; LOAD reads a form when it has evaluated the one before
                      (when (and before (not *compile-file-truename*))
                        (setf (toplevel-endedp before) t)))
                    (push (make-toplevel :form (aref forms i) :info info
                                         :package (file-recorder-package recorder))
                          (file-recorder-forms recorder)))
           (setf (cdr entry) (length forms))))

#+sbcl
(defun recorded-toplevel (recorder)
  "The top level form that is being processed."
  (let ((info (file-being-read)))
    (and info (find info (file-recorder-forms recorder) :key #'toplevel-info))))

(defun recorded-toplevels (recorder endedp)
  "The forms of RECORDER, in order.  ENDEDP is true if all were evaluated to their end."
  #+sbcl (record-rest recorder)
  (let ((forms (reverse (file-recorder-forms recorder))))
    (when endedp
      (dolist (toplevel forms) (setf (toplevel-endedp toplevel) t)))
    forms))
;;;; replaced.lisp -- definitions of somebody else's that a session replaces

(cl:in-package #:swank-mcp)

;;; In a person's image the definition that a session replaces is saved.  The reply says that it
;;; was replaced, and RESET-SESSION restores it.  What SBCL changes in place, such as classes,
;;; cannot be restored: the reply of the reset names it.

(defun namespace-of (key)
  "KEY with a kind that is the same for kinds that exclude each other, as function and macro."
  (destructuring-bind (kind . name) key
    (cons (case kind
            ((:function :macro :generic-function) :function)
            ((:variable :constant :symbol-macro) :variable)
            ((:class :structure :condition :type) :class)
            (t kind))
          name)))

(defun saved-definition (key)
  "The present definition in the namespace of KEY, as a list for RESTORE-DEFINITION, or NIL.
(:LEFT) is one that cannot be restored."
  (destructuring-bind (kind . name) key
    (flet ((left () (and (definedp kind name) (list :left))))
      (case (car (namespace-of key))
        (:function
         (cond ((not (fboundp name)) nil)
               ((and (eq kind :generic-function) (definedp kind name)) (list :left))
               ((and (symbolp name) (special-operator-p name)) nil)
               ((and (symbolp name) (macro-function name)) (list :macro (macro-function name)))
               (t (list :function (fdefinition name)))))
        (:compiler-macro
         (and (definedp kind name) (list :compiler-macro (compiler-macro-function name))))
        #+sbcl
        (:variable
         (cond ((or (definedp :symbol-macro name) (constantp name)) (list :left))
               ((not (definition-identity :variable name)) nil)
               (t (list* :variable (source-location :variable name) (documentation name 'variable)
                         (and (boundp name) (list (symbol-value name)))))))
        #+sbcl
        (:method
         (let ((method (first (methods-designated name))))
           (and method (list :method (sb-mop:method-generic-function method) method))))
        (:class (and (or (find-class name nil) (definedp kind name)) (list :left)))
        (t (left))))))

(defun session-made-p (session key)
  "True if SESSION has made the definition in the namespace of KEY."
  (or #+sbcl (and (eq (car key) :method)
                  (let ((location (source-location :method (cdr key))))
                    (and location
                         (equal (session-name session)
                                (getf (sbcl:definition-source-location-plist location) :swank-mcp)))))
      (some (lambda (kind)
              (let* ((key (cons kind (cdr key)))
                     (entry (gethash key (session-definitions session))))
                (and entry (still-made-p key entry))))
            (or (find (car key) *sibling-kinds* :test #'member) (list (car key))))))

#+sbcl
(defun from-built-file-p (key)
  "True if the definition of KEY comes from a file of a system that was loaded through us."
  (ignore-errors
   (destructuring-bind (kind . name) key
     (let ((file (if (member kind '(:function :macro :generic-function))
                     (function-file (or (and (symbolp name) (macro-function name))
                                        (fdefinition name)))
                     (location-file (source-location kind name)))))
       (and file (built-through-us-p file))))))

(defun definition-replaced-by (session key toplevel)
  "The definition of somebody else's that a form in TOPLEVEL would replace if it defines KEY, as
SAVED-DEFINITION has it, or NIL."
  (unless *launched*
    (ignore-errors
     (let ((earlier (and toplevel (earlier-candidate session key toplevel))))
       (cond (earlier (candidate-replaced earlier))
             ((not (session-made-p session key)) (saved-definition key)))))))

(defun require-permission (key)
  "End the current evaluation if the person, who may want to be asked, does not allow that it redefines
KEY."
  (let ((report (and *ask-person* *evaluation*
                     (forbidden-report *evaluation* (key-label key)))))
    (when report
      (funcall (evaluation-escape *evaluation*) report))))

(defun earlier-candidate (session key toplevel)
  "A candidate in the same TOPLEVEL, which may have replaced the definition before."
  (let ((place (namespace-of key)))
    (with-shared-table ((session-candidates session))
      (loop for candidate being the hash-values of (session-candidates session)
            when (and (eq toplevel (candidate-toplevel candidate))
                      (equal place (namespace-of (candidate-key candidate))))
              return candidate))))

