;;;; expand.lisp -- EXPAND: macro expansions

(cl:in-package #:swank-mcp)

(defparameter *max-steps* 200)

(defun code-text (form)
  "FORM as source, complete, in the session's package."
  (printed (lambda (stream)
             (let ((*print-pretty* t) (*print-length* nil) (*print-level* nil) (*print-lines* nil)
                   (*print-circle* nil) (*print-readably* nil) (*print-escape* t))
               (prin1 form stream)))))

(defun call-watching-expansions (function on-expansion)
  "Call FUNCTION; call ON-EXPANSION with the form and the expansion of each macro call, except of
macros internal to the implementation."
  (let* ((expand *macroexpand-hook*)
         (*macroexpand-hook*
           (lambda (expander form environment)
             (let ((expansion (funcall expand expander form environment)))
               (unless (and (consp form) (symbolp (first form))
                            (implementation-package-p (symbol-package (first form))))
                 (funcall on-expansion form expansion))
               expansion))))
    (funcall function)))

(defun steps-to (evaluation function)
  "Call FUNCTION, which expands macros; report each step."
  (let ((steps '()) (count 0))
    (report-with evaluation
                 (lambda ()
                   (list :steps (reverse steps) :more (max 0 (- count *max-steps*)))))
    (call-watching-expansions
     function
     (lambda (form expansion)
       (when (<= (incf count) *max-steps*)
         (push (list (code-text form) (code-text expansion)) steps))))))

(defun expand-in (evaluation form mode)
  "Expand FORM as MODE says; the report is in EVALUATION."
  (ecase mode
    ((:one :full)
     (multiple-value-bind (expansion expandedp)
         (if (eq mode :one) (macroexpand-1 form) (macroexpand form))
       (let ((text (code-text expansion)) (why (if expandedp "" (no-macro-call-text form))))
         (report-with evaluation (lambda () (list :expansion text :why why))))))
    (:all
     (let ((expansion (code-text (swank/backend:macroexpand-all form))))
       (report-with evaluation (lambda () (list :expansion expansion :why "")))))
    (:steps
     (steps-to evaluation (lambda () (swank/backend:macroexpand-all form))))))

(defun expand (text mode &key (session "default") (token 0) package)
  "Expand the macro call in TEXT.  MODE: :ONE, once; :FULL, until it is no macro call; :ALL, also
inside of it; :STEPS, as :ALL, step by step.  The answer is EVALUATE's with
  :REPORT (:EXPANSION TEXT :WHY TEXT) or (:STEPS ((FORM EXPANSION) ...) :MORE n)
where WHY says why there is nothing to expand."
  (call-as-work
   (lambda (evaluation read)
     (setf (evaluation-acts evaluation)
           (not (reads-plainly-p (evaluation-session evaluation) text)))
     (let* ((form (funcall read text))
            (*noting* nil))
       ;; a macro of the program's may do anything
       (call-watching-expansions
        (lambda () (expand-in evaluation form mode))
        (lambda (form expansion)
          (declare (ignore expansion))
          (unless (or (atom form) (eq (symbol-package (first form)) (find-package '#:common-lisp)))
            (setf (evaluation-acts evaluation) t))))
       '()))
   :code text :session session :token token :package package))

;;; Why a form is no macro call

(defun no-macro-call-text (form)
  "A sentence that says why FORM cannot be expanded."
  (cond ((symbolp form) (format nil "~A is no symbol macro." (name-label form)))
        ((atom form) "It is no macro call but a constant.")
        ((not (symbolp (first form))) "It is no macro call: its first element is no symbol.")
        ((special-operator-p (first form))
         (format nil "~A is a special operator." (name-label (first form))))
        ((fboundp (first form))
         (format nil "~A is a function.~@[ ~A~]" (name-label (first form))
                 (and (compiler-macro-function (first form)) "It has a compiler macro.")))
        (t (format nil "~A is not defined in package ~A.~@[ The macro of that name is ~{~A~^, ~}.~]"
                   (symbol-name (first form)) (package-name *package*)
                   (macros-named (symbol-name (first form)))))))

(defun macros-named (name)
  "The labels of at most three macros called NAME in other packages."
  (let ((found (remove-if-not (lambda (symbol)
                                (and (macro-function symbol)
                                     (not (implementation-package-p (symbol-package symbol)))))
                              (find-all-symbols name))))
    (mapcar #'name-label (first-few found 3))))
