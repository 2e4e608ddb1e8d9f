;;;; session.lisp -- packages found by name

(cl:in-package #:swank-mcp)

(define-test packages-by-name
  (check (edit-distance "kitten" "sitting") 3)
  (check (edit-distance "" "abc") 3)
  (check (loop for (written name) in '(("%SIMPLE-FUN-SELF" "%SIMPLE-FUN-DOC") ("QL" "CL") ("haf" "half")
                                       ("rows" "ROW") ("monye+" "MONEY+") ("zap" "zip") ("cra" "CAR"))
               collect (and (meant-p written name) t))
         '(nil nil t t t nil t))
  (check (similar-package-names "cl-usr") '("COMMON-LISP-USER"))
  (check (similar-package-names "zzzzqqqq") '())
  (check (find-package-named "cl-user") (find-package "COMMON-LISP-USER")))
