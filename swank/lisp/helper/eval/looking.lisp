;;;; looking.lisp -- forms whose evaluation surely changes nothing

(cl:in-package #:swank-mcp)

;;; The bridge counts what may have changed the image as a step, which UNDO takes back and after which
;;; nothing can be done again.  Nobody sees whether an object was changed.  So a form is taken for a
;;; look-up only if all that it calls is the standard's and changes nothing.  Printing values counts as
;;; looking, as it does for the look-ups.

(defparameter *looking-functions*
  '(+ - * / 1+ 1- = /= < > <= >= min max abs floor ceiling round truncate mod rem gcd lcm expt exp log
    sqrt isqrt evenp oddp zerop plusp minusp float rational numerator denominator logand logior logxor
    ash integer-length
    not null eq eql equal equalp identity values
    car cdr caar cadr cdar cddr caddr cdddr first second third fourth fifth rest last nth nthcdr butlast
    cons list list* list-length length append copy-list copy-tree copy-seq reverse subseq elt
    concatenate endp consp atom listp getf gethash hash-table-count hash-table-test
    aref svref char schar vector array-dimensions array-dimension array-rank array-total-size
    fill-pointer bit make-string
    string string-upcase string-downcase string-capitalize string-trim string-left-trim
    string-right-trim string= string/= string< string> string-equal char-code code-char char= char-equal
    char-upcase char-downcase digit-char-p alpha-char-p
    symbol-name symbol-package symbol-value symbol-plist get boundp fboundp keywordp symbolp
    symbol-function fdefinition macro-function special-operator-p constantp
    find-package find-symbol package-name package-nicknames package-use-list package-used-by-list
    list-all-packages find-class class-of class-name type-of
    functionp numberp integerp stringp characterp vectorp arrayp hash-table-p packagep pathnamep
    slot-value slot-boundp slot-exists-p documentation
    pathname-name pathname-type namestring truename probe-file file-write-date
    get-universal-time get-internal-real-time get-internal-run-time lisp-implementation-type
    lisp-implementation-version machine-instance
    prin1-to-string princ-to-string print prin1 princ describe)
  "Functions that change nothing and call no function that they are given.")

(defparameter *looking-searches*
  '((find . 2) (position . 2) (count . 2) (remove . 2) (remove-duplicates . 1) (substitute . 3)
    (member . 2) (assoc . 2) (rassoc . 2) (union . 2) (intersection . 2) (set-difference . 2)
    (subsetp . 2) (search . 2) (mismatch . 2))
  "Such that take keywords, some with functions, after so many arguments.")

(defparameter *looking-maps*
  '((mapcar . 0) (maplist . 0) (some . 0) (every . 0) (notany . 0) (notevery . 0) (map . 1)
    (remove-if . 0) (remove-if-not . 0) (find-if . 0) (find-if-not . 0) (count-if . 0)
    (count-if-not . 0) (position-if . 0) (position-if-not . 0) (member-if . 0) (assoc-if . 0)
    (reduce . 0))
  "Such that call their argument of that number.")

(defun looks-only-p (form)
  "True if evaluating FORM surely changes nothing."
  (cond ((symbolp form)
         (multiple-value-bind (expansion expandedp) (macroexpand-1 form)
           (or (not expandedp) (looks-only-p expansion))))
        ((atom form) t)
        ((not (and (symbolp (first form)) (ignore-errors (list-length form)))) nil)
        (t (looking-call-p (first form) (rest form)))))

