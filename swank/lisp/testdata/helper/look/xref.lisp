;;;; xref.lisp -- what the compiler has recorded, as SB-INTROSPECT tells it

(in-package #:swank-mcp)

(define-test recorded-references
  ;; SB-INTROSPECT makes a walk for each kind, and knows parts of the compiler that have no name.
  (flet ((owners (entries)
           (sort (remove-duplicates
                  (loop for (name) in entries
                        when (typep name '(or symbol string cons))
                          unless (and (consp name) (eq (symbol-package (first name)) (find-package '#:sb-c)))
                            collect (bounded-text name 200))
                  :test #'string=)
                 #'string<)))
    (loop for (kind function . names) in '((:calls sb-introspect:who-calls car shown-name)
                                           (:macroexpands sb-introspect:who-macroexpands when with-look-up)
                                           (:references sb-introspect:who-references *package* *sessions*)
                                           (:sets sb-introspect:who-sets *guest-watch* *busy-base*)
                                           (:binds sb-introspect:who-binds *package* *looking-at-heap*))
          do (dolist (name names)
               (let ((theirs (owners (funcall function name))))
                 (check (and theirs t) t)
                 (check (set-difference theirs (owners (getf (recorded-references name) kind)) :test #'string=) '()))))))
