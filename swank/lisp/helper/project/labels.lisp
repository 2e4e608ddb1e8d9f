;;;; labels.lisp -- how replies name definitions

(cl:in-package #:swank-mcp)

(defun label-of (key)
  (destructuring-bind (kind . name) key
    (flet ((bare (name)
             (cond ((stringp name) (subseq name (+ 2 (or (search "::" name) -2))))
                   ((consp name) (format nil "(SETF ~A)" (bare-spelling (string (second name)))))
                   (t (bare-spelling (symbol-name name))))))
      (case kind
        (:package (format nil "package ~A" name))
        (:method (format nil "method ~A~{ :~A~} (~{~A~^ ~})" (bare (first name)) (second name) (third name)))
        (:compiler-macro (format nil "compiler macro ~A" (bare name)))
        (:setf-expander (format nil "setf expander ~A" (bare name)))
        (t (bare name))))))

(defun labels-of (keys)
  (sort (remove-duplicates (mapcar #'label-of keys) :test #'string=) #'string<))

(defun few (labels &optional (count 8))
  "LABELS on a line, at most COUNT."
  (format nil "~{~A~^, ~}~@[ and ~D more~]" (first-few labels count) (count-beyond labels count)))