(defun all-look-p (forms) (every #'looks-only-p forms))

(defun looking-call-p (operator arguments)
  (case operator
    (quote t)
    (function (or (symbolp (first arguments)) (looking-function-p `(function ,@arguments))))
    ((if progn and or when unless prog1 multiple-value-list nth-value) (all-look-p arguments))
    (cond (every (lambda (clause) (and (listp clause) (all-look-p clause))) arguments))
    ((case ecase)
     (and (looks-only-p (first arguments))
          (every (lambda (clause) (and (consp clause) (all-look-p (rest clause)))) (rest arguments))))
    ((let let*)
     (and (listp (first arguments))
          (every #'looking-binding-p (first arguments))
          (all-look-p (remove 'declare (rest arguments)
                              :key (lambda (form) (and (consp form) (first form)))))))
    (format (and (member (first arguments) '(nil t))
                 (stringp (second arguments))
                 ;; no directive that calls a function
                 (not (find-if (lambda (char) (find char "/?")) (second arguments)))
                 (all-look-p (cddr arguments))))
    ((print prin1 princ describe) (and (all-look-p arguments) (null (rest arguments)))) ; no stream
    ((slot-value slot-boundp) (and (all-look-p arguments) (slots-plain-p)))
    (t (let ((search (cdr (assoc operator *looking-searches*)))
             (map (cdr (assoc operator *looking-maps*))))
         (cond (search (and (all-look-p (first-few arguments search))
                            (keywords-look-p (nthcdr search arguments))))
               (map (and (looking-function-p (nth map arguments))
                         (keywords-look-p (member-if #'keywordp arguments))
                         (all-look-p (append (first-few arguments map)
                                             (ldiff (nthcdr (1+ map) arguments)
                                                    (member-if #'keywordp arguments))))))
               (t (and (member operator *looking-functions*) (all-look-p arguments))))))))

;; A binding of *STANDARD-OUTPUT* is of a stream of the program's, which printing changes.
(defun looking-binding-p (binding)
  (let ((name (if (consp binding) (first binding) binding)))
    (and (symbolp name)
         #+sbcl (not (member (sbcl:info :variable :kind name) '(:special :global)))
         #-sbcl (not (boundp name))
         (or (atom binding) (all-look-p (rest binding))))))

(defun keywords-look-p (arguments)
  "True if ARGUMENTS are literal keywords with values; the functions among these change nothing."
  (loop for (keyword value) on arguments by #'cddr
        always (and (keywordp keyword)
                    (if (member keyword '(:key :test :test-not))
                        (looking-function-p value)
                        (looks-only-p value)))))

(defun looking-function-p (form)
  "True if FORM surely has a function for its value that changes nothing."
  (cond ((eq form nil) t)               ; as the value of :KEY
        ((not (and (consp form) (consp (rest form)))) nil)
        ((eq (first form) 'lambda) (looking-function-p `(function ,form)))
        ((not (member (first form) '(quote function))) nil)
        ((symbolp (second form))
         (and (member (second form) *looking-functions*)
              (or (not (member (second form) '(slot-value slot-boundp))) (slots-plain-p))))
        (t (let ((lambda (second form)))
             (and (eq (first form) 'function)
                  (consp lambda) (eq (first lambda) 'lambda)
                  (ignore-errors (list-length lambda))
                  (listp (second lambda))
                  (every #'symbolp (second lambda))
                  (all-look-p (cddr lambda)))))))

(defun slots-plain-p ()
  "True if the program has no methods that are called when a slot is looked at."
  #+sbcl
  (flet ((own-p (specializer)
           (or (not (typep specializer 'class))
               (let ((name (class-name specializer)))
                 (not (and name (symbolp name)
                           (or (eq (symbol-package name) (find-package '#:common-lisp))
                               (implementation-package-p (symbol-package name)))))))))
    (loop for name in '(slot-unbound slot-missing sb-mop:slot-value-using-class
                        sb-mop:slot-boundp-using-class)
          never (some (lambda (method) (some #'own-p (sb-mop:method-specializers method)))
                      (sb-mop:generic-function-methods (fdefinition name)))))
  #-sbcl nil)

(defun reads-plainly-p (session code)
  "True if reading CODE calls no code of the program's, and makes no circular forms."
  (and (plain-reading-p session)
       (loop for at = (position #\# code) then (position #\# code :start (1+ at))
             while at
             never (and (< (1+ at) (length code))
                        (let ((next (char code (1+ at)))) (or (char= next #\.) (digit-char-p next)))))))
