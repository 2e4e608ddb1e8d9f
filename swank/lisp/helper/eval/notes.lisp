;;;; notes.lisp -- the compiler's diagnostics, with file, line and column

(cl:in-package #:swank-mcp)

;;; SBCL gives the place of a diagnostic as the number of a top level form and a path in it.
;;; Swank's source path parser turns them into a position by reading the form again.  It does not
;;; evaluate #. a second time.  In evaluated code the form itself is found in the one that was
;;; read.

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
  "How many notes of optimization are kept, and how many errors and warnings.")

(defun call-collecting-notes (collector function)
  "Call FUNCTION, which compiles files; put the compiler's diagnostics into COLLECTOR."
  (let ((*notes* collector))
    #+sbcl
    (handler-bind
        ((sb-ext:compiler-note
           (lambda (condition) (collect-note collector "note" condition)))
         (sbcl:compiler-error
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
  "((SEVERITY FILE LINE COLUMN TEXT SOURCE-LINE) ...) by severity, then those that have a place,
in the order of the source."
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
  #+sbcl (if (typep condition 'sbcl:encapsulated-condition)
             (real-condition (sbcl:encapsulated-condition condition))
             condition)
  #-sbcl condition)

(defparameter *end-in-form-text* "The text ends inside the form that begins here.")

(defun note-text (condition)
  (let ((real (real-condition condition)))
    (clip (if (and (typep real 'end-of-file) (reading-error condition))
              *end-in-form-text*
              (let ((text (without-stream-lines (compiler-text real))))
                (with-advice text (reader-advice text ""))))
          2000)))

(defun compiler-text (condition)
  "The report of CONDITION, without #1= for types that occur twice in it."
  (let ((package *package*))
    (with-standard-io-syntax
      (let ((*package* package) (*print-readably* nil) (*print-right-margin* 1000)
            (*print-length* 20) (*print-level* 6)
            #+sbcl (sbcl:*print-condition-references* nil))
        (multiple-value-bind (kind name) (undefined-kind-and-name condition)
          (safely (if kind              ; SBCL always writes the package
                      (format nil "undefined ~(~A~): ~S" kind name)
                      (princ-to-string condition))))))))

;;; Places

#+sbcl
(defun note-place (collector condition)
  "(VALUES FILE LINE COLUMN) of CONDITION, as far as known."
  (let ((context (sbcl:find-error-context nil)))
    (cond ((reading-error condition)
           (reading-place (reading-error condition)))
          ((and context (pathnamep (sbcl:compiler-error-context-file-name context)))
           (let* ((file (sbcl:compiler-error-context-file-name context))
                  (source (source-of collector file))
                  (path (reverse (sbcl:compiler-error-context-original-source-path context)))
                  (position (or (subform-position source path)
                                (form-position source (first path)))))
             (if position
                 (multiple-value-bind (line column)
                     (line-and-column (src-text source)
                                      (variable-position condition (src-text source) position))
                   (values file line column))
                 file))))))

#+sbcl
(defun evaluated-place (condition)
  "(VALUES LINE COLUMN SOURCE-LINE) of CONDITION in the code of the evaluation, as far as known."
  (let* ((context (sbcl:find-error-context nil))
         (evaluation *evaluation*)
         (code (and evaluation (evaluation-code evaluation))))
    (when (and context *toplevel* (stringp code)
               ;; one short line is its own place
               (or (> (length code) 100) (find #\newline code))
               (not (evaluation-work evaluation)) (not (evaluation-system evaluation)))
      (let ((path (path-to (sbcl:compiler-error-context-original-form context)
                           (toplevel-form *toplevel*)))
            (start (evaluation-start evaluation)))
        (let* ((source (make-source (subseq code start)))
               (position (variable-position
                          condition code
                          ;; a macro's form may have been replaced by its expansion
                          (+ start (or (and path (subform-position source path)) 0)))))
          (multiple-value-bind (line column) (line-and-column code position)
            (values line column (source-line (make-source code) line))))))))

(defun path-to (part form)
  "(0 INDEX ...), the way to the cons PART in FORM, for SUBFORM-POSITION; NIL if it is not there."
  (let ((left 10000))                   ; a form may be circular
    (labels ((visit (form path)
               (when (eq form part) (return-from path-to (reverse path)))
               (loop for rest = form then (cdr rest)
                     for index from 0
                     while (and (consp rest) (plusp (decf left)))
                     do (when (consp (car rest)) (visit (car rest) (cons index path))))))
      (when (and (consp part) (consp form)) (visit form '(0)))
      nil)))

(defun variable-position (condition text position)
  "Where in TEXT, from POSITION on, the variable that CONDITION is about first stands: SBCL knows
places of lists only.  Without one, POSITION."
  (let ((name (variable-of condition)))
    (or (and name
             (let ((found (token-position text position name)))
               (and (not (eql found (1+ position))) ; the binding (NAME VALUE)
                    found)))
        position)))

(defun variable-of (condition)
  "The name of the variable that CONDITION says is undefined or not used, or NIL."
  (multiple-value-bind (kind name) (undefined-kind-and-name condition)
    (cond ((eq kind :variable) (symbol-name name))
          ((typep condition '(and style-warning simple-condition))
           (let ((control (simple-condition-format-control condition))
                 (name (first (simple-condition-format-arguments condition))))
             (and (stringp control)
                  (search "never used" control)
                  (symbolp name)
                  (symbol-name name)))))))

(defun token-position (text start name)
  "Where the first token called NAME stands in TEXT, at most 20,000 characters behind START."
  (loop with end = (min (length text) (+ start 20000))
        for at = (next-datum-position text start)
        while (and at (< at end))
        do (case (char text at)
             ((#\( #\) #\' #\` #\,) (setf start (1+ at)))
             (#\" (setf start (nth-value 2 (scan-string text at))))
             (#\# (setf start (if (eql (mismatch "#\\" text :start2 at) 2)
                                 (token-end text (min (+ at 2) (length text)))
                                 (1+ at))))
             (t (multiple-value-bind (token begin behind) (scan-token text at)
                  (declare (ignore begin))
                  (when (token-name= token name) (return at))
                  (setf start behind))))))

(defun reading-error (condition)
  "The error of the reader that CONDITION is or contains, or NIL.  Its text has the place."
  #+sbcl
  (loop while (typep condition 'sbcl:encapsulated-condition)
        do (when (typep condition 'reader-error) (return condition))
           (setf condition (sbcl:encapsulated-condition condition)))
  #-sbcl (progn condition nil))

#+sbcl
(defun reading-place (condition)
  "(VALUES FILE LINE COLUMN) of CONDITION, an error of the reader, from its own text."
  (let* ((stream (stream-error-stream condition))
         (file (ignore-errors (pathname stream)))
         (text (report-text condition))
         (line (number-after "line: " text)) (column (number-after "column: " text)))
    (values file line (and column (1+ column)))))

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
  "A vector of the positions of the top level forms.  Nothing is interned to find them."
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
  "The position of the subform at PATH, (FORM-NUMBER INDEX ...), found by reading the form in the
current package and readtable; NIL if that fails."
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
