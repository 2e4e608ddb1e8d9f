;;;; Stands for Quicklisp where there is none: the names that load-system uses,
;;;; and the same condition.  It knows the systems that ASDF finds.

(defpackage :quicklisp-client
  (:nicknames :quicklisp :ql)
  (:use :cl)
  (:export #:quickload #:system-not-found))

(in-package :quicklisp-client)

(define-condition system-not-found (error)
  ((name :initarg :name :reader system-not-found-name))
  (:report (lambda (condition stream)
             (format stream "System ~S not found" (system-not-found-name condition)))))

(defun quickload (systems &key verbose silent prompt explain &allow-other-keys)
  (declare (ignore verbose silent prompt explain))
  (dolist (name (if (listp systems) systems (list systems)) systems)
    (unless (asdf:find-system name nil)
      (error 'system-not-found :name name))
    (format t "To load ~S:~%  Load 1 ASDF system:~%    ~A~%; Loading ~S~%" name name name)
    (asdf:load-system name :verbose nil)))
