;;;; warnings.lisp -- warnings are recorded and muffled

(cl:in-package #:swank-mcp)

;;; SBCL signals each diagnostic before it prints or counts it.  So a handler around the
;;; evaluation that muffles them keeps the compiler quiet.  Inside COMPILE-FILE nothing may be
;;; muffled: a muffled warning does not count as a failure, and ASDF would load a broken file.

(defstruct (record (:constructor make-record (label text &optional kind name place system))
                   (:copier nil))
  "A warning as shown, with the KIND and NAME of an undefined function or variable.  PLACE is (FILE
LINE COLUMN SOURCE-LINE), where FILE is \"\" for the code of the evaluation, or NIL.  SYSTEM is the
name of a system that is not of the project, whose file it is about, or NIL."
  label text kind name place system (count 1))

(defvar *max-warnings* 200)

(defun warning-label (condition)
  (cond ((typep condition '(or error #+sbcl sbcl:compiler-error)) "ERROR")
        #+sbcl ((typep condition 'sb-ext:compiler-note) "NOTE")
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
    (if (or *notes*                     ; these are in the report of the compiler's notes
            (redefinition-p condition)
            (build-summary-p condition)
            (and (eq kind :variable) (assigned-at-toplevel-p name form))
            (and (optimization-note-p condition)
                 (foreign-file-system (and *compile-file-truename*
                                           (native-name *compile-file-truename*)))))
        records
        (let* ((place #+sbcl (diagnostic-place condition) #-sbcl nil)
               (system (foreign-file-system (first place)))
               (class (cond (system :foreign) ((optimization-note-p condition) :note))))
          (if (>= (count class records :key #'record-class) *max-warnings*)
              (with-one-more records)
              (add-record (make-record (warning-label condition)
                                       (if (typep (real-condition condition) 'end-of-file)
                                           (note-text condition)
                                           (clip (without-stream-lines (condition-text condition))
                                                 2000))
                                       kind name place system)
                          records))))))

(defun optimization-note-p (condition)
  #+sbcl (typep condition 'sb-ext:compiler-note)
  #-sbcl (progn condition nil))

(defun record-class (record)
  "What RECORD is counted as: of each class there are at most *MAX-WARNINGS*."
  (cond ((integerp (record-kind record)) :more)
        ((record-system record) :foreign)
        ((string= (record-label record) "NOTE") :note)))

(defun with-one-more (records)
  "RECORDS, the first of which counts those that are not kept."
  (cond ((and records (integerp (record-kind (first records))))
         (incf (record-kind (first records)))
         records)
        (t (cons (make-record "" "" 1) records))))

(defvar *file-systems* nil
  "What FOREIGN-SYSTEM says of files while the current evaluation compiles them, an alist.")

(defun foreign-file-system (file)
  (and file
       (string/= file "")
       (cdr (or (assoc file *file-systems* :test #'string=)
                (first (push (cons file (foreign-system file)) *file-systems*))))))

(defvar *places* nil
  "A COLLECTOR with the texts of the files that the current evaluation compiles, or NIL.")

#+sbcl
(defun diagnostic-place (condition)
  "(FILE LINE COLUMN SOURCE-LINE) of the form that CONDITION is about, as far as known, or NIL; see
RECORD.  After all files of a system the compiler still knows the callers of undefined functions."
  (let ((collector (or *places* (setf *places* (make-collector)))))
    (multiple-value-bind (file line column) (ignore-errors (note-place collector condition))
      (let ((file (if (pathnamep file) file *compile-file-truename*)))
        (if file
            (list (native-name file) (or line 0) (or column 0)
                  (or (ignore-errors (source-line (source-of collector file) line)) ""))
            (multiple-value-bind (line column text) (ignore-errors (evaluated-place condition))
              (and line (list "" line column text))))))))

(defun add-record (record records)
  (when (and records (integerp (record-kind (first records))))
    (return-from add-record
      (cons (first records) (add-record record (rest records)))))
  (let ((same (find-if (lambda (other)
                         (and (string= (record-text other) (record-text record))
                              (string= (record-label other) (record-label record))
                              (equal (record-place other) (record-place record))))
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
  "((LABEL TEXT FILE LINE COLUMN SOURCE-LINE SYSTEM) ...) in order of appearance; without a place,
(LABEL TEXT)."
  (let ((rest (if (and records (integerp (record-kind (first records))))
                  (record-kind (pop records))
                  0))
        (shown (remove-if (lambda (record) (outdated-warning-p record missing))
                          (reverse records))))
    (append (mapcar (lambda (record)
                      (list* (record-label record)
                             (format nil "~A~[~;~:;~:* (~D times)~]" (record-text record)
                                     ;; the compiler signals an error more than once
                                     (if (string= (record-label record) "ERROR")
                                         1
                                         (record-count record)))
                             (and (record-place record)
                                  (append (record-place record)
                                          (list (or (record-system record) ""))))))
                    shown)
            (when (plusp rest)
              (list (list "" (format nil "; ~D more were not kept" rest)))))))

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
  (let ((*places* nil) (*file-systems* '()))
    (handler-bind
        ((warning (lambda (condition)
                    ;; (SIGNAL 'WARNING), which has no restart, is no warning
                    (let ((muffle (find-restart 'muffle-warning condition)))
                      (when (and (or muffle *compile-file-truename*) (not (captured-p)))
                        (funcall record condition (funcall current-form)))
                      (when (and muffle (not *compile-file-truename*) (not (captured-p)))
                        (count-for-compile condition)
                        (invoke-restart muffle)))))
         #+sbcl (sb-ext:compiler-note
                  (lambda (condition)
                    (when (and *building* (not (captured-p)))
                      (funcall record condition (funcall current-form)))
                    (muffle condition)))
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
