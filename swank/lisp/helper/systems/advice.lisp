;;;; advice.lisp -- what was meant by a name that stands for nothing

(cl:in-package #:swank-mcp)

(defstruct (advice (:copier nil))
  text                                  ; lines to add to the message, or NIL
  instead                               ; (WRITTEN MEANT) of a name, or NIL
  system)                               ; name of the one to load, or NIL

(defun advice-for-wire (advice)
  "What goes into a report of it, beside the message."
  (and advice
       (plist-without-nils :instead (advice-instead advice) :system (advice-system advice))))

(defun with-advice (text advice)
  "TEXT and below it what ADVICE, which may be NIL, says."
  (join-lines text (and advice (advice-text advice))))

;;; Packages that are not there

(defun internal-symbol (text)
  "The spellings with one colon and with two, when TEXT complains that a symbol
is not external; NIL otherwise."
  (let ((prefix "The symbol \"") (middle "\" is not external in the "))
    (let ((at (search middle text)))
      (when (and at (eql 0 (search prefix text)))
        (let* ((from (+ at (length middle)))
               (end (search " package" text :start2 from))
               (name (subseq text (length prefix) at)))
          (when end
            (let ((package (subseq text from end)))
              (list (format nil "~A:~A" package name) (format nil "~A::~A" package name)))))))))

(defun missing-package (text)
  "The name of the package of which TEXT complains that it does not exist."
  (let* ((prefix "Package ") (at (search " does not exist." text)))
    (and at (eql 0 (search prefix text)) (subseq text (length prefix) at))))

(defun absent-symbol (text)
  "The name and the package's of which TEXT complains that the one is not in the
other, as two values; or NIL."
  (let ((prefix "Symbol \"") (middle "\" not found in the "))
    (let ((at (search middle text)))
      (when (and at (eql 0 (search prefix text)))
        (let* ((from (+ at (length middle)))
               (end (search " package" text :start2 from)))
          (and end (values (subseq text (length prefix) at) (subseq text from end))))))))

(defparameter *well-known-packages*
  '(("BT" . "bordeaux-threads") ("BT2" . "bordeaux-threads") ("5AM" . "fiveam")
    ("PPCRE" . "cl-ppcre") ("JONATHAN" . "jonathan") ("DEX" . "dexador"))
  "Nicknames that systems give their packages, which tell little of the system.")

