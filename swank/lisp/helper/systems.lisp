;;;; systems.lisp -- loading systems with Quicklisp or ASDF

(cl:in-package #:swank-mcp)

(defun call-named (package name &rest arguments)
  "Call a function of a package that may not be there when this is compiled."
  (apply (fdefinition (find-symbol name package)) arguments))

(defun quicklisp-p ()
  (let ((quickload (and (find-package '#:ql) (find-symbol "QUICKLOAD" '#:ql))))
    (and quickload (fboundp quickload))))

(defun ensure-asdf ()
  (or (find-package '#:asdf)
      (require "asdf")))

(defun load-named-system (name &key force)
  "Load the system NAME with Quicklisp's QUICKLOAD where it is, else with ASDF.
What they and the system print goes to standard output."
  (ensure-asdf)
  (let ((*load-verbose* nil) (*compile-verbose* nil) (*compile-print* nil))
    (cond ((and (quicklisp-p) (not force))
           (call-named '#:ql "QUICKLOAD" name :verbose nil))
          (t (when (call-named '#:asdf "FIND-SYSTEM" name nil)
               (format t "; Loading ~S~%" name))
             (call-named '#:asdf "LOAD-SYSTEM" name :verbose nil :force force)))
    name))

(defun near-systems (name)
  "At most five names of systems that NAME may have been meant for."
  (ensure-asdf)
  (let ((known '()))
    (ignore-errors
     (call-named '#:asdf "INITIALIZE-SOURCE-REGISTRY")
     (let ((registry (symbol-value (find-symbol "*SOURCE-REGISTRY*" '#:asdf/source-registry))))
       (when (hash-table-p registry)
         (loop for system being the hash-keys of registry do (push system known)))))
    (setf known (union known (call-named '#:asdf "REGISTERED-SYSTEMS") :test #'string=))
    (let ((near (loop for system in known
                      for distance = (if (or (search name system) (search system name))
                                         1
                                         (edit-distance name system))
                      when (<= distance (max 1 (floor (length name) 3)))
                        collect (cons distance system))))
      (mapcar #'cdr (subseq (sort near #'< :key #'car) 0 (min 5 (length near)))))))

(defun system-failure-text (condition name)
  "The message for CONDITION, met while loading the system NAME."
  (let ((type (type-label condition)))
    (cond ((string= type "ASDF:MISSING-COMPONENT")
           (format nil "Component ~S not found~@[~%Near it: ~{~A~^, ~}.~]" name (near-systems name)))
          ((search "SYSTEM-NOT-FOUND" type)
           (format nil "System ~S not found in any known distribution.~@[~%Near it: ~{~A~^, ~}.~]"
                   name (near-systems name)))
          (t (condition-text condition)))))
