;;;; calls.lisp -- what the functions of the project call

(cl:in-package #:swank-mcp)

(defun called-names (function)
  "The names of the global functions that the code of FUNCTION refers to."
  #+sbcl
  (let ((code (sbcl:fun-code-header (sbcl:%fun-fun function))))
    (or (loop for i from sbcl:code-constants-offset below (sbcl:code-header-words code)
              for constant = (sbcl:code-header-ref code i)
              when (typep constant 'sbcl:fdefn) collect (sbcl:fdefn-name constant))
        ;; newer SBCLs have cells of a linkage table instead
        (loop for callee in (sb-introspect:find-function-callees function)
              for name = (and callee (sbcl:%fun-name callee))
              when name
                collect (if (and (consp name) (eq (first name) :macro)) (second name) name))))
  #-sbcl (progn function '()))

(defun names-to-keys (names-of wanted comparison)
  "A table from each name in the table WANTED to the keys of the functions for which NAMES-OF
returns it."
  (let ((found (make-hash-table :test 'equal)))
    (when (plusp (hash-table-count wanted))
      (loop for (key . function) in (comparison-functions comparison)
            do (dolist (name (ignore-errors (funcall names-of function)))
                 (when (gethash name wanted)
                   (pushnew key (gethash name found) :test #'equal)))))
    found))
