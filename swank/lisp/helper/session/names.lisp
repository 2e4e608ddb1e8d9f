;;;; names.lisp -- finds the symbol that a typed name means, without the reader

(cl:in-package #:swank-mcp)

;;; Look-ups take names as a person writes them: foo, pkg:foo, pkg::foo, |Foo|, :key, #:foo, 'foo,
;;; #'foo, (setf foo).  The reader would intern unknown names and run the user's macro characters.
;;; So names are parsed here, and no symbol is ever interned.

(define-condition lookup-failure (error)
  ((type :initarg :type :reader failure-type)
   (message :initarg :message :reader failure-message)
   (names :initarg :names :initform '() :reader failure-names))
  (:report (lambda (condition stream) (write-string (failure-message condition) stream)))
  (:documentation "The failure of a look-up: TYPE and MESSAGE as shown, and NAMES to try instead,
best first."))

(defun fail-lookup (type names control &rest arguments)
  (error 'lookup-failure :type type :names names
                         :message (with-standard-io-syntax
                                    (apply #'format nil control arguments))))

;;; Parsing a name

(defun fold-case (characters case)
  "The string of CHARACTERS, a list of (CHAR . ESCAPED-P), as the reader folds it
with the readtable-case CASE."
  (let ((plain (loop for (char . escapedp) in characters
                     when (and (not escapedp) (both-case-p char)) collect char)))
    (when (eq case :invert)
      (setf case (cond ((every #'upper-case-p plain) :downcase)
                       ((every #'lower-case-p plain) :upcase)
                       (t :preserve))))
    (map 'string (lambda (entry)
                   (destructuring-bind (char . escapedp) entry
                     (cond (escapedp char)
                           ((eq case :upcase) (char-upcase char))
                           ((eq case :downcase) (char-downcase char))
                           (t char))))
         characters)))

(defun bad-name (text why)
  (fail-lookup "INVALID-NAME" '() "~S is not the name of one symbol: ~A." (clip text 200) why))

(defun name-characters (text)
  "((CHAR . ESCAPED-P) ...) of the token TEXT, with :COLON for each unescaped colon."
  (let ((characters '()) (in-bars nil) (i 0))
    (flet ((next ()
             (prog1 (if (< i (length text)) (char text i) (bad-name text "it ends after a backslash"))
               (incf i))))
      (loop while (< i (length text))
            do (let ((char (next)))
                 (cond ((char= char #\\) (push (cons (next) t) characters))
                       ((char= char #\|) (setf in-bars (not in-bars))
                        ;; so that || is seen to be there
                        (push :bar characters))
                       (in-bars (push (cons char t) characters))
                       ((char= char #\:) (push :colon characters))
                       ((find char '(#\( #\) #\" #\; #\space #\tab #\newline #\return))
                        (bad-name text (format nil "it has ~:C in it" char)))
                       (t (push (cons char nil) characters)))))
      (when in-bars (bad-name text "a bar is missing"))
      (nreverse characters))))

(defun parse-name (text case)
  "(VALUES NAME PACKAGE-NAME COLONS) of the symbol's name TEXT: PACKAGE-NAME is NIL
without a prefix; COLONS is their number, 0 to 2.  CASE is a readtable-case."
  (let* ((token (string-trim '(#\space #\tab #\newline #\return) text))
         (token (string-left-trim "'" token))
         (token (cond ((eql 0 (search "#'" token)) (subseq token 2))
                      ((eql 0 (search "#:" token)) (subseq token 2))
                      (t token))))
    (when (string= token "") (bad-name text "it is empty"))
    (let* ((characters (name-characters token))
           (colons (count :colon characters))
           (colon (position :colon characters)))
      (flet ((name (part) (fold-case (remove :bar part) case)))
        (cond ((null colon) (values (name characters) nil 0))
              ((or (> colons 2)
                   (and (= colons 2) (not (eq :colon (nth (1+ colon) characters)))))
               (bad-name text "at most two colons, side by side, part package and symbol"))
              ((= (length characters) (+ colon colons))
               (bad-name text (format nil "nothing follows the colon~P" colons)))
              (t (values (name (nthcdr (+ colon colons) characters))
                         (if (zerop colon) "KEYWORD" (name (subseq characters 0 colon)))
                         (if (zerop colon) 2 colons))))))))

;;; Spelling a symbol so that it can be found again

(defun bare-spelling (name)
  "NAME, between bars if the reader needs them."
  (with-standard-io-syntax
    (let ((*print-gensym* nil) (*print-readably* nil))
      (prin1-to-string (make-symbol name)))))

(defun spelling (symbol)
  "SYMBOL with the package that it is known by: CAR, MY:FOO, MY::BAR, :KEY."
  (let ((home (symbol-package symbol)) (name (bare-spelling (symbol-name symbol))))
    (cond ((null home) (format nil "#:~A" name))
          ((keywordp symbol) (format nil ":~A" name))
          ((member home (list (find-package '#:common-lisp) (find-package '#:common-lisp-user)))
           name)
          (t (qualified-spelling symbol)))))

(defun qualified-spelling (symbol)
  "SYMBOL with a package prefix, by which it is found from every package."
  (let ((home (symbol-package symbol)))
    (cond ((or (null home) (keywordp symbol)) (spelling symbol))
          (t (let ((package (presenting-package-name symbol)))
               (format nil "~A~:[::~;:~]~A"
                       (bare-spelling package)
                       (eq :external (nth-value 1 (find-symbol (symbol-name symbol) package)))
                       (bare-spelling (symbol-name symbol))))))))

(defun function-spelling (name)
  "SPELLING, also of (SETF FOO)."
  (if (symbolp name)
      (spelling name)
      (format nil "(SETF ~A)" (spelling (second name)))))

;;; Suggestions

(defun internal-package-p (package)
  "True of packages of the implementation, of Swank and of the helper."
  (let ((name (package-name package)))
    (or (implementation-package-p package)
        (find-if (lambda (prefix) (eql 0 (search prefix name)))
                 '("SWANK" "UIOP/" "ASDF/" "HELPER-TEST")))))

(defun preferred-p (symbol)
  "True of symbols that a person is likely to mean: not the system's own."
  (not (internal-package-p (symbol-package symbol))))

(defun named-thing-p (symbol)
  "True if SYMBOL names something: a function, variable, class or type."
  (or (fboundp symbol) (boundp symbol) (find-class symbol nil)
      #+sbcl (sbcl:info :type :expander symbol)
      #+sbcl (not (eq :unknown (sbcl:info :variable :kind symbol)))))

(defun symbols-elsewhere (name)
  "At most five symbols called NAME in any package that name something or are exported, the
likeliest first."
  (let ((found (remove-if-not (lambda (symbol)
                                (let ((home (symbol-package symbol)))
                                  (and home
                                       (not (keywordp symbol))
                                       (or (named-thing-p symbol)
                                           (eq :external (nth-value 1 (find-symbol name home)))))))
                              (find-all-symbols name))))
    (flet ((rank (symbol)
             (+ (if (preferred-p symbol) 0 2)
                (if (eq :external (nth-value 1 (find-symbol name (symbol-package symbol)))) 0 1))))
      (first-few (stable-sort (sort found #'string< :key #'qualified-spelling) #'< :key #'rank) 5))))

(defun near-symbols (name package externals-only)
  "At most five symbols of PACKAGE with names like NAME, the nearest first."
  (let ((limit (max 2 (floor (length name) 3))) (near '()) (seen (make-hash-table :test 'eq)))
    (flet ((consider (symbol)
             (let ((other (symbol-name symbol)))
               (when (and (<= (abs (- (length other) (length name))) limit)
                          (not (gethash symbol seen))
                          (named-thing-p symbol))
                 (setf (gethash symbol seen) t)
                 (let ((distance (name-distance name other)))
                   (when (<= distance limit)
                     (push (cons distance symbol) near)))))))
      (if externals-only
          (do-external-symbols (symbol package) (consider symbol))
          (do-symbols (symbol package) (consider symbol))))
    (mapcar #'cdr
            (first-few (stable-sort (sort near #'string< :key (lambda (entry) (symbol-name (cdr entry))))
                                    #'< :key #'car)
                       5))))

;;; Finding the symbol

(defun named-package (name session)
  "The package called NAME, seen from SESSION's; a LOOKUP-FAILURE if there is none."
  (or (package-seen-from session name)
      (fail-lookup "PACKAGE-ERROR" '() "~A" (unknown-package-text name))))

(defun find-named-symbol (text session &optional package-name)
  "(VALUES SYMBOL PACKAGE) that TEXT names in SESSION.  Without a prefix it is looked up in the
package called PACKAGE-NAME, or else in the session's.  A LOOKUP-FAILURE says whether the package
or the symbol is missing or the symbol is not external.  Nothing is interned."
  (multiple-value-bind (name prefix colons)
      (parse-name text (readtable-case (session-variable session '*readtable*)))
    (let ((package (cond (prefix (prefix-package prefix name session))
                         ((and package-name (string/= package-name ""))
                          (named-package package-name session))
                         (t (live-package session)))))
      (multiple-value-bind (symbol status) (find-symbol name package)
        (cond ((null status) (no-such-symbol name package (= colons 1)))
              ((and (= colons 1) (not (eq status :external)))
               (let ((spelled (format nil "~A::~A" (bare-spelling (package-name package))
                                      (bare-spelling name))))
                 (fail-lookup "SYMBOL-NOT-EXTERNAL" (list spelled)
                              "The symbol ~S is not external in the ~A package. Use ~A."
                              name (package-name package) spelled)))
              (t (values symbol package)))))))

(defun prefix-package (prefix name session)
  (handler-case (named-package prefix session)
    (lookup-failure (failure)
      (let ((elsewhere (mapcar #'qualified-spelling (symbols-elsewhere name))))
        (fail-lookup "PACKAGE-ERROR" elsewhere
                     "~A~@[~%Symbols called ~A: ~{~A~^, ~}.~]" (failure-message failure)
                     (and elsewhere name) elsewhere)))))

(defun no-such-symbol (name package externals-only)
  (let ((elsewhere (mapcar #'qualified-spelling (symbols-elsewhere name)))
        (near (near-symbols name package externals-only)))
    (fail-lookup "SYMBOL-NOT-FOUND"
                 (append elsewhere
                         (loop for symbol in near
                               when (meant-p name (symbol-name symbol)) collect (qualified-spelling symbol)))
                 "There is no symbol ~S in the package ~A.~@[~%In other packages: ~{~A~^, ~}.~]~@[~%Near it: ~{~A~^, ~}.~]"
                 name (package-name package) elsewhere (mapcar #'qualified-spelling near))))

(defun setf-place-name (text)
  "FOO of \"(setf foo)\" or \"#'(setf foo)\", else NIL."
  (let* ((text (string-trim '(#\space #\tab #\newline) text))
         (text (if (eql 0 (search "#'" text)) (subseq text 2) text))
         (end (1- (length text))))
    (when (and (> end 6)
               (string-equal "(setf" text :end2 5)
               (find (char text 5) '(#\space #\tab #\newline))
               (char= #\) (char text end)))
      (subseq text 6 end))))

(defun find-function-name (text session &optional package-name)
  "The function name that TEXT names: as FIND-NAMED-SYMBOL, or (SETF SYMBOL)."
  (let ((place (setf-place-name text)))
    (if place
        (list 'setf (find-named-symbol place session package-name))
        (find-named-symbol text session package-name))))
