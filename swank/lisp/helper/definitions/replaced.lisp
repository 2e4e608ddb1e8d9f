;;;; replaced.lisp -- definitions of somebody else's that a session replaces

(cl:in-package #:swank-mcp)

;;; In a person's image the definition that a session replaces is saved.  The reply says that it
;;; was replaced, and RESET-SESSION restores it.  What SBCL changes in place, such as classes,
;;; cannot be restored: the reply of the reset names it.

(defun namespace-of (key)
  "KEY with a kind that is the same for kinds that exclude each other, as function and macro."
  (destructuring-bind (kind . name) key
    (cons (case kind
            ((:function :macro :generic-function) :function)
            ((:variable :constant :symbol-macro) :variable)
            ((:class :structure :condition :type) :class)
            (t kind))
          name)))

(defun saved-definition (key)
  "The present definition in the namespace of KEY, as a list for RESTORE-DEFINITION, or NIL.
(:LEFT) is one that cannot be restored."
  (destructuring-bind (kind . name) key
    (flet ((left () (and (definedp kind name) (list :left))))
      (case (car (namespace-of key))
        (:function
         (cond ((not (fboundp name)) nil)
               ((and (eq kind :generic-function) (definedp kind name)) (list :left))
               ((and (symbolp name) (special-operator-p name)) nil)
               ((and (symbolp name) (macro-function name)) (list :macro (macro-function name)))
               (t (list :function (fdefinition name)))))
        (:compiler-macro
         (and (definedp kind name) (list :compiler-macro (compiler-macro-function name))))
        #+sbcl
        (:variable
         (cond ((or (definedp :symbol-macro name) (constantp name)) (list :left))
               ((not (definition-identity :variable name)) nil)
               (t (list* :variable (source-location :variable name) (documentation name 'variable)
                         (and (boundp name) (list (symbol-value name)))))))
        #+sbcl
        (:method
         (let ((method (first (methods-designated name))))
           (and method (list :method (sb-mop:method-generic-function method) method))))
        (:class (and (or (find-class name nil) (definedp kind name)) (list :left)))
        (t (left))))))

(defun session-made-p (session key)
  "True if SESSION has made the definition in the namespace of KEY."
  (or #+sbcl (and (eq (car key) :method)
                  (let ((location (source-location :method (cdr key))))
                    (and location
                         (equal (session-name session)
                                (getf (sbcl:definition-source-location-plist location) :swank-mcp)))))
      (some (lambda (kind)
              (let* ((key (cons kind (cdr key)))
                     (entry (gethash key (session-definitions session))))
                (and entry (still-made-p key entry))))
            (or (find (car key) *sibling-kinds* :test #'member) (list (car key))))))

#+sbcl
(defun from-built-file-p (key)
  "True if the definition of KEY comes from a file of a system that was loaded through us."
  (ignore-errors
   (destructuring-bind (kind . name) key
     (let ((file (if (member kind '(:function :macro :generic-function))
                     (function-file (or (and (symbolp name) (macro-function name))
                                        (fdefinition name)))
                     (location-file (source-location kind name)))))
       (and file (built-through-us-p file))))))

(defun definition-replaced-by (session key toplevel)
  "The definition of somebody else's that a form in TOPLEVEL would replace if it defines KEY, as
SAVED-DEFINITION has it, or NIL."
  (unless *launched*
    (ignore-errors
     (let ((earlier (and toplevel (earlier-candidate session key toplevel))))
       (cond (earlier (candidate-replaced earlier))
             ((not (session-made-p session key)) (saved-definition key)))))))

(defun require-permission (key)
  "End the current evaluation if the person, who may want to be asked, does not allow that it redefines
KEY."
  (let ((report (and *ask-person* *evaluation*
                     (forbidden-report *evaluation* (key-label key)))))
    (when report
      (funcall (evaluation-escape *evaluation*) report))))

(defun earlier-candidate (session key toplevel)
  "A candidate in the same TOPLEVEL, which may have replaced the definition before."
  (let ((place (namespace-of key)))
    (with-shared-table ((session-candidates session))
      (loop for candidate being the hash-values of (session-candidates session)
            when (and (eq toplevel (candidate-toplevel candidate))
                      (equal place (namespace-of (candidate-key candidate))))
              return candidate))))

(defun note-replaced (evaluation candidate)
  "Note what CANDIDATE, which has defined something, has replaced."
  (let ((replaced (candidate-replaced candidate)) (key (candidate-key candidate)))
    (when replaced
      (setf (gethash (namespace-of key) (session-replaced (evaluation-session evaluation)))
            replaced)
      ;; a system that was loaded through us is the session's own
      (unless (candidate-builtp candidate)
        (pushnew (cons key (eq :left (first replaced))) (evaluation-replaced evaluation)
                 :test #'equal)))))

(defun key-label (key)
  (destructuring-bind (kind . name) key
    (format nil "~(~A~) ~:[~A~;~{~A~{ ~A~} ~A~}~]" (substitute #\space #\- (symbol-name kind))
            (eq kind :method)
            (if (eq kind :method)
                (destructuring-bind (function qualifiers specializers) name
                  (list (name-text function) qualifiers (name-text specializers)))
                (name-text name)))))

(defun replaced-notes (evaluation)
  "What a reply says of definitions of somebody else's that were replaced."
  (loop with replaced = (reverse (shiftf (evaluation-replaced evaluation) '()))
        for (leftp . text) in '((nil . "reset-session puts back what was there.")
                                (t . "What was there is gone: reset-session leaves the new one, and load-system or the file brings the old one."))
        for labels = (loop for (key . left) in replaced when (eq left leftp) collect (key-label key))
        when labels
          collect (format nil "Redefined, though this session had not defined ~:[it~;them~]: ~{~A~^, ~}~@[ and ~D more~]. ~A"
                          (rest labels) (first-few labels 20) (count-beyond labels 20) text)))

;;; Restoring

(defun restore-definition (place kept)
  "Make KEPT, of SAVED-DEFINITION, the definition in the namespace PLACE again."
  (let ((name (cdr place)))
    (ecase (first kept)
      (:macro (fmakunbound name) (setf (macro-function name) (second kept)))
      (:function (fmakunbound name) (setf (fdefinition name) (second kept)))
      (:compiler-macro (setf (compiler-macro-function name) (second kept)))
      #+sbcl (:method (add-method (second kept) (third kept)))
      #+sbcl
      (:variable
       (destructuring-bind (location documentation &optional (value nil boundp)) (rest kept)
         (if boundp
             (setf (sb-ext:symbol-global-value name) value)
             (makunbound name))
         (setf (documentation name 'variable) documentation
               (sbcl:info :source-location :variable name) location))))))

(defun restore-replaced (session attempt)
  "Restore the definitions that SESSION has replaced.  (VALUES PLACES LEFT-KEYS): the namespaces
restored, and the keys that cannot be."
  (let ((done '()) (left '()) (replaced (session-replaced session)))
    (dolist (key (own-definitions session))
      (when (eq :left (first (gethash (namespace-of key) replaced)))
        (push key left)))
    (let ((own (mapcar #'namespace-of (own-definitions session))))
      (loop for place being the hash-keys of replaced using (hash-value kept)
            do (when (member place own :test #'equal) (push place done))
               (when (and (not (eq :left (first kept)))
                          (or (member place own :test #'equal)
                              (not (definedp (car place) (cdr place)))))
                 (let ((place place) (kept kept))
                   (funcall attempt (key-label place)
                            (lambda () (restore-definition place kept)))))))
    (values done left)))
