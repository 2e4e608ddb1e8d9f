;;;; history.lisp -- what agents have done in this image, for the person who shares it

(cl:in-package #:swank-mcp)

;;; Each evaluation that a client has asked for is an action, and so is a reset.  An action has the
;;; evaluation's number.  The newest are kept, in a vector of fixed size and with a bound on their
;;; text.  people/history.lisp shows them.

(defstruct (action (:copier nil))
  number token
  began                                 ; universal time
  microseconds                          ; it took, or NIL
  (state :running)                      ; then :DONE, :ERROR and the other kinds of reports, or :SUSPENDED
  client session tool package frame
  (code "")
  (out "") (err "")                     ; beginnings of what it printed
  (values '())                          ; texts
  type message                          ; of an error
  (changes '()) (changes-left-out 0)    ; see definitions/changes.lisp
  (size 0)                              ; characters of all that
  remarks)                              ; texts, such as that it was undone

(defparameter *max-actions* 4096)

(defparameter *max-action-characters* 2000000
  "How many characters of code, output and values all actions keep together.")

(defparameter *action-limits* '(:code 10000 :out 4000 :err 4000 :value 2000 :message 4000)
  "How many characters of each an action keeps.")

(defvar *actions* nil
  "A vector with the action of number N at N modulo its length; NIL before the first.")

(defvar *last-number* 0
  "The number of the newest action.")

(defvar *oldest-number* 1
  "The number of the oldest action that is kept.")

(defvar *action-characters* 0)

(defun find-action (number)
  (and *actions*
       (<= *oldest-number* number *last-number*)
       (svref *actions* (mod number *max-actions*))))

(defun action-limit (what) (getf *action-limits* what))

(defun add-action (action)
  "Number ACTION and keep it.  *LOCK* is held."
  (unless *actions* (setf *actions* (make-array *max-actions* :initial-element nil)))
  (let ((number (incf *last-number*)))
    (setf (action-number action) number)
    (when (> (- number *oldest-number*) (1- *max-actions*)) (forget-oldest-action))
    (setf (svref *actions* (mod number *max-actions*)) action)
    (measure-action action)
    action))

(defun forget-oldest-action ()
  (let ((place (mod *oldest-number* *max-actions*)))
    (decf *action-characters* (action-size (svref *actions* place)))
    (setf (svref *actions* place) nil)
    (incf *oldest-number*)))

(defun measure-action (action)
  "Count the characters of ACTION, which is kept, and forget the oldest actions if there are too
many.  *LOCK* is held."
  (let ((size (+ 100 (length (action-code action)) (length (action-out action))
                 (length (action-err action)) (length (action-message action))
                 (loop for text in (action-values action) sum (length text))
                 (loop for change in (action-changes action) sum (change-size change)))))
    (incf *action-characters* (- size (shiftf (action-size action) size)))
    (loop while (and (> *action-characters* *max-action-characters*)
                     (< *oldest-number* (action-number action)))
          do (forget-oldest-action))))

(defstruct (change (:copier nil))
  key                                   ; of the definition that was made
  newp                                  ; true if there was none before
  saved                                 ; else that, as SAVED-DEFINITION has it,
  source                                ; and its source text, or NIL
  identity)                             ; of the definition that was made

(defun change-size (change)
  (+ 50 (length (change-source change))))

(defun keptp (action)
  (eq action (find-action (action-number action))))

(defun code-for-people (code limit)
  "CODE, a string or a form, as a text."
  (if (stringp code)
      (clipped (list (string-trim '(#\space #\newline #\tab) code)) limit)
      (clip (with-standard-io-syntax
              (let ((*print-readably* nil) (*package* (find-package '#:swank-mcp)))
                (safely (prin1-to-string code))))
            limit)))

(defun clipped (text limit)
  "TEXT, (HEAD) or (HEAD TAIL OMITTED) or NIL, as a string of about LIMIT characters."
  (destructuring-bind (&optional (head "") (tail "") (omitted 0)) text
    (let ((more (+ omitted (length tail) (max 0 (- (length head) limit)))))
      (if (plusp more)
          (format nil "~A~%... ~:D more characters" (subseq head 0 (min limit (length head))) more)
          head))))