(defun loadable (names)
  "The first of NAMES that is a system's which ASDF would find, or NIL.  ASDF is asked
where it is, or may be, loaded; no definition is read."
  (when (or (find-package '#:asdf)
            (and *launched* (ignore-errors (require-own "asdf"))))
    (let ((registry (registry)))
      (find-if (lambda (system)
                 (or (gethash (primary-name system) registry)
                     (asdf-value "REGISTERED-SYSTEM" system)))
               names))))

(defun system-of-package (name)
  "The name of a system that is not loaded and may well define the package NAME, or
NIL."
  (let* ((name (string-downcase name))
         (known (assoc name *well-known-packages* :test #'string-equal))
         (system (loadable (list* name (concatenate 'string "cl-" name)
                                  (and known (list (cdr known)))))))
    (and (not (member system (loaded-systems) :test #'equal)) system)))

(defun package-advice (name &optional (format "~A"))
  "What to do about the package NAME, which is not there; FORMAT is how the name
stands in the code."
  (let ((system (system-of-package name)))
    (if system
        (make-advice :text (format nil "The system ~A, which is not loaded, may define this package." system)
                     :system system)
        (let ((near (similar-package-names name)))
          (and near
               (make-advice :text (format nil "Near it: ~{~A~^, ~}." near)
                            :instead (list (format nil format name)
                                           (format nil format (first near)))))))))

(defun quickload-advice (code)
  "For an image without Quicklisp: the system that CODE asks it for."
  (let* ((call (search "quickload" code :test #'char-equal))
         (start (and call (position-if (lambda (char) (or (alphanumericp char) (find char "*+")))
                                       code :start (+ call (length "quickload")))))
         (end (and start (position-if (lambda (char) (or (blankp char) (find char "()\"'`,;#|:")))
                                      code :start start))))
    (make-advice :text "Quicklisp is not in this image; load-system and (asdf:load-system ...) load what is installed."
                 :system (and start (loadable (list (string-downcase (subseq code start end))))))))

;;; What the reader could not find

(defun absent-symbol-advice (name package)
  (let* ((found (find-package package))
         (near (and found (near-symbols name found t))))
    (and near
         (make-advice :text (format nil "Near it: ~{~A~^, ~}." (mapcar #'qualified-spelling near))
                      :instead (list (format nil ":~A" name)
                                     (format nil ":~A" (bare-spelling (symbol-name (first near)))))))))

(defun reader-advice (text code)
  "The ADVICE about what the reader complains of in TEXT, met in the form that CODE
begins with; or NIL.  It never fails."
  (ignore-errors
   (let ((package (missing-package text)) (spellings (internal-symbol text)))
     (multiple-value-bind (absent home) (absent-symbol text)
       (cond (spellings
              (make-advice :text (format nil "Write ~A to use it all the same, or export it."
                                         (second spellings))
                           :instead spellings))
             ((member package '("QL" "QUICKLISP") :test #'equal) (quickload-advice code))
             (package (package-advice package "~A:"))
             (absent (absent-symbol-advice absent home)))))))

;;; What the evaluator could not find

(defun function-advice (name)
  "About the symbol NAME, which was called and is no function's."
  (let ((elsewhere (remove-if-not #'fboundp (preferred-elsewhere name)))
        (near (remove-if-not #'fboundp (close-symbols name))))
    (names-advice elsewhere near)))

(defun variable-advice (name)
  "About the symbol NAME, which was evaluated and is no variable's."
  (let ((elsewhere (remove-if-not #'boundp (preferred-elsewhere name)))
        (near (remove-if-not #'boundp (close-symbols name))))
    (if (fboundp name)
        (let ((spelled (spelling name)))
          (make-advice
           :text (if (or (macro-function name) (special-operator-p name))
                     (format nil "~A is an operator: write (~:*~A ...)." spelled)
                     (format nil "~A names a function: write #'~:*~A to pass it, (~:*~A ...) to call it."
                             spelled))))
        (names-advice elsewhere near))))

(defun preferred-elsewhere (name)
  "Symbols called like NAME in other packages, of the Lisp itself those that it has for
its users."
  (remove name (remove-if-not (lambda (symbol) (or (preferred-p symbol) (public-p symbol)))
                              (symbols-elsewhere (symbol-name name)))))

(defun close-symbols (name)
  "The symbols that NAME is likely a slip of: shorter names must be closer."
  (let ((home (symbol-package name)) (length (length (symbol-name name))))
    (and home
         (remove-if (lambda (other)
                      (> (name-distance (symbol-name name) (symbol-name other))
                         (cond ((< length 4) 0) ((< length 7) 1) (t 2))))
                    (near-symbols (symbol-name name) home nil)))))

(defun names-advice (elsewhere near)
  (and (or elsewhere near)
       (make-advice
        :text (join-lines
               (and elsewhere
                    (format nil "In other packages: ~{~A~^, ~}." (mapcar #'qualified-spelling elsewhere)))
               (and near
                    (format nil "Near it: ~{~A~^, ~}." (mapcar #'spelling near)))))))

;;; Arguments are evaluated before it is found that the operator is no function's: so
;;; a macro of a package that is not used is told of by an error in its arguments.

(defun operators-not-there (form)
  "Symbols in FORM where operators stand, which are no function's."
  (let ((found '()) (left 500))
    (labels ((walk (form)
               (when (and (consp form) (plusp (decf left)))
                 (let ((operator (first form)))
                   (unless (or (eq operator 'quote) (not (listp (cdr form))))
                     (when (and operator
                                (symbolp operator)
                                (not (fboundp operator))
                                (symbol-package operator))
                       (pushnew operator found))
                     (loop for rest = form then (cdr rest)
                           while (consp rest) do (walk (car rest))))))))
      (walk form))
    (nreverse found)))

(defun macros-advice (form)
  "About macros of other packages that FORM calls as if they were this one's."
  (let ((lines (loop for operator in (operators-not-there form)
                     for macro = (find-if (lambda (symbol)
                                            (and (macro-function symbol)
                                                 (eq :external (nth-value 1 (find-symbol (symbol-name symbol)
                                                                                         (symbol-package symbol))))))
                                          (preferred-elsewhere operator))
                     when macro
                       collect (format nil "~A is no macro here; it is one in another package: ~A."
                                       (spelling operator) (qualified-spelling macro)))))
    (and lines (make-advice :text (apply #'join-lines (first-few lines 3))))))

;;; Classes and their initargs

(defun class-advice (name)
  "About the symbol NAME, which is no class's."
  (flet ((classes (symbols)
           (remove-if-not (lambda (symbol) (find-class symbol nil)) symbols)))
    (let ((near (classes (close-symbols name))))
      (advice-of-one name (classes (preferred-elsewhere name)) near))))

(defun advice-of-one (name elsewhere near)
  "NAMES-ADVICE, and the name meant if there is but one."
  (let ((advice (names-advice elsewhere near)))
    (when (and near (null elsewhere) (null (rest near)))
      (setf (advice-instead advice)
            (list (bare-spelling (symbol-name name)) (bare-spelling (symbol-name (first near))))))
    advice))

#+sbcl
(defun initarg-advice (class given)
  "About the keywords GIVEN, which CLASS does not take."
  (let* ((valid (remove-duplicates
                 (loop for slot in (sb-mop:class-slots class)
                       append (sb-mop:slot-definition-initargs slot))))
         (near (loop for keyword in given
                     append (sort (remove-if (lambda (other)
                                               (> (name-distance (symbol-name keyword) (symbol-name other)) 2))
                                             (remove-if-not #'keywordp valid))
                                  #'< :key (lambda (other)
                                             (name-distance (symbol-name keyword) (symbol-name other)))))))
    (make-advice
     :text (if valid
               (format nil "~@[Near it: ~{~S~^, ~}. ~]Initargs of ~A: ~{~S~^, ~}."
                       near (spelling (class-name class)) (first-few valid 20))
               (format nil "No slot of ~A has an initarg." (spelling (class-name class))))
     :instead (and near (null (rest given))
                   (list (format nil ":~A" (bare-spelling (symbol-name (first given))))
                         (format nil ":~A" (bare-spelling (symbol-name (first near)))))))))

(defun condition-class-advice (condition)
  "About a name that was signalled and is of no class of conditions."
  (let ((name (and (typep condition '(and simple-condition type-error))
                   (search "condition class" (simple-condition-format-control condition))
                   (type-error-datum condition))))
    (and name (symbolp name) (class-advice name))))

(defun condition-advice (condition &optional form)
  "The ADVICE about a name that CONDITION, met in FORM, is about, or NIL; it never fails."
  (ignore-errors
   (or (typecase condition
         ((or undefined-function unbound-variable program-error) (macros-advice form)))
       (typecase condition
         (undefined-function
          (let ((name (cell-error-name condition)))
            (and (symbolp name) (function-advice name))))
         (unbound-variable (variable-advice (cell-error-name condition)))
         #+sbcl (sbcl:class-not-found-error (class-advice (cell-error-name condition)))
         #+sbcl (sbcl:initarg-error
                 (initarg-advice (slot-value condition 'class)
                                 (slot-value condition 'sbcl:initargs)))
         (type-error (condition-class-advice condition))
         (package-error
          (let ((package (package-error-package condition)))
            (and (typep package '(or string symbol))
                 (not (find-package package))
                 (package-advice (string package)))))))))
