;;;; definitions.lisp -- what a session has defined

(cl:in-package #:swank-mcp)

;;; A session's table has each definition that the session has made and that nobody has
;;; replaced.  list-definitions, reset-session, save-session, the restore after a death and
;;; describe-symbol all use it.  Candidates.lisp and commit.lisp fill it.  OWN-DEFINITIONS
;;; forgets what was undefined, or what a file or somebody else has defined again.

(defstruct (entry (:copier nil))
  order                                 ; integer, increasing
  time                                  ; when it was made, see DEFINITION-TIME
  identity                              ; see DEFINITION-IDENTITY
  boundp                                ; true of a variable that was given a value,
  value                                 ; which is this,
  source                                ; and the text of the top level form that gave it, or NIL
  text                                  ; of the key, for the bridge
  why)                                  ; why there is no source for it, or NIL

(defun definition-time ()
  "Now, in microseconds since 1970; of other Lisps than SBCL in whole seconds."
  #+sbcl (multiple-value-bind (seconds microseconds) (sb-ext:get-time-of-day)
           (+ (* 1000000 seconds) microseconds))
  #-sbcl (* 1000000 (- (get-universal-time) #.(encode-universal-time 0 0 0 1 1 1970 0))))

(defun interned-p (key)
  (symbol-package (key-symbol key)))

(defun still-made-p (key entry)
  (handler-case
      (and (interned-p key)
           (let ((now (definition-identity (car key) (cdr key))))
             (and now
                  #+sbcl (or (same-identity-p now (entry-identity entry))
                             ;; a DEFVAR in a file has not changed its value
                             (and *launched* (entry-boundp entry)
                                  (boundp (cdr key))
                                  (eql (symbol-value (cdr key)) (entry-value entry))))
                  (or (not (entry-boundp entry)) (boundp (cdr key))))))
    (error () nil)))

(defun forget-definition (session key entry)
  "Forget KEY, which is not there any more, unless it has been defined again since ENTRY."
  (let ((table (session-definitions session)) (text (entry-text entry)))
    (when (with-shared-table (table)
            (and (eq entry (gethash key table))
                 (remhash key table)))
      (when text
        (with-lock () (push text (session-gone session)))))))

(defun all-entries (session)
  "((KEY . ENTRY) ...), copied: checking an entry may call code of the user's."
  (let ((table (session-definitions session)))
    (with-shared-table (table)
      (loop for key being the hash-keys of table using (hash-value entry)
            collect (cons key entry)))))

