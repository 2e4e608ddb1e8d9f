;;;; notes.lisp -- what the compiler says, with file, line and column

(cl:in-package #:swank-mcp)

;;; SBCL knows the place of a diagnostic as the number of the top level form and
;;; the path to the subform in it.  Swank's source path parser makes a position
;;; of that by reading the form again; #. is not evaluated a second time.

(defstruct (collector (:copier nil))
  (notes '())                           ; the newest first
  (advised 0) (warned 0)                ; how many are notes of optimization, and not
  (more 0)                              ; how many were not kept
  (failedp nil)
  (texts '()))                          ; alist file to source, each read once

(defstruct (source (:constructor make-source (text)) (:conc-name src-) (:copier nil))
  text
  (starts nil)                          ; of the top level forms, a vector
  (number nil) form map)                ; of the form that was read last

(defvar *max-notes* 200
  "How many notes of optimization are kept, and how many of what is worse.")

(defun call-collecting-notes (collector function)
  "Call FUNCTION, which compiles files; what the compiler signals goes into
COLLECTOR."
  (let ((*notes* collector))
    #+sbcl
    (handler-bind
        ((sb-ext:compiler-note
           (lambda (condition) (collect-note collector "note" condition)))
         (sb-c:compiler-error
           (lambda (condition) (collect-note collector "error" condition)))
         (warning
           (lambda (condition)
             (unless (or (redefinition-p condition) (build-summary-p condition))
               (collect-note collector
                             (if (typep condition 'style-warning) "style-warning" "warning")
                             condition))
             (muffle condition))))
      (funcall function))
    #-sbcl
    (handler-bind ((warning (lambda (condition)
                              (collect-note collector "warning" condition)
                              (muffle condition))))
      (funcall function))))

(defun collect-note (collector severity condition)
  (when (string= severity "error") (setf (collector-failedp collector) t))
  (multiple-value-bind (file line column) (ignore-errors (note-place collector condition))
    (let ((note (list severity (if file (native-name file) "") (or line 0) (or column 0)
                      (note-text condition)
                      (or (and file line (source-line (source-of collector file) line)) ""))))
      (unless (member note (collector-notes collector) :test #'equal)
        (if (<= (if (string= severity "note")
                    (incf (collector-advised collector))
                    (incf (collector-warned collector)))
                *max-notes*)
            (push note (collector-notes collector))
            (incf (collector-more collector))))))
  #+sbcl
  (when (typep condition 'sb-ext:compiler-note)
    (muffle condition)))

(defun notes-for-wire (collector)
  "((SEVERITY FILE LINE COLUMN TEXT SOURCE-LINE) ...): what is worse comes first, of
that what has a place, in the order of the source."
  (flet ((keys (note)
           (destructuring-bind (severity file line column &rest rest) note
             (declare (ignore file rest))
             (list (position severity '("error" "warning" "style-warning" "note") :test #'string=)
                   (if (plusp line) 0 1)
                   line column))))
    (mapcar #'rest
            (stable-sort (mapcar (lambda (note) (cons (keys note) note))
                                 (reverse (collector-notes collector)))
                         #'lexicographically< :key #'first))))

(defun real-condition (condition)
  #+sbcl (if (typep condition 'sb-int:encapsulated-condition)
             (real-condition (sb-int:encapsulated-condition condition))
             condition)
  #-sbcl condition)

(defun note-text (condition)
  (let ((real (real-condition condition)))
    (clip (if (and (typep real 'end-of-file) (reading-error condition))
              "The text ends inside the form that begins here."
              (let ((text (without-stream-lines (compiler-text real))))
                (with-advice text (reader-advice text ""))))
          2000)))

(defun compiler-text (condition)
  "What CONDITION says, without #1= for types that occur twice in it."
  (let ((package *package*))
    (with-standard-io-syntax
      (let ((*package* package) (*print-readably* nil) (*print-right-margin* 1000)
            (*print-length* 20) (*print-level* 6)
            #+sbcl (sb-int:*print-condition-references* nil))
        (multiple-value-bind (kind name) (undefined-kind-and-name condition)
          (safely (if kind              ; SBCL always writes the package
                      (format nil "undefined ~(~A~): ~S" kind name)
                      (princ-to-string condition))))))))

;;; Places

(defun note-place (collector condition)
  "(VALUES FILE LINE COLUMN) of CONDITION, as far as they are known."
  #+sbcl
  (let ((context (sb-c::find-error-context nil)))
    (cond ((reading-error condition)
           (reading-place (reading-error condition)))
          ((and context (pathnamep (sb-c::compiler-error-context-file-name context)))
           (let* ((file (sb-c::compiler-error-context-file-name context))
                  (source (source-of collector file))
                  (path (reverse (sb-c::compiler-error-context-original-source-path context)))
                  (position (or (subform-position source path)
                                (form-position source (first path)))))
             (if position
                 (multiple-value-bind (line column)
                     (line-and-column (src-text source) position)
                   (values file line column))
                 file)))))
  #-sbcl (progn collector condition nil))

(defun reading-error (condition)
  "The error of the reader that CONDITION is or contains, which tells the place of
the one that it contains in turn; or NIL."
  #+sbcl
  (loop while (typep condition 'sb-int:encapsulated-condition)
        do (when (typep condition 'reader-error) (return condition))
           (setf condition (sb-int:encapsulated-condition condition)))
  #-sbcl (progn condition nil))

#+sbcl
(defun reading-place (condition)
  "The place of an error of the reader, which knows it best."
  (let* ((stream (stream-error-stream condition))
         (file (ignore-errors (pathname stream)))
         (text (report-text condition))
         (line (number-after "line: " text)) (column (number-after "column: " text)))
    (values file line (and column (1+ column)))))

(defun number-after (word text)
  (let ((at (search word text :test #'char-equal)))
    (and at (parse-integer text :start (+ at (length word)) :junk-allowed t))))

(defun source-of (collector file)
  (let ((key (native-name file)))
    (or (cdr (assoc key (collector-texts collector) :test #'string=))
        (let ((source (make-source (or (file-text file) ""))))
          (push (cons key source) (collector-texts collector))
          source))))

(defun source-line (source line)
  "The text of LINE, counted from 1."
  (let ((start 0) (text (src-text source)))
    (loop repeat (1- line)
          do (let ((newline (position #\newline text :start start)))
               (unless newline (return-from source-line ""))
               (setf start (1+ newline))))
    (string-right-trim '(#\return) (subseq text start (position #\newline text :start start)))))

(defun form-starts (source)
  "Where the top level forms begin.  Nothing is interned on the way."
  (or (src-starts source)
      (let ((starts (make-array 100 :adjustable t :fill-pointer 0))
            (text (src-text source)))
        (ignore-errors
         (with-input-from-string (in text)
           (let ((*read-suppress* t))
             (loop
               (let ((start (next-form-position text (file-position in))))
                 (when (>= start (length text)) (return))
                 (vector-push-extend start starts)
                 (read-preserving-whitespace in))))))
        (setf (src-starts source) starts))))

(defun form-position (source number)
  (let ((starts (form-starts source)))
    (and (< -1 number (length starts)) (aref starts number))))

#+sbcl
(defun subform-position (source path)
  "The position of the subform at PATH, (FORM-NUMBER INDEX ...), read in the current
package and readtable; NIL where reading it again does not tell."
  (let ((start (form-position source (first path))))
    (when start
      (unless (eql (first path) (src-number source))
        (with-input-from-string (in (src-text source))
          (file-position in start)
          (setf (src-number source) (first path)
                (values (src-form source) (src-map source))
                (let ((*read-eval* nil))
                  (swank/source-path-parser::read-and-record-source-map in)))))
      (let ((position (ignore-errors
                       (swank/source-path-parser:source-path-source-position
                        (cons 0 (rest path)) (src-form source) (src-map source)))))
        (and position (>= position start) position)))))

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
  (cond ((or (not *building*) (typep condition '(or error #+sbcl sb-c:compiler-error))) 0)
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
       (let ((context (sb-c::find-error-context nil)))
         (format nil "~%  in ~A~@[, line ~D~]~@[: ~A~]" (native-name file) (or line place)
                 (and context
                      (let ((source (sb-c::compiler-error-context-original-form context)))
                        (show-form source *package*))))))))
  #-sbcl (progn condition line nil))

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
         #+sbcl (sb-c:compiler-error
                  (lambda (condition)
                    (unless (captured-p)
                      (funcall record condition (funcall current-form)))
                    ;; the form becomes a call that signals this error
                    (unless (or *compile-file-truename* (captured-p))
                      (count-for-compile condition)
                      (let ((continue (find-restart 'continue condition)))
                        (when continue (invoke-restart continue)))))))
      (funcall function))))

;;; Whose file it is

(defun source-directory (name)
  "The directory of the system NAME's definition as a string, or NIL."
  (let* ((system (asdf-value "REGISTERED-SYSTEM" name))
         (directory (and system (asdf-value "SYSTEM-SOURCE-DIRECTORY" system))))
    (and directory (ignore-errors (native-name directory)))))

(defun foreign-system (file)
  "The name of the system that FILE is of, if that is in another directory than the one
that is being loaded; or NIL."
  (let ((own (and file *building* (source-directory (primary-name *building*))))
        (file (and file (native-name file)))
        (found nil) (length 0))
    (when own
      (dolist (name (asdf-value "REGISTERED-SYSTEMS"))
        (let ((directory (source-directory name)))
          (when (and directory
                     (eql 0 (search directory file))
                     (or (> (length directory) length)
                         (and (= (length directory) length)
                              (or (string= directory own) ; any system that shares ours
                                  (< (length name) (length found))))))
            (setf length (length directory)
                  found name))))
      (and found
           (string/= own (source-directory found))
           found))))
