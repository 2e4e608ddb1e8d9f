;;;; session.lisp -- sessions: what lasts from one evaluation to the next
;;;;
;;;; The folder session/ has the tables of sessions, of the evaluations in progress, of the bridges
;;;; that are attached, and of the threads that a session's code has started.  It also finds
;;;; symbols by a typed name, and makes look-ups with a time limit.  It uses core/ only.  Begin
;;;; here, then read evaluation.lisp.

(cl:in-package #:swank-mcp)

(defvar *launched* nil
  "True in an image that the bridge started and owns; false in a person's.")

(defvar *attached* nil
  "True once a bridge has attached to this image.")

(defvar *baseline* nil
  "A hash table from package to record of a launched image's beginning, see baseline.lisp.")

(defvar *undefinitions* 0
  "How often something may have been undefined in a launched image.")

(defvar *sessions* (make-hash-table :test 'equal)
  "Name to session.")

(defvar *lock* (swank/backend:make-lock :name "swank-mcp")
  "Held while *SESSIONS* or *EVALUATIONS* is read or changed.")

(defmacro with-lock (() &rest body)
  `(swank/backend:call-with-lock-held *lock* (lambda () ,@body)))

;;; Look-ups read the table of definitions while the session's thread adds to it.  Without a lock
;;; SBCL signals an error in one of the threads.

(defun make-shared-table (&optional (test 'equal))
  "A hash table that several threads may use at once."
  #+sbcl (make-hash-table :test test :synchronized t)
  #-sbcl (make-hash-table :test test))

(defmacro with-shared-table ((table) &rest body)
  "Evaluate BODY, which may be interrupted, while no other thread uses TABLE."
  #+sbcl `(sb-ext:with-locked-hash-table (,table) ,@body)
  #-sbcl `(progn ,table ,@body))

;;; Which packages there are is asked twice in each evaluation.  SBCL counts the changes of names.

(defvar *all-packages* '(nil)
  "(COUNT . PACKAGES): all packages, when SBCL's count was that.")

(defun all-packages ()
  "LIST-ALL-PACKAGES; the same list again as long as no package has come, gone or changed its names."
  #+sbcl
  (let ((count sbcl:*package-names-cookie*) (known *all-packages*)) ; the count first: a package may come now
    (cdr (if (and count (eql count (car known)))
             known
             (setf *all-packages* (cons count (list-all-packages))))))
  #-sbcl (list-all-packages))

;;; Each session has its own variables of the reader, the printer and the REPL.  What its code
;;; assigns to them lasts, and nobody else in the image notices.

(eval-when (:compile-toplevel :load-toplevel :execute)

  (defparameter *repl-variables* '(* ** *** / // /// + ++ +++ -))

  (defparameter *syntax-variables*
    '(*readtable* *read-base* *read-default-float-format* *read-eval*
      *print-array* *print-base* *print-case* *print-circle* *print-escape* *print-gensym*
      *print-length* *print-level* *print-lines* *print-miser-width* *print-pprint-dispatch*
      *print-pretty* *print-radix* *print-readably* *print-right-margin*
      *default-pathname-defaults* *break-on-signals*))

  (defparameter *session-variables* (append *repl-variables* *syntax-variables*)))

(defmacro with-session-variables ((values) &rest body)
  "Evaluate BODY with VALUES for the session's variables.  PROGV takes ten times as long, because it
does not know the variables."
  (let ((rest (gensym)))
    `(let ((,rest ,values))
       (let ,(loop for variable in *session-variables* collect `(,variable (pop ,rest)))
         ,@body))))

(defun initial-values ()
  (append (mapcar (constantly nil) *repl-variables*)
          (loop for variable in *syntax-variables*
                collect (case variable
                          ;; these are copied because both are often changed in place
                          (*readtable* (copy-readtable *readtable*))
                          (*print-pprint-dispatch* (copy-pprint-dispatch))
                          ;; a person who debugs does not debug our sessions
                          (*break-on-signals* nil)
                          (t (symbol-value variable))))))

;;; The others are of all sessions of an image: see definitions/globals.lisp.

(defparameter *shared-variables*
  '(*compile-print* *compile-verbose* *features* *gensym-counter* *load-print* *load-verbose* *modules*
    *random-state* #+sbcl sbcl:*policy*))

(defun own-value (variable value)
  "VALUE of VARIABLE, copied if code changes it in place."
  (case variable
    ((*features* *modules*) (copy-list value))
    (*random-state* (make-random-state value))
    (t value)))

(defun shared-values ()
  "((VARIABLE . VALUE) ...) of the *SHARED-VARIABLES*."
  (loop for variable in *shared-variables*
        collect (cons variable (own-value variable (symbol-value variable)))))

(defstruct (session (:constructor make-session (name)) (:copier nil))
  name
  (package (find-package '#:common-lisp-user))
  (package-chosen nil)                  ; true once IN-PACKAGE was in an evaluation's code
  (package-name "COMMON-LISP-USER")     ; known also when the package was deleted
  (values (initial-values))
  (readtable nil)                       ; the first of those VALUES
  (definitions (make-shared-table))     ; (KIND . NAME) to ENTRY, see definitions.lisp
  (candidates (make-shared-table 'eq))  ; form to CANDIDATE, see candidates.lisp
  (direct-definitions (make-shared-table)) ; key to (IDENTITY FILE TOPLEVEL NUMBER EVALUATION);
                                        ; what functions defined without a defining form
  (commit-lock (swank/backend:make-lock :name "swank-mcp commit")) ; see COMMIT-DEFINITIONS
  (replaced (make-shared-table))        ; what it has redefined, see replaced.lisp
  (assigned '())                        ; (SYMBOL . EVALUATION): it had no value, SETF was to give one
  (gone '())                            ; KEY-TEXTs of what is undefined now
  (undefinitions *undefinitions*)       ; the count when GONE was last updated
  (definition-count 0)
  (journal '())                         ; entries for the next answer, see people/undo.lisp
  (packages '())                        ; that its code made
  (files '())                           ; names of those that it has loaded itself
  (package-forms '())                   ; (PACKAGE . FORM) of those, see packages.lisp
  (package-names '())                   ; that these and those that are gone had
  (package-changes 0)                   ; the count when packages were last compared
  (features *features*)                 ; when they were last compared
  (first-features *features*)           ; at the session's beginning
  (beginning (shared-values))           ; as it was then, and with what systems have added since
  (first-syntax (copy-readtable *readtable*)) ; its readtable at the beginning
  (readings '())                        ; (READTABLE BASE FORMAT), newest first, other than of files
  (file-syntax nil)                     ; that with which files are read, if another; see packages.lisp
  (readtable-changes 0)                 ; the count when the readtable was last compared
  (readtable-why nil)                   ; why its readtable will be lost, or NIL
  (known-packages (all-packages))  ; all packages after its last evaluation
  (systems '())                         ; that it loaded, newest first
  (last-error nil)                      ; see last-error.lisp
  (departed '())                        ; suspended evaluations that ended by themselves
  (news '())                            ; for its next reply, newest first; see session-threads.lisp
  (news-left-out 0)
  (callers '())                         ; (GUEST CLIENT TOOL PERSONP): whose calls it answers; see BY
  (used nil)                            ; true once something was evaluated in it
  (before-load nil))                    ; record of the packages while a system is loaded

;;; While an evaluation is suspended others run.  So an evaluation writes back to its session only
;;; the values that it has changed since it last did so.  Its values of * + and / move those of the
;;; others down.

(defvar *snapshot* nil
  "The SNAPSHOT of the current evaluation.")

(defstruct (snapshot (:constructor make-snapshot (package own &aux (session own))) (:copier nil))
  "The state of an evaluation when it last read its session or wrote back to it: its PACKAGE, its
OWN values of the session's variables, and those that the SESSION had then."
  package own session)

(defun write-back (session snapshot)
  "Write the values of the session's variables back to SESSION.  Called where they are bound."
  (unless (and (eq *package* (snapshot-package snapshot)) (not (session-package-chosen session)))
    ;; a deleted package has no name; LIVE-PACKAGE deals with it
    (if (package-name *package*)
        (enter-package session *package*)
        (setf (session-package session) *package*)))
  (let ((now (mapcar #'symbol-value *session-variables*))
        (theirs (session-values session)))
    (setf (session-values session)
          (if (and (eq theirs (snapshot-session snapshot)) (eq theirs (snapshot-own snapshot)))
              now
              (merged-values (snapshot-own snapshot) now theirs)))
    (setf (session-package-chosen session) nil
          (snapshot-package snapshot) *package*
          (snapshot-own snapshot) now
          (snapshot-session snapshot) (session-values session))))

(defun merged-values (before now theirs)
  (let ((new (not (eq (nth 3 before) (nth 3 now))))) ; the list of values, /
    (append (loop for (is) on now by #'cdddr
                  for (newest second third) on theirs by #'cdddr
                  repeat 3              ; * ** ***, / // ///, + ++ +++
                  append (if new (list is newest second) (list newest second third)))
            (mapcar (lambda (was is its) (if (eq was is) its is))
                    (nthcdr 9 before) (nthcdr 9 now) (nthcdr 9 theirs)))))

(defun session-variable (session variable)
  "The value that SESSION's code sees in one of *SESSION-VARIABLES*."
  (nth (position variable *session-variables*) (session-values session)))

(defun ensure-session (name)
  (with-lock ()
    (or (gethash name *sessions*)
        (let ((session (make-session name)))
          (setf (session-readtable session) (session-variable session '*readtable*)
                (gethash name *sessions*) session)))))

;;; Packages

(defun find-package-named (designator)
  "The package with that name or nickname; else, as people write lower case, with its upper case."
  (let ((name (string-left-trim "#:" designator)))
    (or (find-package designator)
        (find-package (string-upcase name)))))

(defun package-seen-from (session designator)
  "The package that FIND-PACKAGE-NAMED finds in SESSION's package, which may have nicknames of its own
for others."
  (let ((*package* (if (package-name (session-package session))
                       (session-package session)
                       (user-package))))
    (find-package-named designator)))

(defun user-package ()
  "COMMON-LISP-USER, made again if somebody has deleted it."
  (declare (notinline find-package))    ; it would return a cached package, even a deleted one
  (or (find-package '#:common-lisp-user)
      (make-package '#:common-lisp-user :nicknames '(#:cl-user) :use '(#:common-lisp))))

(defun note-package-name (session package)
  (setf (session-package-name session) (package-name package)))

(defun enter-package (session package)
  (setf (session-package-name session) (package-name package)
        (session-package session) package))

(defun live-package (session)
  "The session's package; if that was deleted, COMMON-LISP-USER and a note that says so."
  (let ((package (session-package session)))
    (if (package-name package)
        package
        (let ((note (deleted-package-note session)))
          (values (enter-package session (user-package)) note)))))

(defun deleted-package-note (session)
  (format nil "The package ~A was deleted; the session is back in COMMON-LISP-USER."
          (session-package-name session)))

(defun similar-package-names (name)
  "The names of at most three packages like NAME."
  (let ((name (string-upcase name)) (near '()))
    (dolist (package (list-all-packages))
      (dolist (candidate (cons (package-name package) (package-nicknames package)))
        (let ((distance (if (search name candidate) 1 (name-distance name candidate))))
          (when (<= distance (if (< (length name) 3) ; QL is not meant for CL
                                 0
                                 (max 1 (floor (length name) 3))))
            (push (cons distance (package-name package)) near)))))
    (first-few (remove-duplicates (mapcar #'cdr (stable-sort near #'< :key #'car))
                                  :test #'string= :from-end t)
               3)))

(defun meant-package (name)
  "The name of the package that NAME is likely to mean, as a misspelling of that or of a nickname; or NIL."
  (find-if (lambda (near)
             (some (lambda (other) (meant-p name other))
                   (cons near (package-nicknames (find-package near)))))
           (similar-package-names name)))

(defun unknown-package-text (name)
  (format nil "The name ~S does not designate any package.~@[~%Near it: ~{~A~^, ~}.~]"
          (string-upcase name) (similar-package-names name)))

;;; News for the next reply

(defparameter *max-news* 10
  "How many pieces of news a session keeps for its next reply.")

(defun note-news (session text)
  "Have the next reply of SESSION say TEXT."
  (with-lock ()
    (if (< (length (session-news session)) *max-news*)
        (push text (session-news session))
        (incf (session-news-left-out session)))))

(defun take-news (session)
  "The news for this reply of SESSION, oldest first."
  (when (session-news session)
    (with-lock ()
      (let ((left-out (shiftf (session-news-left-out session) 0)))
        (append (reverse (shiftf (session-news session) '()))
                (and (plusp left-out)
                     (list (format nil "~D more of that kind ~[~;has~:;have~] been left out."
                                   left-out left-out))))))))
