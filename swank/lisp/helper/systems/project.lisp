;;;; project.lisp -- the systems of the project that the bridge works for
;;;;
;;;; The bridge looks for their definitions, which a person's image may not be able to, and
;;;; tells us; ASDF finds them through GIVEN-DEFINITION, before any installed system of the
;;;; same name.

(cl:in-package #:swank-mcp)

(defvar *project-definitions* (make-shared-table)
  "Primary names of the project's systems to the files that define them.  The table is
never changed: another one takes its place.")

(defun definitions-by-name (files)
  "A table of FILES by the names of the systems that they are called after."
  (let ((table (make-shared-table)))
    (dolist (file files table)
      (let ((name (string-downcase (pathname-name file))))
        (unless (gethash name table)
          (setf (gethash name table) file))))))

(defun project-definition (name)
  "The file that defines the system NAME, if the project has it."
  (gethash (primary-name name) *project-definitions*))

(defun project-systems ()
  "The primary names of the project's systems."
  (loop for name being the hash-keys of *project-definitions* collect name))
