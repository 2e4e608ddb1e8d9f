;;;; project.lisp -- the systems of the project that the bridge works for
;;;;
;;;; The bridge looks for their definitions, which a person's image may not be able to, and
;;;; tells us; ASDF finds them through GIVEN-DEFINITION, before any installed system of the
;;;; same name.

(cl:in-package #:swank-mcp)

(defvar *project-definitions* (make-shared-table)
  "Primary names of the project's systems to the files that define them.  The table is
never changed: another one takes its place.")

(defvar *project-own* '()
  "The files of *PROJECT-DEFINITIONS* that define the project's own systems, and not the
dependencies that are kept with it.")

(defvar *project-directories* '()
  "Native names of the directories of the project, with a slash at their ends.")

(defun definitions-by-name (files)
  "A table of FILES by the names of the systems that they are called after."
  (let ((table (make-shared-table)))
    (dolist (file files table)
      (let ((name (pathname-name file)))
        (unless (gethash name table)
          (setf (gethash name table) file))))))

(defun project-definition (name)
  "The file that defines the system NAME, if the project has it."
  (gethash (primary-name name) *project-definitions*))

(defun project-systems ()
  "The primary names of the project's systems."
  (loop for name being the hash-keys of *project-definitions* collect name))

(defun definition-directory (file)
  (and file (ignore-errors
             (native-name (make-pathname :name nil :type nil :version nil :defaults file)))))

(defun own-directories (name)
  "The directories of the definitions of the project's systems, and of the system NAME, unless that
is NIL: native names."
  (remove nil (cons (and name (definition-directory (definition-file (primary-name name))))
                    (mapcar #'definition-directory *project-own*))))
