;;;; advice.lisp -- suggestions for names that are not defined

(cl:in-package #:swank-mcp)

(defstruct (advice (:copier nil))
  text                                  ; lines to add to the message, or NIL
  instead                               ; (WRITTEN MEANT), two names, or NIL
  system)                               ; name of the one to load, or NIL

(defun advice-for-wire (advice)
  "The part of a report that ADVICE adds beside the message."
  (and advice
       (plist-without-nils :instead (advice-instead advice) :system (advice-system advice))))

(defun with-advice (text advice)
  "TEXT and below it the text of ADVICE, which may be NIL."
  (join-lines text (and advice (advice-text advice))))

;;; Missing packages

(defun symbol-and-package (text prefix middle)
  "(VALUES NAME PACKAGE-NAME) if TEXT is PREFIX, a name, MIDDLE and \"PACKAGE-NAME package\"; or
NIL."
  (let ((at (search middle text)))
    (when (and at (eql 0 (search prefix text)))
      (let* ((from (+ at (length middle)))
             (end (search " package" text :start2 from)))
        (and end (values (subseq text (length prefix) at) (subseq text from end)))))))

(defun internal-symbol (text)
  "The spellings with one colon and with two if TEXT says that a symbol is not external, or NIL."
  (multiple-value-bind (name package)
      (symbol-and-package text "The symbol \"" "\" is not external in the ")
    (and name
         (list (format nil "~A:~A" package name) (format nil "~A::~A" package name)))))

(defun missing-package (text)
  "The name of the package if TEXT says that it does not exist, or NIL."
  (let* ((prefix "Package ") (at (search " does not exist." text)))
    (and at (eql 0 (search prefix text)) (subseq text (length prefix) at))))

(defun absent-symbol (text)
  "(VALUES NAME PACKAGE-NAME) if TEXT says that a symbol is not in a package, or NIL."
  (symbol-and-package text "Symbol \"" "\" not found in the "))

(defparameter *well-known-packages*
  '(("BT" . "bordeaux-threads") ("BT2" . "bordeaux-threads") ("5AM" . "fiveam")
    ("PPCRE" . "cl-ppcre") ("JONATHAN" . "jonathan") ("DEX" . "dexador"))
  "Nicknames of packages that are unlike the names of their systems.")

