(in-package #:ledger)

(defclass book ()
  ((accounts :initform (make-hash-table :test 'equal) :reader book-accounts)
   (entries :initform '() :accessor book-entries))
  (:documentation "Accounts by their paths, and entries by their dates."))

(defun make-book () (make-instance 'book))

(defun find-account (book path)
  "The account of that PATH; an UNKNOWN-ACCOUNT error if there is none."
  (restart-case
      (or (gethash path (book-accounts book))
          (error 'unknown-account :name path))
    (use-value (account)
      :report "Use another account."
      :interactive (lambda () (list (eval (read *query-io*))))
      account)))

(defun split-path (path)
  "(VALUES PARENT NAME) of the account PATH; PARENT is NIL at the top."
  (let ((colon (position #\: path :from-end t)))
    (if colon
        (values (subseq path 0 colon) (subseq path (1+ colon)))
        (values nil path))))

(defun open-account (book path kind)
  "The account of that PATH in BOOK, with all above it; they are made if needed."
  (or (gethash path (book-accounts book))
      (multiple-value-bind (parent name) (split-path path)
        (setf (gethash path (book-accounts book))
              (make-instance 'account :name name :kind kind
                                      :parent (and parent (open-account book parent kind)))))))

(defgeneric check-entry (entry book)
  (:documentation "Signal an error unless ENTRY may be added to BOOK."))

(defun add-entry (book entry)
  "Add ENTRY to BOOK, at the place of its date."
  (check-entry entry book)
  (setf (book-entries book)
        (merge 'list (book-entries book) (list entry) #'string< :key #'entry-date))
  entry)
