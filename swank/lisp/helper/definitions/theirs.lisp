;;;; theirs.lisp -- what a session redefines that was defined by somebody else

(cl:in-package #:swank-mcp)

;;; In an image that is somebody's a definition that the session replaces is kept: the
;;; reply says that it was replaced, and RESET-SESSION puts it back.  What SBCL changes
;;; in place, classes for one, cannot be put back; it is left and named.

(defun place-of (key)
  "What KEY defines, where kinds exclude each other: a name has one function or macro."
  (destructuring-bind (kind . name) key
    (cons (case kind
            ((:function :macro :generic-function) :function)
            ((:variable :constant :symbol-macro) :variable)
            ((:class :structure :condition :type) :class)
            (t kind))
          name)))

(defun kept-definition (key)
  "How to put back what is there now in the place of KEY: a list that RESTORE-PLACE
takes; NIL if nothing is there."
  (destructuring-bind (kind . name) key
    (flet ((left () (and (definedp kind name) (list :left))))
      (case (car (place-of key))
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

(defun ours-p (session key)
  "True if SESSION has made what is there in the place of KEY."
  (or #+sbcl (and (eq (car key) :method)
                  (let ((location (source-location :method (cdr key))))
                    (and location
                         (equal (session-name session)
                                (getf (sbcl:definition-source-location-plist location) :swank-mcp)))))
      (some (lambda (kind)
              (let* ((key (cons kind (cdr key)))
                     (entry (gethash key (session-definitions session))))
                (and entry (still-so-p key entry))))
            (or (find (car key) *sibling-kinds* :test #'member) (list (car key))))))

(defun from-built-file-p (key)
  "True if what is there under KEY comes from a file of a system that was loaded through
us."
  #+sbcl
  (ignore-errors
   (destructuring-bind (kind . name) key
     (let ((file (if (member kind '(:function :macro :generic-function))
                     (function-file (or (and (symbolp name) (macro-function name))
                                        (fdefinition name)))
                     (location-file (source-location kind name)))))
       (and file (built-through-us-p file)))))
  #-sbcl (progn key nil))

(defun theirs-before (session key toplevel)
  "Of a form in TOPLEVEL that may define KEY: the definition of somebody else's that it
would replace, as KEPT-DEFINITION has it, or NIL."
  (unless *launched*
    (ignore-errors
     (let ((earlier (and toplevel (earlier-candidate session key toplevel))))
       (cond (earlier (candidate-theirs earlier))
             ((not (ours-p session key)) (kept-definition key)))))))

(defun earlier-candidate (session key toplevel)
  "One in the same TOPLEVEL, which may have replaced it before."
  (let ((place (place-of key)))
    (with-shared-table ((session-candidates session))
      (loop for candidate being the hash-values of (session-candidates session)
            when (and (eq toplevel (candidate-toplevel candidate))
                      (equal place (place-of (candidate-key candidate))))
              return candidate))))

(defun note-replaced (evaluation candidate)
  "CANDIDATE has defined something."
  (let ((theirs (candidate-theirs candidate)) (key (candidate-key candidate)))
    (when theirs
      (setf (gethash (place-of key) (session-theirs (evaluation-session evaluation))) theirs)
      ;; the system is the session's, though not what is in it
      (unless (candidate-builtp candidate)
        (pushnew (cons key (eq :left (first theirs))) (evaluation-replaced evaluation) :test #'equal)))))

(defun key-label (key)
  (destructuring-bind (kind . name) key
    (format nil "~(~A~) ~:[~A~;~{~A~{ ~A~} ~A~}~]" (substitute #\space #\- (symbol-name kind))
            (eq kind :method)
            (if (eq kind :method)
                (destructuring-bind (function qualifiers specializers) name
                  (list (name-text function) qualifiers (name-text specializers)))
                (name-text name)))))

(defun replaced-notes (evaluation)
  "What a reply says of definitions of somebody else's."
  (loop with replaced = (reverse (shiftf (evaluation-replaced evaluation) '()))
        for (leftp . text) in '((nil . "reset-session puts back what was there.")
                                (t . "What was there is gone: reset-session leaves the new one, and load-system or the file brings the old one."))
        for labels = (loop for (key . left) in replaced when (eq left leftp) collect (key-label key))
        when labels
          collect (format nil "Redefined, though this session had not defined ~:[it~;them~]: ~{~A~^, ~}~@[ and ~D more~]. ~A"
                          (rest labels) (first-few labels 20)
                          (and (> (length labels) 20) (- (length labels) 20)) text)))

;;; Putting back

(defun restore-place (place kept)
  "Make what KEPT tells the definition in PLACE again."
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

(defun put-back-theirs (session attempt)
  "Put back what SESSION has redefined.  (VALUES PLACES LEFT-KEYS): those that are done
with, and the keys of what stays as it is."
  (let ((done '()) (left '()) (theirs (session-theirs session)))
    (dolist (key (own-definitions session))
      (when (eq :left (first (gethash (place-of key) theirs)))
        (push key left)))
    (let ((own (mapcar #'place-of (own-definitions session))))
      (loop for place being the hash-keys of theirs using (hash-value kept)
            do (when (member place own :test #'equal) (push place done))
               (when (and (not (eq :left (first kept)))
                          (or (member place own :test #'equal)
                              (not (definedp (car place) (cdr place)))))
                 (let ((place place) (kept kept))
                   (funcall attempt (key-label place) (lambda () (restore-place place kept)))))))
    (values done left)))
