;;;; suspended-frames.lisp -- the frames of a suspended evaluation and their variables

(cl:in-package #:swank-mcp)

(defun refusal (type control &rest arguments)
  "An outcome that says that nothing was done, and why."
  (list :error (for-wire (failure type (apply #'format nil control arguments)))))

(defparameter *inspection-limit* 2
  "How many seconds printing the values of a frame may take.")

(defun frame-variables (frame)
  "The user's variables in FRAME: a list of (SYMBOL . VALUE), and a list of the symbols of those
without a value at this point."
  (let ((location (sbcl:frame-code-location frame)) (with '()) (without '())
        (users (not (eql 0 (search "SYS:" (or (nth-value 1 (frame-source frame)) ""))))))
    (loop for variable across (coerce (or (sbcl:debug-fun-debug-vars (sbcl:frame-debug-fun frame)) #())
                                      'vector)
          for symbol = (sbcl:debug-var-symbol variable)
          ;; variables of macros have no package
          unless (or (null (symbol-package symbol)) (implementation-package-p (symbol-package symbol)))
            do (if (eq :valid (sbcl:debug-var-validity variable location))
                   (push (cons symbol (sbcl:debug-var-value variable frame)) with)
                   ;; the expansion of FORMAT, for one, has variables of its own
                   (when (and users (not (eq (symbol-package symbol)
                                             (find-package '#:common-lisp))))
                     (push symbol without))))
    (values (nreverse with)
            (set-difference (remove-duplicates (nreverse without)) (mapcar #'car with)))))

(defun frame-source (frame)
  "(VALUES FORM FILE CHANGEDP): the text of the form at which FRAME is, and its file, or NIL; true
if the file has changed since, in which case SBCL would find another form."
  (let* ((location (sbcl:frame-code-location frame))
         (source (ignore-errors (sbcl:code-location-debug-source location)))
         (file (and source (ignore-errors (sbcl:debug-source-namestring source))))
         (there (and file (ignore-errors (probe-file file))))
         (changedp (and there (not (as-compiled-p there source))))
         (form (and (not changedp)
                    (ignore-errors (sbcl:code-location-source-form location 0)))))
    (values (and form (source-text form)) file changedp)))

(defun source-text (form)
  (let ((*print-pretty* t) (*print-length* 30) (*print-level* 8) (*print-right-margin* 100)
        (*print-lines* nil) (*print-circle* nil) (*print-case* :downcase))
    (clip (safely (with-output-to-string (s) (write form :stream s :escape t))) 3000)))

(defun code-with-steps-p (debug-fun)
  "True if stepping can stop in the code of DEBUG-FUN, as in code compiled with DEBUG 3."
  (handler-case
      (sbcl:do-debug-fun-blocks (block debug-fun)
        (sbcl:do-debug-block-locations (location block)
          (when (string/= "" (sbcl:compiled-code-location-step-info location))
            (return-from code-with-steps-p t))))
    (sbcl:debug-condition () nil)))

(defun call-with-frame (suspended number function)
  "Call FUNCTION with the user frame NUMBER; return a refusal if there is none."
  (let* ((frames (debuggee-frames (evaluation-debuggee suspended)))
         (frame (nth number frames)))
    (cond (frame (funcall function frame))
          (frames (refusal "UNKNOWN-FRAME" "There is no frame ~D. Valid: 0~@[ to ~D~]." number
                           (and (rest frames) (1- (length frames)))))
          (t (refusal "UNKNOWN-FRAME" "There is no frame here: the form itself failed, outside of any function.")))))

(defun returnable-p (frame)
  (ignore-errors (and (sbcl:frame-has-debug-tag-p frame) t)))

;;; SBCL compiles callers for what a function is declared to return: one value where there are to be
;;; two leaves the stack pointer anywhere.

(defun declared-values (frame)
  "(VALUES TYPE NAME), where TYPE is what FRAME's function, which is called NAME, is declared to
return, such as (VALUES LIST &REST T); * if it is not declared."
  (or (ignore-errors
       (let ((name (sbcl:frame-call frame)))
         (and (sbcl:legal-fun-name-p name)
              (eq :declared (sbcl:info :function :where-from name))
              (let ((type (sbcl:type-specifier (sbcl:info :function :type name))))
                (return-from declared-values (values (third type) name))))))
      '*))

(defun values-of-type-p (values type)
  "True if VALUES, a list, are of TYPE, as DECLARED-VALUES gives it."
  (let ((place nil))
    (flet ((fits-p (value type)
             (handler-case (typep value type)
               (error () t))))          ; of a type that TYPEP does not test, as that of a function
      (dolist (type (cond ((eq type '*) '(&rest t))
                          ((typep type '(cons (eql values))) (rest type))
                          (t (list type)))
                    (null values))
        (cond ((member type '(&optional &rest)) (setf place type))
              ((eq place '&rest) (return (every (lambda (value) (fits-p value type)) values)))
              ((null values) (return (eq place '&optional)))
              ((not (fits-p (pop values) type)) (return nil)))))))
