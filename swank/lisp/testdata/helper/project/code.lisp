;;;; code.lisp -- fingerprints of code, and the table of a fresh image

(cl:in-package #:swank-mcp)

(defparameter *compared-source* "(defpackage #:compared-code (:use #:cl)) (in-package #:compared-code)
(defvar *depth* 0) (defstruct point x y) (define-condition odd-one (error) ())
(defmacro twice (form) `(progn ,form ,form))
(defun counted (list) (let ((*depth* (1+ *depth*))) (mapcar (lambda (x) (twice (print x))) list)))
(defun left (point) (if (point-p point) (point-x point) (error 'odd-one)))
(defgeneric area (it)) (defmethod area ((it point)) (* (point-x it) (twice (point-y it))))
(defun days (month) (case month (2 28) ((4 6 9 11) 30) ((1 3 5 7 8 10 12) 31)))
(defun large (x) (logand x #xfffffffffffff))
")

(defun compiled-fingerprints (text)
  "The fingerprints of what TEXT defines, after it was compiled and loaded."
  (let* ((source (native-file (format nil "~Acompared-code-~D.lisp" (native-name (uiop:temporary-directory))
                                      (sb-posix:getpid))))
         (fasl (compile-file-pathname source)))
    (unwind-protect
         (handler-bind ((warning #'muffle-warning))
           (with-open-file (out source :direction :output :if-exists :supersede) (write-string text out))
           (let ((*error-output* (make-broadcast-stream))) (compile-file source :output-file fasl))
           (load fasl)
           (mapcar #'key-fingerprint
                   (list (cons :function (find-symbol "COUNTED" '#:compared-code))
                         (cons :function (find-symbol "LEFT" '#:compared-code))
                         (cons :function (find-symbol "LARGE" '#:compared-code))
                         (cons :function (find-symbol "DAYS" '#:compared-code))
                         (list :method (find-symbol "AREA" '#:compared-code) '() '("POINT")))))
      (ignore-errors (delete-file source))
      (ignore-errors (delete-file fasl)))))

(define-test code-fingerprints
  (unwind-protect
       (let ((first (compiled-fingerprints *compared-source*)))
         (check (notany #'null first) t)
         ;; other numbers of layouts, of places for values in threads, and of GENSYM
         (delete-package '#:compared-code)
         (eval '(defstruct one-more a b))
         (eval `(progn (defvar ,(gensym) 1) (let ((*gensym-counter* 7)) (gensym))))
         (check (compiled-fingerprints *compared-source*) first)
         ;; a macro that expands otherwise is in the code of its users alone
         (let ((other (compiled-fingerprints
                       (concatenate 'string *compared-source*
                                    "(defmacro twice (form) `(progn ,form ,form ,form))
(defun counted (list) (let ((*depth* (1+ *depth*))) (mapcar (lambda (x) (twice (print x))) list)))"))))
           (check (= (first other) (first first)) nil)
           (check (rest other) (rest first))))
    (ignore-errors (delete-package '#:compared-code))))

(define-test code-in-memory
  (check (code-fingerprint (compile nil '(lambda (x) x))) nil))

(define-test spelled-keys
  (with-key-syntax
    (dolist (key '((:function . car) (:function setf car) (:class . table)
                   (:method print-object () ("TABLE" "T"))))
      (check (spelled-key (key-spelling key)) key))
    (check (key-spelling (cons :function (make-symbol "X"))) nil)
    (check (key-spelling (cons :function (intern (format nil "A~%B") '#:swank-mcp))) nil)
    (check (spelled-key "(:FUNCTION . NO-SUCH-PACKAGE::X)") nil)))

(define-test numbered-stems
  (check (numbered-stem "(:FUNCTION . P::CLAUSE-45)") "(:FUNCTION . P::CLAUSE-")
  (check (numbered-stem "(:FUNCTION SETF P::X12)") "(:FUNCTION SETF P::X")
  (check (numbered-stem "(:FUNCTION . P::CLAUSE)") nil)
  (check (numbered-stem "(:METHOD P::F2 NIL (\"T\"))") nil))
