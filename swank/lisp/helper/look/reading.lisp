;;;; reading.lisp -- how a file reads a form at a place, and a definition written for that

(cl:in-package #:swank-mcp)

;;; A file may set the readtable, its case, the base of integers or the format of floats for what
;;; follows.  The same text is then another form there.  So a definition that was evaluated in
;;; another syntax, or goes to such a place, is read back as the file reads it.

(defparameter *reading-operators*
  '("SETF" "SETQ" "SET-MACRO-CHARACTER" "SET-DISPATCH-MACRO-CHARACTER"
    "MAKE-DISPATCH-MACRO-CHARACTER" "SET-SYNTAX-FROM-CHAR" "IN-READTABLE")
  "Operators of forms that are evaluated if they name one of *READING-NAMES*.")

(defparameter *reading-names*
  (append (cddr *reading-operators*)
          '("*READTABLE*" "READTABLE-CASE" "*READ-BASE*" "*READ-DEFAULT-FLOAT-FORMAT*"))
  "What sets how the reader reads.")

(defstruct (reading (:copier nil))
  "How a text is read from the position FROM on: with SYNTAX, or in a way that is not known because
of the form at UNKNOWN."
  from syntax unknown)

(defun names-reading-p (datum)
  (if (consp datum)
      (some #'names-reading-p datum)
      (some (lambda (name) (token-name= datum name)) *reading-names*)))

(defun sets-reading (form)
  "T if FORM, scanned, is to be evaluated to know how what follows is read; :UNKNOWN if it may set
that and does more; or NIL."
  (let ((operator (and (consp form) (or (token-name (first form)) ""))))
    (flet ((calledp (&rest parts) (some (lambda (part) (search part operator)) parts)))
      (cond ((or (null operator) (starts-with "DEF" operator)) nil)
            ((member operator *reading-operators* :test #'string=)
             (names-reading-p form))
            ((and (calledp "READTABLE" "SYNTAX") (notany #'consp (rest form))) t)
            ;; a binding ends with its form
            ((and (starts-with "LET" operator) (names-reading-p (second form))) nil)
            ;; what a macro makes of it, such as a test, is its own
            ((and (names-reading-p (rest form)) (find-symbol operator '#:common-lisp)) :unknown)))))

(defun odd-syntax-p (session syntax)
  (and syntax (call-reading-as syntax (lambda () (not (plain-reading-p session))))))

;;; COMPILE-FILE evaluates what an EVAL-WHEN says and what a macro such as IN-READTABLE expands to,
;;; LOAD everything.

(defun read-part (text begin end)
  (let ((*read-eval* nil)) (values (read-from-string text t nil :start begin :end end))))

(defun compile-time-p (situations)
  "True if SITUATIONS, scanned, have an EVAL-WHEN evaluate its forms while a file is compiled."
  (and (consp situations)
       (some (lambda (situation)
               (or (token-name= situation "COMPILE-TOPLEVEL") (token-name= situation "COMPILE")))
             situations)))

(defun sets-only-reading-p (form)
  "True if evaluating FORM, which SETS-READING has picked, calls no code of the file's but what its name
says to set how the reader reads: a look-up must not do more."
  (flet ((operatorp (names) (member (first form) names :test #'string=))
         (arguments-p () (every #'sets-only-reading-p (rest form))))
    (cond ((atom form) t)
          ((not (symbolp (first form))) nil)
          ((operatorp '("QUOTE" "FUNCTION" "LAMBDA")) t)
          ((operatorp '("SETF" "SETQ"))
           (and (arguments-p)
                (loop for (place) on (rest form) by #'cddr
                      always (member (if (consp place) (first place) place) *reading-names*
                                     :test #'string=))))
          ((operatorp *reading-operators*) (arguments-p))
          ((operatorp '("READTABLE-CASE" "COPY-READTABLE" "FIND-READTABLE" "GET-MACRO-CHARACTER"
                        "GET-DISPATCH-MACRO-CHARACTER"))
           (arguments-p))
          (t (notany #'consp (rest form))))))

(defun set-reading (form)
  (unless (sets-only-reading-p form) (error "it does more than to set how the reader reads"))
  (eval form))

(defun map-reading-forms (function text loadp)
  "Call FUNCTION with :PACKAGE, :SET or :UNKNOWN, and begin and end, for each form of TEXT that enters
a package, is to be evaluated to know how what follows is read, or leaves that unknown."
  (labels ((parts (begin end number activep)
             (loop for (form from . to) in (nthcdr number (child-spans text begin end))
                   do (visit form from to activep)))
           (user-macro-call-p (begin end)
             (let ((form (ignore-errors (read-part text begin end))))
               (and (consp form) (user-macro-p (first form)))))
           (visit (form begin end activep)
             (let ((operator (and (consp form) (token-name (first form)))))
               (cond ((equal operator "PROGN") (parts begin end 1 activep))
                     ((equal operator "EVAL-WHEN")
                      (parts begin end 2 (or loadp (compile-time-p (second form)))))
                     ((equal operator "IN-PACKAGE") (funcall function :package begin end))
                     (t (case (sets-reading form)
                          ((nil))
                          (:unknown (when activep (funcall function :unknown begin end)))
                          (t (when (or activep (user-macro-call-p begin end))
                               (funcall function :set begin end)))))))))
    (let ((at 0))
      (loop
        (multiple-value-bind (form begin end) (scan-datum text at)
          (cond (begin (visit form begin end loadp))
                ((>= end (length text)) (return)))
          (setf at (if begin end (1+ end))))))))

(defun text-readings (session text loadp)
  "The READINGs of TEXT, a file's, in order: as COMPILE-FILE reads it, or if LOADP as LOAD does."
  (let ((readings '()) (*package* (user-package)))
    (flet ((note (at &optional unknown)
             (push (make-reading :from at :syntax (current-reading) :unknown unknown) readings)))
      (call-reading-as
       (standard-reading session)
       (lambda ()
         (note 0)
         (map-reading-forms
          (lambda (what begin end)
            (ecase what
              (:package
               (let ((package (ignore-errors (find-package (second (read-part text begin end))))))
                 (when package (setf *package* package))))
              (:set
               (setf *readtable* (copy-readtable *readtable*))
               (note end (handler-case (progn (set-reading (read-part text begin end)) nil)
                           (error () begin))))
              (:unknown (note end begin))))
          text loadp))))
    (nreverse readings)))

(defun reading-at (readings at)
  (find-if (lambda (reading) (<= (reading-from reading) at)) readings :from-end t))

(defun odd-reading-p (session reading)
  (or (reading-unknown reading) (odd-syntax-p session (reading-syntax reading))))

(defun readings-for-wire (session text)
  "((:FROM N :CASE READTABLE-CASE :ODD BOOLEAN) ...) for the bridge, which reads names as the file
does, by the readtable that LOAD has."
  (let ((compiled (text-readings session text nil)))
    (loop for reading in (text-readings session text t)
          collect (plist-without-nils
                   :from (reading-from reading)
                   :case (string-downcase (readtable-case (first (reading-syntax reading))))
                   :odd (and (or (odd-reading-p session reading)
                                 (odd-reading-p session (reading-at compiled (reading-from reading))))
                             t)))))

(defun file-readings (text &key (session "default"))
  "Answer (:READINGS ((:FROM N :CASE CASE :ODD BOOLEAN) ...)): from the character FROM on TEXT is read
with the readtable-case CASE; ODD is true if not everything there is read as in a standard file."
  (with-look-up (session)
    (list :readings (readings-for-wire session text))))

;;; Comparing forms

(defun first-difference (one other)
  "((A B)) of the first parts A of ONE and B of OTHER that differ; NIL if the forms are the same."
  (let ((seen (make-hash-table :test 'eq)) (made (make-hash-table :test 'eq)))
    (labels ((gensymp (object) (and object (symbolp object) (null (symbol-package object))))
             (same-p (one other)
               (typecase one
                 (symbol (if (gensymp one)
                             (and (gensymp other)
                                  (string= one other)
                                  (eq other (or (gethash one made) (setf (gethash one made) other))))
                             (eq one other)))
                 (string (and (stringp other) (string= one other)))
                 ((or number character) (eql one other))
                 (array (and (arrayp other)
                             (equal (array-dimensions one) (array-dimensions other))
                             (loop for i below (array-total-size one)
                                   always (null (walk (row-major-aref one i)
                                                      (row-major-aref other i))))))
                 (t (equalp one other)))) ; SBCL's commas, pathnames
             (walk (one other)
               (loop while (and (consp one) (consp other))
                     do (when (eq other (gethash one seen)) (return-from walk nil))
                        (setf (gethash one seen) other)
                        (let ((found (walk (pop one) (pop other))))
                          (when found (return-from walk found))))
               (unless (and (not (consp one)) (not (consp other)) (same-p one other))
                 (list (list one other)))))
      (walk one other))))

(defun difference-text (difference)
  (flet ((text (object)
           (cond ((symbolp object) (spelling object))
                 (t (clip (on-one-line (prin1-to-string object)) 60)))))
    (destructuring-bind ((was is)) difference
      (format nil "~A is read there as ~A" (text was) (text is)))))

;;; Writing

(defun read-back (text syntax package)
  "The one form of TEXT, read with SYNTAX in PACKAGE."
  (call-reading-as
   syntax
   (lambda ()
     (let ((*package* package) (*read-eval* nil) (*read-suppress* nil))
       (multiple-value-bind (form end) (read-from-string text)
         (if (eq text (read-from-string text nil text :start end))
             form
             (error "it is read as more than one form")))))))

(defun call-uninterning (package function)
  "Call FUNCTION with another one, for forms that it has read: symbols that these have brought into
PACKAGE are taken out of it again."
  (let ((before (make-hash-table :test 'eq)) (forms '()))
    (do-symbols (symbol package) (setf (gethash symbol before) t))
    (unwind-protect (funcall function (lambda (form) (push form forms) form))
      (let ((seen (make-hash-table :test 'eq)))
        (labels ((walk (form)
                   (loop while (and (consp form) (not (gethash form seen)))
                         do (setf (gethash form seen) t)
                            (walk (pop form)))
                   (when (and form (symbolp form)
                              (eq package (symbol-package form))
                              (not (gethash form before)))
                     (unintern form package))))
          (mapc #'walk forms))))))

(defun printed-as-read (form syntax package case)
  "FORM printed in CASE for SYNTAX in PACKAGE, or NIL.  The caller reads it back: so it need not be
readable, and characters and strings are as people write them."
  (destructuring-bind (table base float) syntax
    (with-standard-io-syntax
      (let ((*package* package) (*readtable* table) (*print-base* base) (*read-base* base)
            (*print-radix* (/= base 10)) (*read-default-float-format* float) (*print-case* case)
            (*print-readably* nil) (*print-circle* t) (*print-pretty* t)
            (*print-right-margin* 80) (*print-miser-width* nil))
        (ignore-errors (prin1-to-string form))))))

(defun difference-of (text form syntaxes package read)
  "What is different if SYNTAXES read TEXT in PACKAGE instead of FORM; NIL if nothing is."
  (dolist (syntax syntaxes)
    (let ((different
            (handler-case
                (let ((difference (first-difference
                                   form (funcall read (read-back text syntax package)))))
                  (and difference (difference-text difference)))
              (error (condition)
                (format nil "it cannot be read there: ~A"
                        (clip (on-one-line (condition-text condition)) 200))))))
      (when different (return different)))))

(defun fitted-form (text form readings package)
  "What WRITABLE-FORM answers about TEXT, which was read as FORM, at a place with READINGS in PACKAGE."
  (let ((syntaxes (mapcar #'reading-syntax readings)))
    (call-uninterning
     package
     (lambda (read)
       (flet ((different (text) (difference-of text form syntaxes package read)))
         (if (null (different text))
             (list :same t)
             (let ((why nil))
               (dolist (case '(:downcase :upcase) (list :difference why))
                 (let ((printed (printed-as-read form (first syntaxes) package case)))
                   (unless (setf why (different (or printed text)))
                     (return (list :form printed))))))))))))

(defun writable-form (text evaluated label name file at in &key (session "default") package)
  "Answer how TEXT, a form of the definition LABEL that SESSION evaluated as NAME in the package
EVALUATED, is to be written at the character AT of FILE, a text, where the package IN is current:
(:SAME T), as it is; (:FORM TEXT), printed anew; (:DIFFERENCE WHY), not at all; (:UNKNOWN LINE) if
the form in that line of FILE leaves open how the file is read; (:MISSING NAME) if there is no
package of that name."
  (with-look-up (session)
    (let* ((key (find label (session-keys session (find-function-name name session package))
                      :key #'key-label :test #'string=))
           (own (and key (reading-of session (definition-plist key))))
           (readings (list (reading-at (text-readings session file nil) at)
                           (reading-at (text-readings session file t) at)))
           (unknown (some #'reading-unknown readings))
           (missing (find-if-not #'find-package (list evaluated in))))
      (cond (missing (list :missing missing))
            (unknown (list :unknown (values (line-and-column file unknown))))
            ((not (or own (some (lambda (reading) (odd-reading-p session reading)) readings)))
             (list :same t))
            (t (multiple-value-bind (form trouble)
                   (handler-case (read-back text (or own (standard-reading session))
                                            (find-package evaluated))
                     (error (condition)
                       (values nil (clip (on-one-line (condition-text condition)) 200))))
                 (if trouble
                     (list :difference (format nil "it cannot be read once more to compare: ~A" trouble))
                     (fitted-form text form readings (find-package in)))))))))
