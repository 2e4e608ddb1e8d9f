;;;; profiling.lisp -- reports of the profiler, and calls that are timed

(cl:in-package #:swank-mcp)

(define-test profiling
  (check (fields "   1      7  41.2   a b c" 3) '("1" "7" "41.2" "a b c"))
  (check (fields "  x" 3) '("x" "" "" ""))
  (check (mapcar #'without-prefixes '("COMMON-LISP-USER::FOO" "(COMMON-LISP:LAMBDA (P::X) :IN COMMON-LISP-USER::F)"
                                      "\"the form\" in #<code id=1>"))
         '("FOO" "(LAMBDA (P::X) :IN F)" "the form"))
  (check (multiple-value-list
          (report-rows (format nil "~%Number of samples:   17~%Sample interval: 0.01~%~%           Self        Total        Cumul~%  ~
                                  Nr  Count     %  Count     %  Count     %    Calls  Function~%---~%   ~
                                  1      7  41.2     24 141.2      7  41.2        -  P::FIB~%   ~
                                  2      4  23.5      4  23.5     11  64.7        -  (FLET A :IN B)~%---~%          ~
                                  6   5.9                                     elsewhere~%")))
         '(17 (("P::FIB" 7 24) ("(FLET A :IN B)" 4 4) ("elsewhere" 6 0))))
  (check (significant-rows '(("SWANK-MCP::X" 1 9) ("SB-A::B" 0 9) ("SB-A::C" 2 9) ("F" 3 40) ("elsewhere" 0 0) ("G" 3 3)) 20 3)
         '(("F" 3 20) ("G" 3 3) ("SB-A::C" 2 9)))
  (let* ((tally (make-tally :name 'f)))
    (let ((*callees-time* 0))
      (tally-call tally (lambda () (tally-call tally (lambda () (sleep 0.05)) '()) (sleep 0.02)) '()))
    (check (list (tally-calls tally) (tally-depth tally)
                 (< 60000 (tally-total tally)) (<= (abs (- (tally-total tally) (tally-self tally))) 1000))
           '(2 0 t t))))
