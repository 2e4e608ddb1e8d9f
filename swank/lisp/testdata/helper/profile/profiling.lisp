;;;; profiling.lisp -- what was sampled, and calls that are timed

(cl:in-package #:swank-mcp)

(define-test profiling
  (check (mapcar #'without-prefixes '("COMMON-LISP-USER::FOO" "(COMMON-LISP:LAMBDA (P::X) :IN COMMON-LISP-USER::F)"
                                      "\"the form\" in #<code id=1>"))
         '("FOO" "(LAMBDA (P::X) :IN F)" "the form"))
  ;; a function counts once for each stack, however often it is on it
  (flet ((counted (&rest stacks)
           (multiple-value-list (count-stacks (lambda (count) (mapc count stacks))))))
    (let ((a "A") (b "B"))
      (check (counted (list a b a) (list b) (list a a) '())
             '(4 (("elsewhere" 1 1) ("A" 2 2) ("B" 1 2))))
      (check (counted) '(0 ()))))
  ;; the project's first, then other programs', then the Lisp's; each by total
  (check (multiple-value-list
          (significant-rows '(("SWANK-MCP::X" 1 9) ("SB-A::B" 0 9) ("SB-A::C" 2 9) ("F" 3 20) ("elsewhere" 0 0) ("G" 3 3)
                              ("FIVEAM:RUN" 1 12) ("COMMON-LISP-USER::MAIN" 0 15) ("FIVEAM:IS" 2 14))
                            20 8 :roots '("/no/such/")))
         '((("MAIN" 0 15) ("FIVEAM:IS" 2 14) ("FIVEAM:RUN" 1 12) ("F" 3 20) ("SB-A::C" 2 9) ("G" 3 3)) 1 2))
  ;; without a project every program is it; of one package nothing else is told
  (check (nth-value 1 (significant-rows '(("FIVEAM:RUN" 1 12) ("COMMON-LISP-USER::MAIN" 0 15)) 20 8)) 2)
  (check (significant-rows '(("FIVEAM:RUN" 1 12) ("COMMON-LISP-USER::MAIN" 0 15) ("F" 3 20)) 20 8
                           :only (find-package '#:fiveam))
         '(("FIVEAM:RUN" 1 12)))
  (check (significant-rows '(("COMMON-LISP-USER::MAIN" 0 15) ("F" 3 20) ("G" 9 9)) 20 2)
         '(("MAIN" 0 15) ("F" 3 20)))
  (check (mapcar (lambda (name) (frame-kind name '()))
                 '("FIVEAM:RUN" "(COMMON-LISP:LAMBDA (X) :IN FIVEAM:RUN)" "\"the form\" in #<code id=1>"
                   "COMMON-LISP:SORT" "SB-SPROF::UNAVAILABLE-FRAMES" "foreign function __memmove"))
         '(0 0 0 2 3 3))
  (check (list (below-p #p"/home/me/shop/src/a.lisp" '("/home/me/shop/")) (below-p #p"/home/me/shopping/a.lisp" '("/home/me/shop/"))
               (below-p #p"/home/me/shop/.qlot/dists/x/a.lisp" '("/home/me/shop/")))
         '(t nil nil))
  ;; stacks: from the form, what was sampled most first
  (let ((root (make-branch)) (f "F") (g "G") (form "\"the form\" in #<code>"))
    (dolist (stack (list (list f form "SWANK-MCP::RUN") (list g f form "X") (list g f form "X") (list f f form)))
      (grow root (stack-from-form stack)))
    (check (stack-from-form (list f "COMMON-LISP:EVAL" "SWANK-MCP::RUN" "foreign function call_into_lisp_")) (list f))
    (let ((stacks (branch-stacks root)))
      (check (first stacks) (list 2 form f g))
      (check (sort (rest stacks) #'< :key #'length) (list (list 1 form f) (list 1 form f f)))
      (check (getf (stacks-for-wire (first-few stacks 1) '()) :frames) '(("the form" 0) ("F" 2) ("G" 2)))
      (check (getf (stacks-for-wire (first-few stacks 1) '()) :stacks) '((2 0 1 2)))))
  (let* ((tally (make-tally :name 'f)))
    (let ((*callees-time* 0))
      (tally-call tally (lambda () (tally-call tally (lambda () (sleep 0.05)) '()) (sleep 0.02)) '()))
    (check (list (tally-calls tally) (tally-depth tally)
                 (< 60000 (tally-total tally)) (<= (abs (- (tally-total tally) (tally-self tally))) 1000))
           '(2 0 t t))))
