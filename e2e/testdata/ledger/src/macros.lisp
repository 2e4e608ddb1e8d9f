(in-package #:ledger)

(defvar *account-kinds* '()
  "Kinds of accounts, each with its sign: 1 where a debit adds to it.")

(defmacro define-account-kind (name sign &optional documentation)
  "Accounts may be of the kind NAME; a debit changes them by SIGN."
  `(progn
     (setf *account-kinds* (list* ,name ,sign (alexandria:remove-from-plist *account-kinds* ,name)))
     (setf (get ,name 'documentation) ,documentation)
     ,name))

(defmacro do-entries ((entry book &key (from nil) (to nil)) &body body)
  "Evaluate BODY with ENTRY bound to each entry of BOOK between two dates, oldest first."
  (alexandria:once-only (from to)
    `(dolist (,entry (book-entries ,book))
       (when (and (or (null ,from) (string<= ,from (entry-date ,entry)))
                  (or (null ,to) (string<= (entry-date ,entry) ,to)))
         ,@body))))

(defmacro collecting-entries ((entry book &rest range) test)
  "A list of the entries of BOOK for which TEST is true."
  (alexandria:with-gensyms (found)
    `(let ((,found '()))
       (do-entries (,entry ,book ,@range)
         (when ,test (push ,entry ,found)))
       (nreverse ,found))))

(define-account-kind :asset 1 "What one has.")
(define-account-kind :expense 1 "What was spent.")
(define-account-kind :debt -1 "What one owes.")
(define-account-kind :income -1 "What came in.")
