;;;; reset.lisp -- RESET-SESSION

(cl:in-package #:swank-mcp)

;;; A reset of a launched image removes everything that is not in the baseline.  In a person's
;;; image, and where other sessions work, it only undefines what the session defined.  It
;;; uninterns no symbol and changes no use-list there, because others may rely on them.

;;; The two lists are called by checkpoint/hooks.lisp.

(defvar *before-checkpoint* '()
  "Functions without arguments that are called before a launched image is copied.  A program whose
threads or connections a copy would lack ends them here.")

(defvar *after-restore* '()
  "Functions without arguments that are called after that: in the image itself, which goes on, also
if it could not be copied, and in each image that is started from a copy.")

(defun undefine (kind name)
  (ecase kind
    ((:function :generic-function :macro) (fmakunbound name))
    (:compiler-macro (setf (compiler-macro-function name) nil))
    (:variable
     (handler-case (makunbound name)
       ;; a variable of SB-EXT:DEFGLOBAL cannot be made unbound
       (error (condition)
         (if *launched*
             (unintern name (symbol-package name))
             (error condition)))))
    ((:class :structure :condition)
     (unless (find-class name nil) (return-from undefine)) ; of (DEFSTRUCT (NAME (:TYPE LIST)))
     #+sbcl (dolist (method (copy-list (sb-mop:specializer-direct-methods (find-class name))))
              (remove-method (sb-mop:method-generic-function method) method))
     ;; SBCL keeps subclasses for ever, and with them their names
     #+sbcl (let ((class (find-class name)))
              (dolist (super (sb-mop:class-direct-superclasses class))
                (sb-mop:remove-direct-subclass super class)))
     (setf (find-class name) nil))
    (:method (remove-method (fdefinition (first name)) (find-defined-method name)))
    ((:method-combination :hash-table-test :alien-type :alien-variable)
     (when *launched* (unintern name (symbol-package name))))
    #+sbcl (:symbol-macro (sbcl:clear-info :variable :macro-expansion name)
                          (sbcl:clear-info :variable :kind name))
    #+sbcl (:type (sbcl:clear-info :type :expander name)
                  (sbcl:clear-info :type :kind name))
    #+sbcl (:setf-expander (sbcl:clear-info :setf :expander name))
    ;; in SBCL only uninterning the symbol undoes this
    (:constant (when *launched* (unintern name (symbol-package name))))))

(defun call-collecting-problems (function)
  "Call FUNCTION with a function of a name and a thunk, which calls the thunk and notes its error.
Return the notes."
  (let ((problems '()))
    (funcall function
             (lambda (what thunk)
               (handler-case (handler-bind ((warning #'muffle)) (funcall thunk))
                 (error (condition)
                   (push (format nil "~A: ~A" what (clip (condition-text condition) 200))
                         problems)))))
    (nreverse problems)))

(defun undefine-all (session attempt)
  "Undefine what SESSION has defined, and restore what that has replaced.  Return the keys of what
can be neither undefined nor restored."
  (multiple-value-bind (done left) (restore-replaced session attempt)
    (dolist (key (reverse (own-definitions session)) left)
      (destructuring-bind (kind . name) key
        (unless (member (namespace-of key) done :test #'equal)
          (funcall attempt (key-label key)
                   (lambda () (when (definedp kind name) (undefine kind name)))))))))

(defun package-users (session package)
  "The names of the packages that use PACKAGE and that SESSION has not made."
  (mapcar #'package-name
          (set-difference (package-used-by-list package) (own-packages session))))

(defun reset-remainders (session alone)
  "Sentences about what a reset leaves in a person's image, or if SESSION is not ALONE."
  (if *launched*
      (unless alone
        (list "Another session works in this image: symbols stay interned and use-lists as they are."))
      (let ((constants (loop for (kind . name) in (own-definitions session)
                             when (eq kind :constant) collect (name-text name)))
            (systems (session-systems session)))
        (list (format nil "The image is not ours: symbols stay interned and use-lists as they are~@[, the constants ~{~A~^, ~} keep their values~]~@[, the systems ~{~A~^, ~} stay loaded~]."
                      constants systems)))))

(defun delete-packages (session attempt)
  (dolist (package (own-packages session))
    (funcall attempt (format nil "package ~A" (package-name package))
             (lambda ()
               (when (and (not *launched*) (package-users session package))
                 (error "~{~A~^, ~} use~:[~;s~] it" (package-users session package)
                        (null (rest (package-users session package)))))
               #+sbcl (sb-ext:unlock-package package)
               (dolist (user (package-used-by-list package))
                 (unuse-package package user))
               (delete-package package)))))

(defun untrace-own (session)
  (loop with traced = (eval '(trace))
        for (nil . name) in (own-definitions session)
        when (member name traced :test #'equal)
          do (eval `(untrace ,name))))

(defun alone-p (session)
  "True if no other session has worked in this image."
  (with-lock ()
    (loop for other being the hash-values of *sessions*
          always (or (eq other session) (not (session-used other))))))

(defun reset-session (&optional (session "default"))
  "Make SESSION as new.  Answer (:UNDEFINED count :PROBLEMS (TEXT ...) :LEFT (TEXT ...)
:SYSTEMS (NAME ...))."
  (let* ((session (ensure-session session))
         (still (end-suspended session))
         (count (length (own-definitions session)))
         (alone (alone-p session))
         (minep (and *launched* *baseline* alone))
         (left (reset-remainders session alone)) (stay '())
         (problems
           (call-collecting-problems
            (lambda (attempt)
              #+sbcl (if (and *launched* alone)
                         (eval '(untrace))
                         (untrace-own session))
              (forget-traces session)
              (forget-handles session)
              (setf stay (undefine-all session attempt))
              (delete-packages session attempt)
              (when minep
                (restore-packages attempt)
                (restore-globals session)
                (setf *before-checkpoint* '() *after-restore* '()))))))
    (note-reset session count)
    (notify-of-reset session count)
    (when stay
      (push (format nil "What this session has redefined in place stays as it is: ~{~A~^, ~}."
                    (mapcar #'key-label stay))
            left))
    (let ((changed (changed-globals session)))
      (when changed
        (push (format nil "Not as at the session's beginning, and left so: ~{~A~^, ~}." changed) left))
      (unless minep (setf (session-beginning session) (shared-values))))
    (clrhash (session-replaced session))
    (clrhash (session-definitions session))
    (clrhash (session-candidates session))
    (clrhash (session-direct-definitions session))
    (setf (session-packages session) '()
          (session-package-forms session) '()
          (session-package-names session) '()
          (session-features session) *features*
          (session-first-features session) *features*
          (session-first-syntax session) (copy-readtable *readtable*)
          (session-file-syntax session) nil
          (session-readings session) '()
          (session-readtable-why session) nil
          (session-assigned session) '()
          (session-gone session) '()
          (session-known-packages session) (list-all-packages)
          (session-values session) (initial-values)
          (session-readtable session) (session-variable session '*readtable*)
          (session-last-error session) nil
          (session-departed session) '())
    (enter-package session (user-package))
    (answer (plist-without-nils :undefined count :problems (append still problems) :left left
                                :systems (session-systems session)))))