(defun first-loadable-system (names)
  "The first of NAMES that is the name of a system which ASDF would find, or NIL.  No definition is
read.  ASDF is loaded for this only into a launched image."
  (when (or (find-package '#:asdf)
            (and *launched* (ignore-errors (require-contrib "asdf"))))
    (let ((registry (registry)))
      (find-if (lambda (system)
                 (or (gethash (primary-name system) registry)
                     (asdf-value "REGISTERED-SYSTEM" system)))
               names))))

(defun system-of-package (name)
  "The name of a system that is not loaded and is likely to define the package NAME, or NIL."
  (let* ((name (string-downcase name))
         (known (assoc name *well-known-packages* :test #'string-equal))
         (system (first-loadable-system (list* name (concatenate 'string "cl-" name)
                                               (and known (list (cdr known)))))))
    (and (not (member system (loaded-systems) :test #'equal)) system)))

(defun package-advice (name &optional (format "~A"))
  "The ADVICE about the missing package NAME; FORMAT is how the name stands in the code."
  (let ((system (system-of-package name)))
    (if system
        (make-advice :text (format nil "The system ~A, which is not loaded, may define this package." system)
                     :system system)
        (let ((near (similar-package-names name)))
          (and near
               (make-advice :text (format nil "Near it: ~{~A~^, ~}." near)
                            :instead (let ((meant (meant-package name)))
                                       (and meant
                                            (list (format nil format name) (format nil format meant))))))))))

(defun quickload-advice (code)
  "The ADVICE for CODE that asks Quicklisp, which is not there, for a system."
  (let* ((call (search "quickload" code :test #'char-equal))
         (start (and call (position-if (lambda (char) (or (alphanumericp char) (find char "*+")))
                                       code :start (+ call (length "quickload")))))
         (end (and start (position-if (lambda (char) (or (blankp char) (find char "()\"'`,;#|:")))
                                      code :start start))))
    (make-advice :text "Quicklisp is not in this image; load-system and (asdf:load-system ...) load what is installed."
                 :system (and start
                              (let ((name (subseq code start end)))
                                (first-loadable-system (list name (string-downcase name))))))))

;;; Errors of the reader

(defun absent-symbol-advice (name package)
  (let* ((found (find-package package))
         (near (and found (near-symbols name found t)))
         (meant (find-if (lambda (symbol) (meant-p name (symbol-name symbol))) near)))
    (and near
         (make-advice :text (format nil "Near it: ~{~A~^, ~}." (mapcar #'qualified-spelling near))
                      :instead (and meant
                                    (list (format nil ":~A" name)
                                          (format nil ":~A" (bare-spelling (symbol-name meant)))))))))

(defun reader-advice (text code)
  "The ADVICE about TEXT, the message of an error of the reader in the form with which CODE begins;
or NIL.  This never signals an error."
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

;;; Undefined functions and variables

(defun function-advice (name)
  "The ADVICE about the undefined function NAME."
  (names-advice (remove-if-not #'fboundp (preferred-elsewhere name))
                (remove-if-not #'fboundp (close-symbols name))))

(defun variable-advice (name)
  "The ADVICE about the unbound variable NAME."
  (if (fboundp name)
      (make-advice
       :text (format nil (if (or (macro-function name) (special-operator-p name))
                             "~A is an operator: write (~:*~A ...)."
                             "~A names a function: write #'~:*~A to pass it, (~:*~A ...) to call it.")
                     (spelling name)))
      (names-advice (remove-if-not #'boundp (preferred-elsewhere name))
                    (remove-if-not #'boundp (close-symbols name)))))

(defun preferred-elsewhere (name)
  "Symbols called like NAME in other packages, without internal ones of the Lisp."
  (remove name (remove-if-not (lambda (symbol) (or (preferred-p symbol) (public-p symbol)))
                              (symbols-elsewhere (symbol-name name)))))

(defun close-symbols (name)
  "The symbols that NAME is likely to mean."
  (let ((home (symbol-package name)))
    (and home
         (remove-if-not (lambda (other) (meant-p (symbol-name name) (symbol-name other)))
                        (near-symbols (symbol-name name) home nil)))))

(defun names-advice (elsewhere near)
  (and (or elsewhere near)
       (make-advice
        :text (join-lines
               (and elsewhere
                    (format nil "In other packages: ~{~A~^, ~}." (mapcar #'qualified-spelling elsewhere)))
               (and near
                    (format nil "Near it: ~{~A~^, ~}." (mapcar #'spelling near)))))))

;;; Arguments are evaluated before an operator turns out to be undefined.  So for a macro of a
;;; package that is not used the error is one in its arguments.

(defun undefined-operators (form)
  "The symbols in FORM in the place of operators that are not defined."
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
  "The ADVICE about macros of other packages that FORM calls without a prefix."
  (let ((lines (loop for operator in (undefined-operators form)
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
  "The ADVICE about NAME, which names no class."
  (flet ((classes (symbols)
           (remove-if-not (lambda (symbol) (find-class symbol nil)) symbols)))
    (let ((near (classes (close-symbols name))))
      (advice-of-one name (classes (preferred-elsewhere name)) near))))

(defun advice-of-one (name elsewhere near)
  "NAMES-ADVICE; if there is only one name, with that to replace NAME."
  (let ((advice (names-advice elsewhere near)))
    (when (and near (null elsewhere) (null (rest near)))
      (setf (advice-instead advice)
            (list (bare-spelling (symbol-name name)) (bare-spelling (symbol-name (first near))))))
    advice))

#+sbcl
(defun initarg-advice (class given)
  "The ADVICE about the keywords GIVEN, which are no initargs of CLASS."
  (let* ((valid (remove-duplicates
                 (loop for slot in (sb-mop:class-slots class)
                       append (sb-mop:slot-definition-initargs slot))))
         (near (loop for keyword in given
                     append (sort (remove-if-not (lambda (other)
                                                   (meant-p (symbol-name keyword) (symbol-name other)))
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
  "The ADVICE about a name that was signalled and names no class of conditions."
  (let ((name (and (typep condition '(and simple-condition type-error))
                   (search "condition class" (simple-condition-format-control condition))
                   (type-error-datum condition))))
    (and name (symbolp name) (class-advice name))))

(defun condition-advice (condition &optional form)
  "The ADVICE about the name that CONDITION, signalled by FORM, is about, or NIL.  This never
signals an error."
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
