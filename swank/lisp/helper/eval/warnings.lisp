;;;; warnings.lisp -- warnings are recorded and muffled

(cl:in-package #:swank-mcp)

;;; SBCL signals each diagnostic before it prints or counts it.  So a handler around the
;;; evaluation that muffles them keeps the compiler quiet.  Inside COMPILE-FILE nothing may be
;;; muffled: a muffled warning does not count as a failure, and ASDF would load a broken file.

(defstruct (record (:constructor make-record (label text &optional kind name (rank 0)))
                   (:copier nil))
  "A warning as shown, with the KIND and NAME of an undefined function or variable.  One of kind
:ELSEWHERE stands for all style warnings of the system NAME."
  label text kind name rank (count 1))

(defvar *max-warnings* 200)

(defun warning-label (condition)
  (cond ((typep condition '(or error #+sbcl sbcl:compiler-error)) "ERROR")
        ((typep condition 'style-warning)
         (if (implementation-package-p (symbol-package (class-name (class-of condition))))
             "STYLE-WARNING"
             (name-label (class-name (class-of condition)))))
        ((eq (condition-name condition) 'simple-warning) "WARNING")
        (t (type-label condition))))

(defun assigned-at-toplevel-p (name form)
  "True if FORM assigns the variable NAME, as (SETF X 10) does X: at a REPL that creates it."
  (and (consp form)
       (member (first form) '(setf setq))
       (ignore-errors (list-length form))
       (loop for place in (rest form) by #'cddr thereis (eq place name))))

(defun note-warning (condition form records)
  "RECORDS and a record of CONDITION, signalled while FORM was evaluated."
  (multiple-value-bind (kind name) (undefined-kind-and-name condition)
    (when kind (note-missing kind name))
    (cond
      ((or *notes*                      ; these are in the report of the compiler's notes
           (redefinition-p condition)
           (build-summary-p condition)
           (and (eq kind :variable) (assigned-at-toplevel-p name form)))
       records)
      ;; style warnings of other systems are only counted
      ((let ((system (and *building* (typep condition 'style-warning)
                          (foreign-system (compile-place condition)))))
         (and system
              (add-record (make-record "" system :elsewhere system) records))))
      ;; too many are only counted, in the first record of the list
      ((and records (integerp (record-kind (first records))))
       (incf (record-kind (first records)))
       records)
      ((>= (length records) *max-warnings*)
       (cons (make-record "" "" 1) records))
      (t
        (add-record (make-record (warning-label condition)
                                 (let ((text (condition-text condition)))
                                   (format nil "~A~@[~A~]"
                                           (clip (without-stream-lines text) 2000)
                                           (compile-place-text condition
                                                               (number-after " line: " text))))
                                 kind name (warning-rank condition))
                    records)))))

(defun warning-rank (condition)
  "The order of a warning while a system is loaded: its errors and warnings first, then its style
warnings, then those of other systems."
  (cond ((or (not *building*) (typep condition '(or error #+sbcl sbcl:compiler-error))) 0)
        ((foreign-system (compile-place condition)) 2)
        ((typep condition 'style-warning) 1)
        (t 0)))

(defvar *places* nil
  "A COLLECTOR with the texts of the files that the current evaluation compiles, or NIL.")

#+sbcl
(defun compile-place (condition)
  "(VALUES FILE LINE) of the form that CONDITION is about, as far as known; NIL outside of files.
After all files of a system the compiler still knows the callers of undefined functions."
  (multiple-value-bind (file line)
      (ignore-errors
       (note-place (or *places* (setf *places* (make-collector))) condition))
    (if (pathnamep file) (values file line) *compile-file-truename*)))

#+sbcl
(defun compile-place-text (condition line)
  "Where CONDITION is signalled in the file being compiled, in words: the line, and the form, which
may be deep in a top level form.  NIL outside of files.  LINE is from the reader's message."
  (multiple-value-bind (file place) (compile-place condition)
    (when file
      (ignore-errors
       (let ((context (sbcl:find-error-context nil)))
         (format nil "~%  in ~A~@[, line ~D~]~@[: ~A~]" (native-name file) (or line place)
                 (and context
                      (let ((source (sbcl:compiler-error-context-original-form context)))
                        (show-form source *package*)))))))))

(defun add-record (record records)
  (let ((same (find-if (lambda (other)
                         (and (string= (record-text other) (record-text record))
                              (string= (record-label other) (record-label record))))
                       records)))
    (cond (same (incf (record-count same))
                records)
          (t (cons record records)))))

(defun outdated-warning-p (record missing)
  "True if the warning need not be shown: the function is defined now, or it is MISSING, which the
reported error names."
  (and (eq (record-kind record) :function)
       (or (equal (record-name record) missing)
           (ignore-errors (fboundp (record-name record))))))

(defun records-for-wire (records missing)
  "((LABEL TEXT) ...) in order of appearance; while a system is loaded, by rank."
  (let* ((rest (if (and records (integerp (record-kind (first records))))
                   (record-kind (pop records))
                   0))
         (elsewhere (remove :elsewhere records :key #'record-kind :test-not #'eq))
         (shown (remove-if (lambda (record) (outdated-warning-p record missing))
                           (reverse (remove :elsewhere records :key #'record-kind)))))
    (append (mapcar (lambda (record)
                      (list (record-label record)
                            (format nil "~A~[~;~:;~:* (~D times)~]" (record-text record)
                                    ;; the compiler signals an error more than once
                                    (if (string= (record-label record) "ERROR")
                                        1
                                        (record-count record)))))
                    (stable-sort shown #'< :key #'record-rank))
            (when (plusp rest)
              (list (list "WARNING" (format nil "~D more warnings are not shown." rest))))
            (when elsewhere (list (elsewhere-line elsewhere))))))

(defun elsewhere-line (records)
  "One line for the style warnings of other systems than the one that was loaded."
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
  "Count CONDITION for the second and third value of a COMPILE in the user's code: the compiler
does not count what is muffled."
  #+sbcl
  (when (and (boundp 'sbcl:*failure-p*) (boundp 'sbcl:*warnings-p*))
    (setf sbcl:*warnings-p* t)
    (unless (typep condition '(or style-warning sb-ext:compiler-note))
      (setf sbcl:*failure-p* t)))
  #-sbcl condition)

(defun call-recording-warnings (function current-form record)
  "Call FUNCTION; call RECORD with every warning and the form that CURRENT-FORM returns, and muffle
it."
  (let ((*places* nil))
    (handler-bind
        ((warning (lambda (condition)
                    ;; (SIGNAL 'WARNING), which has no restart, is no warning
                    (let ((muffle (find-restart 'muffle-warning condition)))
                      (when (and (or muffle *compile-file-truename*) (not (captured-p)))
                        (funcall record condition (funcall current-form)))
                      (when (and muffle (not *compile-file-truename*) (not (captured-p)))
                        (count-for-compile condition)
                        (invoke-restart muffle)))))
         #+sbcl (sb-ext:compiler-note #'muffle)
         #+sbcl (sbcl:compiler-error
                  (lambda (condition)
                    (unless (captured-p)
                      (funcall record condition (funcall current-form)))
                    ;; the form becomes a call that signals this error
                    (unless (or *compile-file-truename* (captured-p))
                      (count-for-compile condition)
                      (let ((continue (find-restart 'continue condition)))
                        (when continue (invoke-restart continue)))))))
      (funcall function))))
