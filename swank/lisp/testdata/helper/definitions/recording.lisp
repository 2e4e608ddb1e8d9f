;;;; recording.lisp -- what files define

(cl:in-package #:swank-mcp)

(defun own-names ()
  (let ((session (ensure-session "test")))
    (loop for (nil . name) in (own-definitions session)
          when (and (symbolp name) (search "BUILD-TEST" (symbol-name name)))
            collect (symbol-name name))))

(define-test recording
  (check (own-names) '("BUILD-TEST-1" "BUILD-TEST-2"))
  (let ((file (test-file "(defmacro build-test-m () `(list ,1)) (let ((n 0)) (defun build-test-closure () (incf n)))
(eval-when (:compile-toplevel :load-toplevel :execute) (defvar build-test-v '(a . b)))
(format nil \"an effect\") (declaim (inline build-test-f)) (defun build-test-f () (build-test-m))"))
        (all '("BUILD-TEST-1" "BUILD-TEST-2" "BUILD-TEST-M" "BUILD-TEST-CLOSURE" "BUILD-TEST-V"
               "BUILD-TEST-F")))
    (flet ((journal (function &rest arguments)
             (mapcar #'second
                     (getf (with-standard-io-syntax
                             (read-from-string
                              (with-output-to-string (*standard-output*)
                                (apply function (append arguments '(:session "test"))))))
                           :journal))))
      (let ((loaded (journal #'load-source file)))
        (check (own-names) all)
        (check (length loaded) 5)         ; without the call of FORMAT
        (check (second loaded) (format nil "(LET ((N 0))~%  (DEFUN BUILD-TEST-CLOSURE () (INCF N)))"))
        ;; DEFVAR leaves the variable alone: what gave it its value is kept
        (check (journal #'compile-source :file file) (remove (third loaded) loaded))
        (check (sort (own-names) #'string<) (sort (copy-list all) #'string<))
        ;; without loading only what the compiler itself defines is another one
        (check (journal #'compile-source :file file :load nil) (list (first loaded)))))
    (delete-file file))
  (check (getf (getf (with-standard-io-syntax
                       (read-from-string (with-output-to-string (*standard-output*)
                                           (load-source "/nowhere/at all" :session "test"))))
                     :error)
               :type)
         "FILE-ERROR"))
