;;;; warnings.lisp -- warnings recorded and muffled
;;;;
;;;; The folder eval/ evaluates code: what is around it, what is told of errors and
;;;; warnings, how it is stopped, suspended, debugged and brought back.  It uses all the folders
;;;; before it.  Begin with evaluate.lisp (an evaluation as a whole) and perform.lisp (the
;;;; user's part of it); the files before these two are what they stand on.

(cl:in-package #:swank-mcp)

;;; SBCL signals each diagnostic before it prints or counts it, so a handler
;;; around the evaluation that muffles leaves no compiler noise behind.  Inside
;;; COMPILE-FILE nothing may be muffled: the muffled warning would not count as
;;; a failure, and ASDF would load a broken file without a word.

(defstruct (record (:constructor make-record (label text &optional kind name (rank 0)))
                   (:copier nil))
  "One warning as shown; KIND and NAME of what an \"undefined\" warning is about.
Of kind :ELSEWHERE it stands for the style warnings of the system NAME."
  label text kind name rank (count 1))

(defvar *max-warnings* 200)

(defvar *building* nil
  "The name of the system that is being loaded.")

(defvar *notes* nil
  "What collects the compiler's diagnostics in place of [warnings]; see notes.lisp.")

(defun warning-label (condition)
  (cond ((typep condition '(or error #+sbcl sb-c:compiler-error)) "ERROR")
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

(defun build-summary-p (condition)
  "True of ASDF's warnings that a file had warnings, which have been told."
  (let* ((name (class-name (class-of condition))) (home (symbol-package name)))
    (and home
         (eql 0 (search "UIOP" (package-name home)))
         (eql 0 (search "COMPILE-" (symbol-name name))))))

(defun assigned-at-toplevel-p (name form)
  "True of X in (SETF X 10): at a REPL this is how variables come to be."
  (and (consp form)
       (member (first form) '(setf setq))
       (ignore-errors (list-length form))
       (loop for place in (rest form) by #'cddr thereis (eq place name))))

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
  "In order of appearance, of a system in that of their weight, as ((LABEL TEXT) ...)."
  (let* ((rest (if (and records (integerp (record-kind (first records))))
                   (record-kind (pop records))
                   0))
         (elsewhere (remove :elsewhere records :key #'record-kind :test-not #'eq))
         (shown (remove-if (lambda (record) (settled-p record missing))
                           (reverse (remove :elsewhere records :key #'record-kind)))))
    (append (mapcar (lambda (record)
                      (list (record-label record)
                            (format nil "~A~[~;~:;~:* (~D times)~]" (record-text record)
                                    ;; the compiler tells an error more than once
                                    (if (string= (record-label record) "ERROR")
                                        1
                                        (record-count record)))))
                    (stable-sort shown #'< :key #'record-rank))
            (when (plusp rest)
              (list (list "WARNING" (format nil "~D more warnings are not shown." rest))))
            (when elsewhere (list (elsewhere-line elsewhere))))))

(defun elsewhere-line (records)
  "The style warnings of other systems than the one that was to be loaded, in one line."
  (let ((records (sort (copy-list records) #'> :key #'record-count)))
    (list "STYLE-WARNING"
          (format nil "~D more in other systems: ~{~A (~D)~^, ~}~@[ and others~]. To see one's: ~
                       load-system {\"system\": ~S, \"force\": true}"
                  (reduce #'+ records :key #'record-count)
                  (loop for record in records
                        repeat 8
                        collect (record-name record) collect (record-count record))
                  (nthcdr 8 records)
                  (record-name (first records))))))

(defun count-for-compile (condition)
  "Tell a call of COMPILE in the user's code of CONDITION, for its second and third
value: the compiler does not count what is muffled."
  #+sbcl
  (when (and (boundp 'sb-c::*failure-p*) (boundp 'sb-c::*warnings-p*))
    (setf sb-c::*warnings-p* t)
    (unless (typep condition '(or style-warning sb-ext:compiler-note))
      (setf sb-c::*failure-p* t)))
  #-sbcl condition)
