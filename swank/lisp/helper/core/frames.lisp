;;;; frames.lisp -- the text of frames and forms, printed without user code; reports of errors

(cl:in-package #:swank-mcp)

;;; A backtrace is taken when something has gone wrong, sometimes with little stack left,
;;; sometimes in an interrupt.  No PRINT-OBJECT method of the user's may run then: it may be the
;;; very code that loops or fails.  So this printer prints arguments.  It knows data and names and
;;; shows other objects by their type.

(defvar *max-frames* 20
  "How many frames a report shows.")
(defvar *kept-frames* 100
  "How many frames are kept for get-backtrace and the debugger.")
(defparameter *max-argument-length* 10)
(defparameter *max-argument-depth* 4)
(defparameter *max-string-shown* 100)

(defun show-argument (object stream depth)
  (typecase object
    (null (write-string "NIL" stream))
    (symbol (prin1 object stream))
    (integer (show-integer object stream))
    (ratio (show-integer (numerator object) stream)
     (write-char #\/ stream)
     (show-integer (denominator object) stream))
    (float (prin1 object stream))
    (complex (show-argument (list 'complex (realpart object) (imagpart object)) stream 1))
    (character (prin1 object stream))
    (string (prin1 (clip object *max-string-shown*) stream))
    (cons (if (plusp depth)
              (show-list object stream (1- depth))
              (write-char #\# stream)))
    (function (show-function object stream))
    ;; #<unused argument>, #<unavailable argument>
    #+sbcl (sbcl:unprintable-object (prin1 object stream))
    (package (format stream "#<PACKAGE ~A>" (package-name object)))
    (pathname (prin1 object stream))
    (vector (format stream "#<VECTOR ~D>" (length object)))
    (t (format stream "#<~A>" (let ((name (class-name (class-of object))))
                                (if (symbolp name) name "?"))))))

(defun show-integer (integer stream)
  (if (> (integer-length integer) 400)
      (format stream "#<INTEGER of ~D bits>" (integer-length integer))
      (prin1 integer stream)))

(defun show-list (list stream depth)
  (cond ((and (member (first list) '(quote function)) (consp (rest list)) (null (cddr list)))
         (write-string (if (eq (first list) 'quote) "'" "#'") stream)
         (show-argument (second list) stream depth))
        (t (write-char #\( stream)
           (loop for rest = list then (cdr rest)
                 for count from 0
                 do (cond ((= count *max-argument-length*)
                           (write-string "..." stream)
                           (return))
                          (t (show-argument (car rest) stream depth)))
                    (cond ((null (cdr rest)) (return))
                          ((atom (cdr rest))
                           (write-string " . " stream)
                           (show-argument (cdr rest) stream depth)
                           (return))
                          (t (write-char #\space stream))))
           (write-char #\) stream))))

(defun show-function (function stream)
  (let ((name #+sbcl (sbcl:%fun-name function)
              #-sbcl (nth-value 2 (function-lambda-expression function))))
    (if (and name (symbolp name))
        (format stream "#<FUNCTION ~A>" (symbol-name name))
        (write-string "#<FUNCTION>" stream))))

(defun call-with-frame-printing (package function)
  (with-standard-io-syntax
    (let ((*package* package) (*print-readably* nil) (*print-pretty* nil)
          ;; FRAME-CALL prints arguments that lie on the stack, a circular list for ever
          (*print-length* 50) (*print-level* 6))
      (funcall function))))

(defun show-form (form package)
  (call-with-frame-printing
   package
   (lambda ()
     (clip (with-output-to-string (s) (show-argument form s *max-argument-depth*)) 500))))

;;; Whose packages

(defun program-package-p (package)
  "True if PACKAGE is one in which code of a program is read."
  (not (or (null package)
           (eq package (find-package '#:common-lisp))
           (implementation-package-p package)
           (helper-package-p package))))

(defun helper-package-p (package)
  (member (package-name package)
          '("SWANK-MCP" "SWANK-MCP/SBCL" "SWANK-MCP-BOOT" "SWANK" "SWANK/BACKEND" "SWANK/SBCL"
            "SWANK/GRAY" "SWANK/RPC")
          :test #'equal))

;;; What went wrong, as a property list for the wire

(defun failure (type message &optional frames (total 0))
  (list* :kind :error :type type :message message (frames-for-wire frames total)))

(defun instead-of (name near)
  "The part of a report that suggests the first of the names NEAR that NAME is likely to mean."
  (let ((meant (find-if (lambda (other) (meant-p name other)) near)))
    (and meant (list :instead (list name meant)))))

(defun frames-for-wire (frames total)
  "The part of a report about FRAMES.  All are under :KEPT, which stays in the image; see
last-error.lisp."
  (let ((shown (first-few frames *max-frames*)))
    (list :frames shown :more (max 0 (- total (length shown))) :kept frames)))
