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

(defun join-lines (&rest lines)
  (format nil "~{~A~^~%~}" (remove nil lines)))

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
  "Symbols called like NAME in other packages than the system's own."
  (remove-if-not #'preferred-p (symbols-elsewhere (symbol-name name))))

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

(defun condition-advice (condition)
  "The ADVICE about a name that CONDITION is about, or NIL; it never fails."
  (ignore-errors
   (typecase condition
     (undefined-function
      (let ((name (cell-error-name condition)))
        (and (symbolp name) (function-advice name))))
     (unbound-variable (variable-advice (cell-error-name condition)))
     (package-error
      (let ((package (package-error-package condition)))
        (and (typep package '(or string symbol))
             (not (find-package package))
             (package-advice (string package))))))))
