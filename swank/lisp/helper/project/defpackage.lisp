;;;; defpackage.lisp -- what definitions of packages say, beside the packages

(cl:in-package #:swank-mcp)

(defun clause-names (options name)
  "The names in the clauses called NAME of the scanned options of a package."
  (loop for option in options
        when (and (consp option) (token-name= (first option) name))
          append (loop for part in (rest option) for text = (token-name part) when text collect text)))

(defun computed-p (options name)
  "True if a clause called NAME of the scanned OPTIONS has parts that the reader computes, or that
depend on features."
  (loop for option in options
        thereis (and (consp option)
                     (token-name= (first option) name)
                     (some (lambda (part)
                             (and (token-p part)
                                  (let ((text (token-text part)))
                                    (or (string= text ".")
                                        (and (starts-with "#" text) (not (starts-with "#:" text)))))))
                           (rest option)))))

(defun export-differences (package options)
  "(VALUES EXTRA MISSING): names that PACKAGE exports and its definition with OPTIONS does not, and
the other way round."
  (let ((written (clause-names options "EXPORT")) (extra '()))
    (do-external-symbols (symbol package)
      (unless (member (symbol-name symbol) written :test #'string=)
        (push (symbol-name symbol) extra)))
    (values extra
            (remove-if (lambda (name) (eq :external (nth-value 1 (find-symbol name package)))) written))))

(defun same-datum-p (a b)
  "True if the scanned data A and B are written alike, but for case."
  (cond ((and (consp a) (consp b))
         (and (same-datum-p (car a) (car b)) (same-datum-p (cdr a) (cdr b))))
        ((and (token-p a) (token-p b)) (string-equal (token-text a) (token-text b)))
        (t (equal a b))))

(defun exported-already-p (key form)
  "True if FORM defines the package KEY as it was loaded but for exports, and the package has
those: an evaluation made them."
  (let ((origin (gethash key *origins*)) (package (find-package (cdr key))))
    (flet ((options (form)
             (spec-detail (find key (source-form-specs form) :key #'spec-key :test #'equal)))
           (others (options)
             (remove-if (lambda (option)
                          (and (consp option) (token-name= (first option) "EXPORT")))
                        options)))
      (and origin
           package
           (not (computed-p (options form) "EXPORT"))
           (same-datum-p (others (options form)) (others (options (origin-form origin))))
           (equal '(nil nil)
                  (multiple-value-list (export-differences package (options form))))))))
