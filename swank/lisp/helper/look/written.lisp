;;;; written.lisp -- what the files of a system that is not loaded export, by their text

(cl:in-package #:swank-mcp)

(defparameter *most-written-text* 1000000 "Characters of a system's files that are searched.")

(defun written-name (datum)
  "The string that DATUM, scanned, is as the name of a symbol: \"A\" of a, #:a, :a, \"A\"; or NIL."
  (cond ((stringp datum) datum)
        ((and (token-p datum) (not (member (token-text datum) '("#." ".") :test #'string=)))
         (let ((text (string-left-trim "#:" (token-text datum))))
           (string-upcase (subseq text (let ((colon (position #\: text :from-end t)))
                                         (if colon (1+ colon) 0))))))))

(defun documentation-option (options)
  (loop for option in options
        when (and (consp option) (token-name= (first option) "DOCUMENTATION"))
          return (second option)))

(defparameter *written-kinds*
  ;; operator, title, what stands third, where the documentation is
  '(("DEFUN" "Functions" :lambda-list :fourth) ("DEFMACRO" "Macros" :lambda-list :fourth)
    ("DEFGENERIC" "Generic Functions" :lambda-list :option) ("DEFCLASS" "Classes" nil :option)
    ("DEFINE-CONDITION" "Conditions" nil :option) ("DEFSTRUCT" "Structures" nil :third)
    ("DEFVAR" "Variables" nil :fourth) ("DEFPARAMETER" "Variables" nil :fourth)
    ("DEFCONSTANT" "Constants" nil :fourth) ("DEFTYPE" "Types" nil :fourth)))

(defun written-definition (text form begin end)
  "(NAME TITLE ARGUMENTS REMARK) if FORM, between those positions of TEXT, is a definition; or NIL."
  (let ((kind (find-if (lambda (kind) (token-name= (first form) (first kind))) *written-kinds*)))
    (when (and kind (rest form))
      (destructuring-bind (title third place) (rest kind)
        (let ((name (written-name (if (consp (second form)) (first (second form)) (second form))))
              (documentation (ecase place
                               (:third (third form))
                               ;; a string that is all the body is the value
                               (:fourth (and (or (null third) (nthcdr 4 form)) (fourth form)))
                               (:option (documentation-option (cdddr form))))))
          (when name
            (list name title
                  (if third
                      (destructuring-bind (&optional from . to) (rest (third (child-spans text begin end)))
                        (if from (format nil " ~A" (clip (on-one-line (subseq text from to)) 100)) ""))
                      "")
                  (if (and (stringp documentation) (string/= documentation ""))
                      (format nil ": ~A" (first-sentence documentation))
                      ""))))))))

(defun written-exports (form)
  "The names that FORM exports, if it defines a package."
  (when (or (token-name= (first form) "DEFPACKAGE") (token-name= (first form) "DEFINE-PACKAGE"))
    (loop for option in (cddr form)
          when (and (consp option) (token-name= (first option) "EXPORT"))
            append (remove nil (mapcar #'written-name (rest option))))))

(defun map-written-forms (function text begin end)
  "Call FUNCTION with each form of TEXT between those positions, its begin and its end; for PROGN,
LET and the like with the forms in it."
  (loop with at = begin
        for (form from to) = (multiple-value-list (scan-datum text at))
        while (< (if from from to) end)
        do (cond ((not (consp form)))
                 ((some (lambda (operator) (token-name= (first form) operator))
                        '("PROGN" "EVAL-WHEN" "LOCALLY" "LET" "LET*"))
                  (map-written-forms function text (1+ from) (1- to)))
                 (t (funcall function form from to)))
           (setf at (if from to (1+ to)))))

(defun written-entries (files)
  "((TITLE . LINE) ...) of what the packages that FILES define export, by the text of FILES."
  (let ((exported '()) (definitions (make-hash-table :test 'equal)) (left *most-written-text*))
    (dolist (file files)
      (let ((text (and (plusp left) (file-text file))))
        (when (and text (plusp (decf left (length text))))
          (map-written-forms
           (lambda (form begin end)
             (setf exported (append exported (written-exports form)))
             (let ((definition (written-definition text form begin end)))
               (when definition
                 (push (rest definition) (gethash (first definition) definitions)))))
           text 0 (length text)))))
    (loop for name in (sort (remove-duplicates exported :test #'string=) #'string<)
          append (loop with spelled = (bare-spelling name)
                       for (title arguments remark) in (or (reverse (gethash name definitions))
                                                           '(("Other Names" "" "")))
                       collect (list title (format nil "- ~A~A~A" spelled arguments remark) spelled)))))

(defun written-function-names (entries)
  (loop for (title nil name) in entries
        when (member title '("Functions" "Macros" "Generic Functions") :test #'string=)
          collect (string-trim "|" name)))