(defun own-entries (session)
  "((KEY . ENTRY) ...) in the order of definition.  Entries no longer true are forgotten."
  (let ((busy (defining-elsewhere-p session)) (found '()))
    (loop for (key . entry) in (all-entries session)
          do (cond ((still-made-p key entry) (push (cons key entry) found))
                   ((not busy) (forget-definition session key entry))))
    (sort found #'< :key (lambda (pair) (entry-order (cdr pair))))))

(defun own-definitions (session)
  "((KIND . NAME) ...) in the order of definition, without variables that have no value."
  (loop for (key) in (own-entries session)
        when (definedp (car key) (cdr key)) collect key))

(defun lost-definitions (session)
  "((KEY-TEXT WHY) ...) of the definitions that a new image will not have."
  (append (loop for (key . entry) in (own-entries session)
                when (entry-why entry)
                  collect (list (key-text session key) (entry-why entry)))
          (and (session-readtable-why session)
               (list (list (readtable-key) (session-readtable-why session))))))

(defun why-lost (session key)
  "Why KEY has no source, in words; NIL if it has one or is not the session's."
  (let ((entry (gethash key (session-definitions session))))
    (and entry (entry-why entry))))

;;; SBCL puts SB-C::*SOURCE-PLIST* into the source location of what it defines.  We put the
;;; source text there, where look-ups find it.

(defparameter *max-source-text* 200000
  "The text of a form with more characters is not kept with what it defines.")

(defun call-with-source-text (text function)
  "Call FUNCTION; what it defines remembers TEXT, the source of a top level form, and in which
package it was read; also with what syntax, if that is not the one of files."
  #+sbcl
  (let ((sbcl:*source-plist*
          (if (<= (length text) *max-source-text*)
              (list* :swank-mcp-source text :swank-mcp-package (package-name *package*)
                     (append (odd-reading) sbcl:*source-plist*))
              sbcl:*source-plist*)))
    (funcall function))
  #-sbcl (progn text (funcall function)))

;;; The table

(defparameter *sibling-kinds*
  '((:function :macro :generic-function) (:class :structure :condition :type)
    (:variable :constant :symbol-macro))
  "Kinds that exclude each other for one name.")

(defun enter-definition (session key &optional (valuep t) source)
  "Enter KEY, which has been defined, and return its order.  VALUEP is false if a variable got no
value; SOURCE is the text of the top level form, or NIL."
  (let* ((table (session-definitions session)) (old (gethash key table))
         (order (with-lock () (incf (session-definition-count session)))))
    (when old (forget-old-name session key old))
    (setf (gethash key table)
          (make-entry :order order :time (definition-time)
                           :identity (definition-identity (car key) (cdr key))
                           :boundp (and valuep (eq (car key) :variable) (boundp (cdr key)))
                           :value (and valuep (eq (car key) :variable) (boundp (cdr key))
                                       (symbol-value (cdr key)))
                           :source (and (eq (car key) :variable) source)))
    (dolist (kind (find (car key) *sibling-kinds* :test #'member))
      (let* ((sibling (cons kind (cdr key))) (entry (gethash sibling table)))
        (when (and entry (not (eq kind (car key))) (not (definedp kind (cdr key))))
          (forget-definition session sibling entry))))
    order))

(defun forget-old-name (session key old)
  "Tell the bridge to forget the old text of KEY if its package was renamed since OLD."
  (let ((text (entry-text old)))
    (when (and text (string/= text (key-text session key)))
      (with-lock () (push text (session-gone session))))))

;;; Definitions without source

(defun note-loss (evaluation key why)
  (let ((entry (gethash key (session-definitions (evaluation-session evaluation)))))
    (when entry (setf (entry-why entry) why))
    (push (list (key-text (evaluation-session evaluation) key) why key entry)
          (evaluation-losses evaluation))))

(defun losses-for-wire (evaluation)
  "((KEY-TEXT WHY) ...), without those of definitions that the session has replaced since."
  (let ((table (session-definitions (evaluation-session evaluation))))
    (loop for (text why key entry) in (reverse (shiftf (evaluation-losses evaluation) '()))
          unless (and key (not (eq entry (gethash key table))))
            collect (list text why))))

;;; What an evaluation tells of the journal: see journal.lisp

(defun note-journal-entry (evaluation entry order)
  "Add ENTRY, see JOURNAL-ENTRY, to the journal of EVALUATION, as the session's definition number
ORDER."
  (let ((entry (append entry (list order))))
    (with-lock () (push entry (evaluation-journal evaluation)))))

(defparameter *journal-part* 2000
  "How many entries of the journal one answer has at the most.")

(defparameter *journal-part-size* 500000
  "The characters of source after which an answer has no further entry.")

(defun journal-for-wire (evaluation)
  "The entries that EVALUATION has made; unless it is a job, also those that the session's running
jobs have made so far, so that they are not lost with the image.  TAKE-JOURNAL has the rest."
  (let ((session (evaluation-session evaluation)))
    (with-lock ()
      (dolist (other (adjoin evaluation
                             (unless (evaluation-job evaluation)
                               (remove-if-not (lambda (other)
                                                (and (evaluation-job other)
                                                     (eq session (evaluation-session other))))
                                              *evaluations*))))
        (setf (session-journal session)
              (append (shiftf (evaluation-journal other) '()) (session-journal session)))))
    (journal-part session)))

(defun journal-part (session)
  "The next entries of SESSION's journal, as many as go into one answer."
  (with-lock ()
    (let* ((all (reverse (session-journal session)))
           (end (loop for (nil text) in all for number from 0 sum (length text) into size
                      when (or (>= number *journal-part*)
                               (and (plusp number) (> size *journal-part-size*)))
                        return number)))
      (setf (session-journal session) (and end (reverse (nthcdr end all))))
      (subseq all 0 end))))

(defun take-journal (session)
  "Answer the next part of the journal of the SESSION of that name."
  (answer (journal-part (ensure-session session))))

;;; Names by which the bridge knows definitions

(defun key-text (session key)
  "KEY, (KIND . NAME), as text by which the bridge compares it.  The entry remembers it, in case
the name loses its package."
  (let ((text (call-with-listing-syntax
               (lambda ()
                 (let ((*print-length* nil) (*print-level* nil)) ; all that tells two apart
                   (safely (prin1-to-string key))))))
        (entry (gethash key (session-definitions session))))
    (when entry (setf (entry-text entry) text))
    text))

(defun readtable-key () (with-standard-io-syntax (prin1-to-string '(:readtable . *readtable*))))
