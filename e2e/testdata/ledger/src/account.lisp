(in-package #:ledger)

(defclass account ()
  ((name :initarg :name :reader account-name :type string)
   (kind :initarg :kind :reader account-kind)
   (parent :initarg :parent :initform nil :reader account-parent))
  (:documentation "Where money lies, comes from or goes to."))

(defmethod initialize-instance :after ((account account) &key)
  (unless (getf *account-kinds* (account-kind account))
    (error "~S is no kind of account." (account-kind account))))

(defmethod print-object ((account account) stream)
  (print-unreadable-object (account stream :type t)
    (write-string (account-path account) stream)))

(defun parents (account)
  "The accounts above ACCOUNT, outermost first."
  (let ((parent (account-parent account)))
    (when parent
      (append (parents parent) (list parent)))))

(defun account-path (account)
  "The names of the accounts above ACCOUNT and its own, with colons between them."
  (format nil "~{~A~^:~}" (mapcar #'account-name (append (parents account) (list account)))))

(defun account-sign (account)
  (getf *account-kinds* (account-kind account)))

(defun within-account-p (account other)
  "True if ACCOUNT is OTHER, or below it."
  (or (eq account other)
      (and (member other (parents account)) t)))
