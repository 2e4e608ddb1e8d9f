;;;; fresh.lisp -- an image that shows what the files of a project do alone
;;;;
;;;; The bridge starts it for one call and ends it then.  Its core may have the systems that the
;;;; project needs, of those what the call needs and nothing else: a system that is there and that
;;;; nothing asks for would hide that a definition lacks it.

(cl:in-package #:swank-mcp)

(defvar *preloaded* '()
  "((NAME . FILE) ...) of the systems with which the core of this image was saved for a project.
FILE is the native name of the definition, or \"\".")

(defvar *own-systems* '()
  "In a fresh image, the primary names of the systems that are the project's own.")

(defvar *private-fasls* nil
  "In a fresh image, the native name of the directory for the project's own fasls; NIL in others.")

(defvar *missing* '()
  "In a fresh image, ((KIND NAME) ...) of the undefined functions and variables that were met.")

(defvar *fresh-systems* '() "In a fresh image, the names of all systems that will be loaded, if there are several.")

(defun prepare-fresh (directory kept systems &rest own)
  "This image is fresh: it compiles the systems with the primary names OWN, fasls into DIRECTORY.
KEPT, unless NIL, is the directory of the fasls that such images keep.  SYSTEMS are lists of the name of one
that will be loaded, if there will be several."
  (setf *private-fasls* directory *kept-fasls* kept *own-systems* own
        *fresh-systems* (mapcar #'first systems))
  ;; nobody asks it what the project's files were when they were loaded: see WATCH-LOADS
  #+sbcl (dolist (name '(load compile-file)) (sbcl:unencapsulate name 'swank-mcp-loads))
  (answer t))

(defun own-system-p (name)
  (member (primary-name name) *own-systems* :test #'string=))

(defun systems-of (names)
  "The names of the systems NAMES and of all that they need, dependencies first."
  (remove-duplicates (loop for name in names append (reverse (system-with-dependencies name)))
                     :test #'string= :from-end t))

(defun begin-fresh (&rest names)
  "In a fresh image, before its first system is loaded, one of NAMES: refuse if the core was not
saved with just what they need, and put the fasls of the project's own systems apart."
  (when *private-fasls*
    (dolist (name names) (pushnew (primary-name name) *own-systems* :test #'string=))
    (let* ((systems (systems-of (union names *fresh-systems* :test #'string=))) (needed (remove-if #'own-system-p systems))
           (own (remove-if-not #'own-system-p systems)))
      (when (and *preloaded*
                 (set-exclusive-or *preloaded* (mapcar (lambda (name) (cons name (definition-name name)))
                                                       needed)
                                   :test #'equal))
        (refuse "OTHER-DEPENDENCIES" "The core has not just the systems that are needed."))
      (put-fasls-apart own needed (shiftf *private-fasls* nil))
      ;; without a core of the project, what it needs is not known by the core's name
      #+sbcl (when (or *preloaded* (null needed)) (begin-keeping own)))))

(defun source-directories (name)
  "The directories in which the files of the system NAME lie."
  (flet ((directory-of (file) (make-pathname :name nil :type nil :version nil :defaults file)))
    (remove-duplicates (mapcar #'directory-of (source-files name)) :test #'equal)))

(defun put-fasls-apart (own needed directory)
  "Have ASDF put the fasls of the systems OWN below DIRECTORY: it finds none there, and compiles all.
Those of NEEDED, which may lie among them, stay where they are.  DIRECTORY takes the place of ASDF's
cache, and has the files as that has them: Rove finds the source of a fasl by its place there."
  (flet ((stay (source) (list source (asdf-value "APPLY-OUTPUT-TRANSLATIONS" source)))
         (move (source)
           (list source (native-file (concatenate 'string directory
                                                  (string-left-trim "/" (native-name source)))))))
    (call-named '#:asdf "INITIALIZE-OUTPUT-TRANSLATIONS"
                (append (list :output-translations)
                        (mapcar #'stay (remove-duplicates (mapcan #'source-directories needed)
                                                          :test #'equal))
                        (mapcar #'move (remove-duplicates (mapcan #'source-directories own)
                                                          :test #'equal))
                        (list :inherit-configuration)))
    ;; only now: the configuration that is inherited names the cache, where the others are
    (let ((cache (named-symbol '#:uiop "*USER-CACHE*")))
      (when cache (setf (symbol-value cache) (native-file directory))))))

;;; What is missing

(defun note-missing (kind name)
  "Note that the function or variable NAME, as KIND says, was called or read and is not defined."
  (when *own-systems*
    (pushnew (list kind name) *missing* :test #'equal)))

(defun note-missing-cell (condition)
  "Note what CONDITION says to be undefined."
  (when *own-systems*
    (let ((kind (typecase condition (undefined-function :function) (unbound-variable :variable))))
      (when kind (note-missing kind (ignore-errors (cell-error-name condition)))))))

;;; The core

(defun check-compiled (name)
  "Signal an error if a file of the system NAME has changed since it was compiled.  The session that
compiles it is the one that tells what the compiler says of it."
  (when (find-defined name)
    (dolist (unit (system-units name))
      (dolist (output (unit-outputs unit))
        (let ((compiled (nth-value 1 (ignore-errors (file-size-and-time output)))))
          (when (and compiled (> (fingerprint-time (unit-fingerprint unit)) compiled))
            (error "~A has changed since it was compiled" (unit-file unit))))))))

(defun preload (systems)
  "Load SYSTEMS, ((NAME FILE) ...) with the files that define them, dependencies first, for a core."
  (let ((*given-definitions* (make-shared-table)))
    (loop for (name file) in systems
          unless (string= file "")
            do (setf (gethash (primary-name name) *given-definitions*) (native-file file)))
    (call-with-given-definitions
     (lambda ()
       (loop for (name) in systems
             do (check-compiled name)
                (call-named '#:asdf "LOAD-SYSTEM" name :verbose nil)))))
  (setf *preloaded* (mapcar (lambda (system) (cons (first system) (second system))) systems)))
