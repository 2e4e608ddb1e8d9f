;;;; warnings.lisp -- warnings recorded and muffled

(cl:in-package #:swank-mcp)

;;; SBCL signals each diagnostic before it prints or counts it, so a handler
;;; around the evaluation that muffles leaves no compiler noise behind.  Inside
;;; COMPILE-FILE nothing may be muffled: the muffled warning would not count as
;;; a failure, and ASDF would load a broken file without a word.

(defstruct (record (:constructor make-record (label text &optional kind name)) (:copier nil))
  "One warning as shown; KIND and NAME of what an \"undefined\" warning is about."
  label text kind name (count 1))

(defvar *max-warnings* 200)

(defun warning-label (condition)
  (cond ((typep condition 'error) "ERROR")
        ((typep condition 'style-warning)
         (if (implementation-package-p (symbol-package (class-name (class-of condition))))
             "STYLE-WARNING"
             (name-label (class-name (class-of condition)))))
        ((eq (condition-name condition) 'simple-warning) "WARNING")
        (t (type-label condition))))

(defun undefined-kind-and-name (condition)
  "(VALUES :FUNCTION 'FOO) for SBCL's warning that FOO is undefined."
  (let ((arguments (and (typep condition 'simple-condition)
                        (simple-condition-format-arguments condition))))
    (when (and (consp arguments)
               (member (first arguments) '(:function :variable))
               (consp (rest arguments))
               (null (cddr arguments)))
      (values (first arguments) (second arguments)))))

(defun redefinition-p (condition)
  #+sbcl (typep condition 'sb-kernel:redefinition-warning)
  #-sbcl (progn condition nil))

(defun assigned-at-toplevel-p (name form)
  "True of X in (SETF X 10): at a REPL this is how variables come to be."
  (and (consp form)
       (member (first form) '(setf setq))
       (ignore-errors (list-length form))
       (loop for place in (rest form) by #'cddr thereis (eq place name))))

(defun note-warning (condition form records)
  "RECORDS with a record of CONDITION, signalled while FORM was evaluated."
  (multiple-value-bind (kind name) (undefined-kind-and-name condition)
    (if (or (redefinition-p condition)
            (and (eq kind :variable) (assigned-at-toplevel-p name form)))
        records
        (add-record (make-record (warning-label condition)
                                 (format nil "~A~@[~A~]" (condition-text condition)
                                         (compile-place-text))
                                 kind name)
                    records))))

(defun compile-place-text ()
  "Where in the file that is being compiled, on a line of its own; else NIL."
  #+sbcl
  (when *compile-file-truename*
    (ignore-errors
     (let* ((context (sb-c::find-error-context nil))
            (position (and context (sb-c::compiler-error-context-file-position context))))
       (format nil "~%  in ~A~@[, line ~D~]~@[: ~A~]" (namestring *compile-file-truename*)
               (and position (line-in-file *compile-file-truename* position))
               (and context
                    (let ((source (sb-c::compiler-error-context-original-form context)))
                      (show-form source *package*)))))))
  #-sbcl nil)

(defun line-in-file (file position)
  (with-open-file (in file :external-format :latin-1)
    (1+ (loop repeat position
              for char = (read-char in nil)
              while char
              count (char= char #\newline)))))

(defun add-record (record records)
  (let ((same (find-if (lambda (other)
                         (and (string= (record-text other) (record-text record))
                              (string= (record-label other) (record-label record))))
                       records)))
    (cond (same (incf (record-count same))
                records)
          (t (cons record records)))))

(defun settled-p (record missing)
  "True when the warning has become wrong or is told anyway: the function is
defined by now, or its absence (MISSING is its name) is the error reported."
  (and (eq (record-kind record) :function)
       (or (equal (record-name record) missing)
           (ignore-errors (fboundp (record-name record))))))

(defun records-for-wire (records missing)
  "In order of appearance, as ((LABEL TEXT) ...)."
  (let* ((lasting (remove-if (lambda (record) (settled-p record missing)) (reverse records)))
         (shown (subseq lasting 0 (min *max-warnings* (length lasting))))
         (rest (- (length lasting) (length shown))))
    (append (mapcar (lambda (record)
                      (list (record-label record)
                            (format nil "~A~[~;~:;~:* (~D times)~]" (record-text record)
                                    (record-count record))))
                    shown)
            (when (plusp rest)
              (list (list "WARNING" (format nil "~D more warnings are not shown." rest)))))))

(defun call-recording-warnings (function current-form record)
  "Call FUNCTION; every warning goes to RECORD with the form that
CURRENT-FORM returns, and is muffled."
  (handler-bind
      ((warning (lambda (condition)
                  (funcall record condition (funcall current-form))
                  (unless *compile-file-truename*
                    (let ((muffle (find-restart 'muffle-warning condition)))
                      (when muffle (invoke-restart muffle))))))
       #+sbcl (sb-ext:compiler-note #'muffle-warning)
       #+sbcl (sb-c:compiler-error
                (lambda (condition)
                  (funcall record condition (funcall current-form))
                  ;; the form becomes a call that signals this error
                  (unless *compile-file-truename*
                    (let ((continue (find-restart 'continue condition)))
                      (when continue (invoke-restart continue)))))))
    (funcall function)))
