;;;; users.lisp -- code that has an older definition in it, and of which SBCL has noted nothing

(cl:in-package #:swank-mcp)

;;; SBCL notes which macros a function has expanded, but not which types, symbol macros, inline
;;; functions and setf expanders.  Their users are the forms on disk that have the name.  What a
;;; macro calls while it expands is in the expansion, too.

(defun changed-since (key comparison)
  "Since when the definition KEY has another text than it had first: :LIVE, the number of a load, or
NIL."
  (let ((origin (gethash key *origins*)) (verdict (gethash key (comparison-states comparison))))
    (and origin
         verdict
         (case (verdict-state verdict)
           ((:live :live-same)
            (let* ((text (verdict-text verdict)) (form (and text (live-form text key))))
              (unless (and form (eql (source-form-code form) (origin-code origin))) :live)))
           (t (and (origin-changedp origin) (origin-since origin)))))))

(defun inlined-p (name)
  #+sbcl (member (sbcl:info :function :inlinep name) '(inline sb-ext:maybe-inline))
  #-sbcl (progn name nil))

(defun in-code-of-users-p (key origin)
  "True if the definition KEY is in the code of those who use it, and SBCL notes none of them."
  (or (member (source-form-operator (origin-form origin))
              '("DEFTYPE" "DEFINE-SYMBOL-MACRO" "DEFSETF" "DEFINE-SETF-EXPANDER")
              :test #'equal)
      (and (eq (car key) :function) (inlined-p (cdr key)))))

(defun changed-in-users (comparison)
  "A table from names to (SINCE . KEY) of definitions that are in the code of their users."
  (let ((table (make-hash-table :test 'eq)))
    (with-shared-table (*origins*)
      (loop for key being the hash-keys of *origins* using (hash-value origin)
            for since = (and (symbolp (cdr key))
                             (in-code-of-users-p key origin)
                             (changed-since key comparison))
            when since do (setf (gethash (cdr key) table) (cons since key))))
    table))

(defun compiled-before-p (key since what comparison)
  "True if KEY, which a file has as it is, was compiled before WHAT, a key, had its text, SINCE."
  (let ((origin (gethash key *origins*)))
    (case (state-of key comparison)
      (:same (and origin
                  (or (eq since :live)
                      (< (max (loaded-number origin) (origin-since origin)) since))))
      (:live-same (and (eq since :live)
                       (let ((first (evaluation-order :function (cdr key)))
                             (then (some (lambda (kind) (evaluation-order kind (cdr what)))
                                         '(:function :type :symbol-macro :setf-expander))))
                         (and first then (< first then))))))))

(defun mentioned-in-p (form version names)
  "Those of the symbols that are keys of the table NAMES that FORM of VERSION has."
  (let ((text (version-text version)) (found '()))
    (dolist (token (tokens-in (scan-datum text (source-form-begin form))) found)
      (let ((symbol (token-symbol token (source-form-package form))))
        (when (and symbol (gethash symbol names)) (pushnew symbol found))))))

(defun users-by-name (comparison)
  "((NAME KEY ...) ...): changed definitions that are in the code of their users, and those users."
  (let ((names (changed-in-users comparison)) (users (make-hash-table :test 'eq))
        (having (make-hash-table :test 'eq)))
    (flet ((has-one-p (version)         ; most files have none
             (multiple-value-bind (known knownp) (gethash version having)
               (if knownp
                   known
                   (setf (gethash version having)
                         (loop for name being the hash-keys of names
                               thereis (search (symbol-name name) (version-text version)
                                               :test #'char-equal)))))))
      (when (plusp (hash-table-count names))
        (loop for key being the hash-keys of (comparison-disk comparison)
                using (hash-value (form . version))
              when (and (member (car key) '(:function :method :compiler-macro)) (has-one-p version))
                do (dolist (name (mentioned-in-p form version names))
                     (destructuring-bind (since . what) (gethash name names)
                       (when (and (not (equal what key))
                                  (compiled-before-p key since what comparison))
                         (push key (gethash name users))))))))
    (loop for name being the hash-keys of users using (hash-value keys) collect (cons name keys))))

;;; Functions that macros call while they expand

(defun latest-helper (macro functions changed)
  "(NAME . SINCE) of the function in the table CHANGED that changed last among those that the
function of MACRO calls, itself or through others of the table FUNCTIONS; or NIL."
  (let ((seen (make-hash-table :test 'equal)) (latest nil))
    (labels ((visit (name)
               (unless (gethash name seen)
                 (setf (gethash name seen) t)
                 (let ((since (gethash name changed)) (function (gethash name functions)))
                   (when (and since (or (null latest)
                                        (eq since :live)
                                        (and (integerp (cdr latest)) (> since (cdr latest)))))
                     (setf latest (cons name since)))
                   (when function (mapc #'visit (ignore-errors (called-names function))))))))
      (visit macro))
    latest))

(defun changed-helpers (comparison)
  "A table from names of macros to LATEST-HELPER."
  (let ((functions (make-hash-table :test 'equal)) (changed (make-hash-table :test 'equal))
        (found (make-hash-table :test 'equal)))
    (loop for (key . function) in (comparison-functions comparison)
          for name = (cdr key)
          when (eq (car key) :function)
            do (setf (gethash name functions) function)
               (unless (and (symbolp name) (macro-function name))
                 (let ((since (changed-since key comparison)))
                   (when since (setf (gethash name changed) since)))))
    (when (plusp (hash-table-count changed))
      (loop for macro being the hash-keys of (macro-names comparison)
            for helper = (latest-helper macro functions changed)
            when helper do (setf (gethash macro found) helper)))
    found))

(defun users-of-helpers (comparison)
  "((NAME KEY ...) ...): functions that macros call while they expand, and users of the macros that
were compiled before these functions changed."
  (let* ((helpers (changed-helpers comparison)) (stale (make-hash-table :test 'equal))
         (users (names-to-keys #'expanded-names helpers comparison)))
    (loop for macro being the hash-keys of users using (hash-value keys)
          for (name . since) = (gethash macro helpers)
          do (dolist (key keys)
               (when (compiled-before-p key since (cons :function name) comparison)
                 (pushnew key (gethash name stale) :test #'equal))))
    (loop for name being the hash-keys of stale using (hash-value keys) collect (cons name keys))))

(defun all-stale-users (comparison)
  "What STALE-USERS, USERS-BY-NAME and USERS-OF-HELPERS return, each name once."
  (let ((all '()))
    (loop for (name . keys) in (append (stale-users comparison) (users-by-name comparison)
                                       (users-of-helpers comparison))
          for known = (assoc name all :test #'equal)
          do (if known
                 (setf (cdr known) (union keys (cdr known) :test #'equal))
                 (push (cons name keys) all)))
    (nreverse all)))
