;;;; session.lisp -- what lasts from one evaluation to the next
;;;;
;;;; The folder session/ has the tables of what there is: sessions, the evaluations in
;;;; progress in them, the bridges that are attached, the threads that a session's code has
;;;; started.  It also has what every request needs that names something in a session: symbols
;;;; found by a typed name, look-ups with a time limit.  It uses core/ only.  Begin here, then
;;;; read evaluation.lisp.

(cl:in-package #:swank-mcp)

(defvar *launched* nil
  "True in an image that the bridge started and owns; false in a person's.")

(defvar *attached* nil
  "True once a bridge has attached to this image.")

(defvar *baseline* nil
  "Package to record of what a launched image began with, see baseline.lisp.")

(defvar *undoings* 0
  "How often something may have been undefined in a launched image.")

(defvar *sessions* (make-hash-table :test 'equal)
  "Name to session.")

(defvar *lock* (swank/backend:make-lock :name "swank-mcp")
  "Held while *SESSIONS* or *EVALUATIONS* is read or changed.")

(defmacro with-lock (() &rest body)
  `(swank/backend:call-with-lock-held *lock* (lambda () ,@body)))

;;; What a session has defined is asked for by look-ups while its thread defines
;;; more: without a lock SBCL signals an error, in either thread.

(defun make-shared-table (&optional (test 'equal))
  "A hash table that several threads may use at once."
  #+sbcl (make-hash-table :test test :synchronized t)
  #-sbcl (make-hash-table :test test))

(defmacro with-shared-table ((table) &rest body)
  "BODY, which may be interrupted, without anybody else at TABLE."
  #+sbcl `(sb-ext:with-locked-hash-table (,table) ,@body)
  #-sbcl `(progn ,table ,@body))

;;; A session sees the variables of the reader, the printer and the REPL as if
;;; they were global and its own: what its code assigns to them lasts, and
;;; nobody else in the image notices.

(defparameter *repl-variables* '(* ** *** / // /// + ++ +++ -))

(defparameter *syntax-variables*
  '(*readtable* *read-base* *read-default-float-format* *read-eval*
    *print-array* *print-base* *print-case* *print-circle* *print-escape* *print-gensym*
    *print-length* *print-level* *print-lines* *print-miser-width* *print-pprint-dispatch*
    *print-pretty* *print-radix* *print-readably* *print-right-margin*
    *default-pathname-defaults* *break-on-signals*))

(defparameter *session-variables* (append *repl-variables* *syntax-variables*))

(defun initial-values ()
  (append (mapcar (constantly nil) *repl-variables*)
          (loop for variable in *syntax-variables*
                collect (case variable
                          ;; own copies: both are often changed in place
                          (*readtable* (copy-readtable *readtable*))
                          (*print-pprint-dispatch* (copy-pprint-dispatch))
                          ;; a person who debugs does not mean us
                          (*break-on-signals* nil)
                          (t (symbol-value variable))))))

(defstruct (session (:constructor make-session (name)) (:copier nil))
  name
  (package (find-package '#:common-lisp-user))
  (package-chosen nil)                  ; true once IN-PACKAGE was in an evaluation's code
  (package-name "COMMON-LISP-USER")     ; remembers the name of a deleted package
  (values (initial-values))
  (readtable nil)                       ; the first of those VALUES
  (definitions (make-shared-table))     ; (KIND . NAME) to ENTERED, see definitions.lisp
  (candidates (make-shared-table 'eq))  ; form to CANDIDATE, see noting.lisp
  (touched (make-shared-table))         ; key to (IDENTITY FILE TOPLEVEL NUMBER) of what functions defined
  (theirs (make-shared-table))          ; what it has redefined, see theirs.lisp
  (assigned '())                        ; symbols without a value that SETF was to give one
  (gone '())                            ; KEY-TEXTs of what is undefined now
  (undoings *undoings*)                 ; how many there were when those were looked for
  (definition-count 0)
  (packages '())                        ; that its code made
  (files '())                           ; names of those that it has loaded itself
  (package-forms '())                   ; (PACKAGE . FORM) of those, see packages.lisp
  (package-names '())                   ; that these and those that are gone had
  (package-changes 0)                   ; how many there were when those were looked at
  (features *features*)                 ; as they were then
  (first-features *features*)           ; as they were at first
  (first-syntax (copy-readtable *readtable*)) ; as its readtable was at first
  (readtable-changes 0)                 ; how many there were when it was looked at
  (readtable-why nil)                   ; why its readtable will be lost, or NIL
  (known-packages (list-all-packages))  ; all there were after its last evaluation
  (systems '())                         ; that it loaded, newest first
  (last-error nil)                      ; see last-error.lisp
  (departed '())                        ; suspended evaluations that ended by themselves
  (news '())                            ; for its next reply, newest first; see session-threads.lisp
  (news-left-out 0)
  (used nil)                            ; true once something was evaluated in it
  (before-load nil))                    ; record of the packages while a system is loaded

;;; While an evaluation is suspended others come and go.  What it leaves in the
;;; session is therefore only what it has changed since it last did so, and of
;;; the REPL's variables it pushes the others' down.

(defvar *kept* nil
  "Of the current evaluation, see KEPT.")

(defstruct (kept (:constructor make-kept (package own &aux (session own))) (:copier nil))
  "What an evaluation has last found in its session or left there: its PACKAGE,
its OWN values of the session's variables, and those that the SESSION had then."
  package own session)

(defun keep-in-session (session kept)
  "At the level of the session's bindings: leave their values in SESSION."
  (unless (and (eq *package* (kept-package kept)) (not (session-package-chosen session)))
    ;; a deleted one has no name, and is found to be so at the end
    (if (package-name *package*)
        (enter-package session *package*)
        (setf (session-package session) *package*)))
  (let ((now (mapcar #'symbol-value *session-variables*))
        (theirs (session-values session)))
    (setf (session-values session)
          (if (and (eq theirs (kept-session kept)) (eq theirs (kept-own kept)))
              now
              (merged-values (kept-own kept) now theirs)))
    (setf (session-package-chosen session) nil
          (kept-package kept) *package*
          (kept-own kept) now
          (kept-session kept) (session-values session))))

(defun merged-values (before now theirs)
  (let ((new (not (eq (nth 3 before) (nth 3 now))))) ; the list of values, /
    (append (loop for (is) on now by #'cdddr
                  for (newest second third) on theirs by #'cdddr
                  repeat 3              ; * ** ***, / // ///, + ++ +++
                  append (if new (list is newest second) (list newest second third)))
            (mapcar (lambda (was is its) (if (eq was is) its is))
                    (nthcdr 9 before) (nthcdr 9 now) (nthcdr 9 theirs)))))

(defun ensure-session (name)
  (with-lock ()
    (or (gethash name *sessions*)
        (let ((session (make-session name)))
          (setf (session-readtable session) (first-readtable session)
                (gethash name *sessions*) session)))))

(defun first-readtable (session)
  (nth (position '*readtable* *session-variables*) (session-values session)))

;;; Packages

(defun find-package-named (designator)
  "By exact name or nickname; else, since people write names in lower case,
by its upper case."
  (let ((name (string-left-trim "#:" designator)))
    (or (find-package designator)
        (find-package (string-upcase name)))))

(defun user-package ()
  "COMMON-LISP-USER, made again if somebody has deleted it."
  (declare (notinline find-package))    ; SBCL remembers what a constant names, deleted or not
  (or (find-package '#:common-lisp-user)
      (make-package '#:common-lisp-user :nicknames '(#:cl-user) :use '(#:common-lisp))))

(defun note-package-name (session package)
  (setf (session-package-name session) (package-name package)))

(defun enter-package (session package)
  (setf (session-package-name session) (package-name package)
        (session-package session) package))

(defun live-package (session)
  "The session's package; if that has been deleted, COMMON-LISP-USER and a note
about it."
  (let ((package (session-package session)))
    (if (package-name package)
        package
        (let ((note (deleted-package-note session)))
          (values (enter-package session (user-package)) note)))))

(defun deleted-package-note (session)
  (format nil "The package ~A was deleted; the session is back in COMMON-LISP-USER."
          (session-package-name session)))

(defun similar-package-names (name)
  "At most three names of packages that NAME may have been meant for."
  (let ((name (string-upcase name)) (near '()))
    (dolist (package (list-all-packages))
      (dolist (candidate (cons (package-name package) (package-nicknames package)))
        (let ((distance (if (search name candidate) 1 (name-distance name candidate))))
          (when (<= distance (if (< (length name) 3) ; QL is not meant for CL
                                 0
                                 (max 1 (floor (length name) 3))))
            (push (cons distance (package-name package)) near)))))
    (let ((names (remove-duplicates (mapcar #'cdr (stable-sort near #'< :key #'car))
                                    :test #'string= :from-end t)))
      (subseq names 0 (min 3 (length names))))))

(defun unknown-package-text (name)
  (format nil "The name ~S does not designate any package.~@[~%Near it: ~{~A~^, ~}.~]"
          (string-upcase name) (similar-package-names name)))

;;; What is to be told with the next reply

(defparameter *max-news* 10
  "How many pieces of news a session keeps for its next reply.")

(defun note-news (session text)
  "Have TEXT told with the next reply of SESSION."
  (with-lock ()
    (if (< (length (session-news session)) *max-news*)
        (push text (session-news session))
        (incf (session-news-left-out session)))))

(defun take-news (session)
  "What is to be told with this reply, oldest first."
  (when (session-news session)
    (with-lock ()
      (let ((left-out (shiftf (session-news-left-out session) 0)))
        (append (reverse (shiftf (session-news session) '()))
                (and (plusp left-out)
                     (list (format nil "~D more of that kind ~[~;has~:;have~] been left out." left-out left-out))))))))
