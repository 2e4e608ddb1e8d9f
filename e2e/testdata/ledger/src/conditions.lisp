(in-package #:ledger)

(define-condition ledger-error (error) ()
  (:documentation "Something is wrong with a book."))

(define-condition unknown-account (ledger-error)
  ((name :initarg :name :reader unknown-account-name))
  (:report (lambda (condition stream)
             (format stream "There is no account ~A." (unknown-account-name condition)))))

(define-condition unbalanced-entry (ledger-error)
  ((entry :initarg :entry :reader unbalanced-entry-entry)
   (sum :initarg :sum :reader unbalanced-sum))
  (:report (lambda (condition stream)
             (format stream "The postings add up to ~A, not to 0." (unbalanced-sum condition)))))
