;;;; later.lisp -- what a session has that is later than a text

(cl:in-package #:swank-mcp)

;;; The source of a session has definitions, and no values that variables were given later.  To
;;; evaluate it in a session that has gone on puts these back.  What was changed inside an object,
;;; as a hash table, is not known.

(defun later-value-p (key entry)
  "True if KEY, of which ENTRY is known, is a variable with another value than its definition gave."
  (and (eq (car key) :variable)
       (boundp (cdr key))
       (not (and (entry-boundp entry)
                 (eql (symbol-value (cdr key)) (entry-value entry))))))

(defparameter *max-later* 100 "Variables that LATER-VARIABLES names at most.")

(defun later-variables (session)
  "The names of the variables of SESSION whose values its source does not have, sorted."
  (first-few (sort (loop for (key . entry) in (all-entries session)
                         when (and (interned-p key)
                                   (or (later-value-p key entry)
                                       (and (eq (car key) :variable) (entry-why entry) (boundp (cdr key)))))
                           collect (spelling (cdr key)))
                   #'string<)
             *max-later*))

(defun source-has-p (source text)
  "True if TEXT, that of a definition as it is now or NIL, stands in SOURCE."
  (and text (search (string-trim '(#\space #\tab #\newline) text) source) t))

(defparameter *max-conses-searched* 100000 "How many conses of a form are searched for defining forms.")

(defun defining-forms-in (form)
  "The defining forms in FORM, also within others, as in PROGN or LET; none but FORM in a definition."
  (let ((left *max-conses-searched*) (found '()))
    (labels ((walk (form)
               (when (and (consp form) (plusp (decf left)))
                 (if (ignore-errors (defined-by form))
                     (push form found)
                     (loop for rest = form then (cdr rest)
                           while (and (consp rest) (plusp (decf left)))
                           do (walk (car rest)))))))
      (walk form))
    (nreverse found)))

(defun taken-back-by (session form source time)
  "What the defining FORM, in the text SOURCE that was written at TIME, would take back of what SESSION
has, in words; NIL if nothing is known to be later."
  (let* ((key (ignore-errors (defined-by form)))
         (entry (and key (gethash key (session-definitions session)))))
    (when (and entry
               (still-made-p key entry)
               (not (and (member (first form) *once-operators*) (boundp (cdr key)))))
      (cond ((later-value-p key entry)
             (format nil "~A, which has a later value than its definition gave it" (key-label key)))
            ((and (> (entry-time entry) time)
                  (not (source-has-p source (or (entry-source entry) (text-now key)))))
             (format nil "~A, which was defined otherwise since" (key-label key)))))))

(defun taken-back (session form source time)
  "TAKEN-BACK-BY of each of the defining forms in FORM, whose text is SOURCE."
  (loop for defining in (defining-forms-in form)
        for said = (taken-back-by session defining source time)
        when said collect said))
