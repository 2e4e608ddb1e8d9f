;;;; expand.lisp -- macro expansions

(cl:in-package #:swank-mcp)

(define-test expand
  (check (report-of #'expand "(second x)" :one) '(:expansion ("(SECOND X)") :why "SECOND is a function."))
  (check (report-of #'expand "(list (macrolet-none) (return))" :all)
         '(:expansion ("(LIST (MACROLET-NONE) (RETURN-FROM NIL NIL))") :why ""))
  (check (report-of #'expand "(car x)" :full)
         '(:expansion ("(CAR X)") :why "CAR is a function."))
  (check (length (getf (report-of #'expand "(list (when x y) (unless x y))" :steps) :steps)) 2)
  ;; LOOP's own macros are no steps of the user's
  (check (length (getf (report-of #'expand "(loop for x in y when x collect x)" :steps) :steps)) 2)
  (check (getf (evaluated "(boundp 'never-defined)") :values) '(("NIL"))))
