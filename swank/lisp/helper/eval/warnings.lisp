;;;; warnings.lisp -- warnings recorded and muffled

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

(defun warning-label (condition)
  (cond ((typep condition '(or error #+sbcl sbcl:compiler-error)) "ERROR")
        ((typep condition 'style-warning)
         (if (implementation-package-p (symbol-package (class-name (class-of condition))))
             "STYLE-WARNING"
             (name-label (class-name (class-of condition)))))
        ((eq (condition-name condition) 'simple-warning) "WARNING")
        (t (type-label condition))))

(defun assigned-at-toplevel-p (name form)
  "True of X in (SETF X 10): at a REPL this is how variables come to be."
  (and (consp form)
       (member (first form) '(setf setq))
       (ignore-errors (list-length form))
       (loop for place in (rest form) by #'cddr thereis (eq place name))))

(defun note-warning (condition form records)
  "RECORDS with a record of CONDITION, signalled while FORM was evaluated."
  (multiple-value-bind (kind name) (undefined-kind-and-name condition)
    (cond
      ((or *notes*                      ; told with the compiler's notes
           (redefinition-p condition)
           (build-summary-p condition)
           (and (eq kind :variable) (assigned-at-toplevel-p name form)))
       records)
      ;; so are a library's
      ((let ((system (and *building* (typep condition 'style-warning)
                          (foreign-system (compile-place condition)))))
         (and system
              (add-record (make-record "" system :elsewhere system) records))))
      ;; a flood is only counted, in the first record of the list
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
                                           (compile-place-text condition (line-told text))))
                                 kind name (warning-rank condition))
                    records)))))

(defun warning-rank (condition)
  "While a system is loaded, what breaks it comes first, and then what is its own."
  (cond ((or (not *building*) (typep condition '(or error #+sbcl sbcl:compiler-error))) 0)
        ((foreign-system (compile-place condition)) 2)
        ((typep condition 'style-warning) 1)
        (t 0)))

(defvar *places* nil
  "What knows the texts of the files that the current evaluation compiles, or NIL.")

(defun compile-place (condition)
  "(VALUES FILE LINE) of the form in a file that CONDITION is about, as far as they are
known; NIL outside of files.  When all files of a system are compiled, the compiler
still knows who has called what is not defined."
  #+sbcl
  (multiple-value-bind (file line)
      (ignore-errors
       (note-place (or *places* (setf *places* (make-collector))) condition))
    (if (pathnamep file) (values file line) *compile-file-truename*))
  #-sbcl (progn condition nil))

(defun compile-place-text (condition line)
  "Where in the file that is being compiled CONDITION is met: the line of the form
that is shown, which may be deep in a top level form; NIL outside of one.  LINE is
what the reader told, or NIL."
  #+sbcl
  (multiple-value-bind (file place) (compile-place condition)
    (when file
      (ignore-errors
       (let ((context (sbcl:find-error-context nil)))
         (format nil "~%  in ~A~@[, line ~D~]~@[: ~A~]" (native-name file) (or line place)
                 (and context
                      (let ((source (sbcl:compiler-error-context-original-form context)))
                        (show-form source *package*))))))))
  #-sbcl (progn condition line nil))

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
  (when (and (boundp 'sbcl:*failure-p*) (boundp 'sbcl:*warnings-p*))
    (setf sbcl:*warnings-p* t)
    (unless (typep condition '(or style-warning sb-ext:compiler-note))
      (setf sbcl:*failure-p* t)))
  #-sbcl condition)

(defun call-recording-warnings (function current-form record)
  "Call FUNCTION; every warning goes to RECORD with the form that
CURRENT-FORM returns, and is muffled."
  (let ((*places* nil))
    (handler-bind
        ((warning (lambda (condition)
                    ;; (SIGNAL 'WARNING), without a restart, warns nobody
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
