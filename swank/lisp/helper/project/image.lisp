;;;; image.lisp -- the definitions that the image has in the project's packages

(cl:in-package #:swank-mcp)

#+sbcl
(defun symbol-keys (symbol)
  "((KEY . OBJECT) ...) of what SYMBOL names in the image."
  (append (setf-expander-key symbol) (identified-keys symbol)))

#+sbcl
(defun setf-expander-key (symbol)
  (let ((expander (internal-definition :setf-expander symbol)))
    (and expander (list (cons (cons :setf-expander symbol) expander)))))

#+sbcl
(defun identified-keys (symbol)
  (loop for (kind name object) in (ignore-errors (identities symbol))
        unless (and (eq kind :method) (superseded-method-p name))
        collect (cons (ecase kind
                        ((:generic :function) (cons :function name))
                        (:method (method-key name))
                        ((:class :type) (cons :class name))
                        ((:variable :compiler-macro) (cons kind name)))
                      object)))

(defun enter-verdict (key object comparison)
  (let ((verdict (judge key object comparison)))
    ;; methods for classes that have one name in several packages have one key
    (unless (or (null verdict) (eq :same (state-of key comparison)))
      (setf (gethash key (comparison-states comparison)) verdict))
    (when (functionp object) (push (cons key object) (comparison-functions comparison)))
    #+sbcl
    (when (eq (car key) :method)
      (let* ((method (ignore-errors (method-of-key key)))
             (function (and method
                            (ignore-errors
                             (sbcl:safe-method-fast-function method)))))
        (when (functionp function)
          (push (cons key function) (comparison-functions comparison)))))))

(defun foreign-keys (comparison)
  "Keys of what the project's files, or a session, define for names of other packages."
  (let ((own (make-hash-table :test 'eq)) (keys (make-hash-table :test 'equal)))
    (dolist (package (comparison-packages comparison)) (setf (gethash package own) t))
    (flet ((ours (symbol)
             (and (symbolp symbol) (gethash (symbol-package symbol) own))))
      (with-shared-table (*origins*)
        (loop for key being the hash-keys of *origins* using (hash-value origin)
              unless (or (eq (car key) :package)
                         (ours (key-symbol key))
                         (in-no-system-p (origin-file origin) comparison))
                do (setf (gethash key keys) t)))
      (with-shared-table (*not-defined-again*)
        (loop for key being the hash-keys of *not-defined-again*
              unless (or (eq (car key) :package) (ours (key-symbol key)))
                do (setf (gethash key keys) t)))
      (dolist (session (with-lock () (loop for session being the hash-values of *sessions* collect session)))
        (loop for (key) in (all-entries session)
              when (and (eq (car key) :method)
                        (not (ours (key-symbol key)))
                        (some #'ours (fourth key)))
                do (let ((method (ignore-errors (find-defined-method (cdr key)))))
                     (when method (setf (gethash (method-key method) keys) t))))))
    (loop for key being the hash-keys of keys collect key)))

(defun judge-image (comparison)
  "Enter a verdict on each definition of the image that is the project's."
  (dolist (package (comparison-packages comparison))
    (call-with-present-symbols
     (lambda (symbol status)
       (declare (ignore status))
       (when (eq (symbol-package symbol) package)
         #+sbcl
         (loop for (key . object) in (symbol-keys symbol)
               do (enter-verdict key object comparison))))
     package))
  (dolist (key (foreign-keys comparison))
    (let* ((origin (gethash key *origins*))
           (object (definition-object key (and origin (origin-file origin)))))
      (when object (enter-verdict key object comparison)))))

(defun compare-project ()
  "The COMPARISON of the project now."
  (ignore-errors (adopt-loaded-files))
  (let ((comparison (make-comparison :systems (loaded-project-systems))))
    (setf (comparison-sources comparison)
          (mapcan #'system-sources (copy-list (comparison-systems comparison)))
          (comparison-packages comparison) (project-packages (file-forms comparison)))
    ;; packages of files that are gone
    (dolist (key (loop for file in (table-values *loaded-files*)
                       unless (in-no-system-p (loaded-file-file file) comparison)
                         append (loaded-file-keys file)))
      (when (eq (car key) :package)
        (dolist (package (project-packages (list (cdr key))))
          (pushnew package (comparison-packages comparison)))))
    (judge-image comparison)
    comparison))
