;;;; inspect.lisp -- objects, part by part

(cl:in-package #:swank-mcp)

(define-test inspect
  (check (list (multiple-value-list (list-shape '(1 2 3))) (multiple-value-list (list-shape '(1)))
               (multiple-value-list (list-shape '(1 2 . 3))) (multiple-value-list (list-shape '(1 . 2))))
         '((3 nil) (1 nil) (2 3) (1 2)))
  ;; circles of every size, after stems of every length
  (check (loop for stem from 0 below 6
               nconc (loop for size from 1 below 7
                           for circle = (make-list size)
                           do (setf (cdr (last circle)) circle)
                           unless (equal (multiple-value-list (list-shape (append (make-list stem) circle)))
                                         (list (+ stem size) :circular))
                             collect (list stem size)))
         '())
  (check (mapcar #'path-steps '("" "2" "0.name.3k" " .a..b. ")) '(() ("2") ("0" "name" "3k") ("a" "" "b")))
  (check (mapcar #'designated-handle '(7 "7" "obj-7" " OBJ-12 " "foo" "obj-" "" "obj-1x")) '(7 7 7 12 nil nil nil nil))
  (let ((table (make-hash-table :test 'equal)) (session (ensure-session "inspect test")))
    (setf (gethash "key" table) (vector 1 (list 2 3)))
    (let ((handle (remember-object table session "table")))
      (check (list (object handle "key.1.0") (object (handle-text handle) "0.1") (object handle "0k")) '(2 (2 3) "key"))
      (setf (object handle "key.0") :new)
      (check (aref (gethash "key" table) 0) :new)
      (check (loop for path in '("1" "key.2" "key.1.0.0" "nokey" "0kk")
                   collect (handler-case (object handle path)
                             (lookup-failure (failure) (failure-type failure))))
             '("NO-SUCH-PART" "NO-SUCH-PART" "NO-SUCH-PART" "NO-SUCH-PART" "NO-SUCH-PART"))
      (forget-handles session)
      (check (handler-case (object handle) (lookup-failure (failure) (failure-type failure))) "UNKNOWN-HANDLE")))
  ;; handles hold few objects, and there are not many of them
  (let ((session (ensure-session "inspect test")))
    (dotimes (i 500) (remember-object (list i) session "(list i)"))
    (check (list (length *handles*) (count-if #'handle-object *handles*)) (list *max-handles* *held*))
    (forget-handles session)
    (check *handles* '()))
  ;; every kind of object has a view, and every part of it one line
  (dolist (object (list 1 -5 (expt 10 500) 1/2 1.5 sb-ext:double-float-positive-infinity #c(1 2) #\a "text" (make-string 5000)
                        nil t 'car :key (gensym) '(1 2) '(1 . 2) #(1 2) #2A((1 2) (3 4)) #0A1 #*101
                        (make-array 3 :fill-pointer 1 :adjustable t) (make-hash-table) #'car #'print-object #'evaluate
                        (let ((x 1)) (lambda () (incf x))) (find-class 'session) (find-class 'integer) (find-class 'standard-object)
                        *package* #p"/tmp/x" *standard-output* (ensure-session "inspect test") (make-condition 'end-of-file)
                        *readtable* *random-state* sb-thread:*current-thread* (sb-ext:make-weak-pointer '(1))
                        (find-method #'print-object '() (list (find-class 't) (find-class 't)) nil)))
    (check (handler-case (let ((finding (inspection object 1 "" 0 40)))
                           (find #\newline (getf finding :title)))
             (error (condition) (princ-to-string condition)))
           nil)))

;;; Slots that cannot be read

(define-test unreadable-slots
  (evaluated "(defclass odd-class (standard-class) ())
            (defmethod sb-mop:validate-superclass ((class odd-class) (super standard-class)) t)
            (defclass odd () ((a :initform 1) (b :initform 2) (c)) (:metaclass odd-class))
            (defmethod sb-mop:slot-value-using-class ((class odd-class) odd slot)
              (if (eq 'b (sb-mop:slot-definition-name slot)) (error \"not ~A\" 'b) (call-next-method)))"
             :package "SWANK-MCP")
  (check (mapcar (lambda (part) (part-line part 0)) (instance-slots (make-instance 'odd)))
         '("0 A: 1" "0 B: reading it failed: SIMPLE-ERROR: not B" "0 C: unbound")))

;;; A path with nothing between two dots

(define-test odd-paths
  (check (handler-case (walk-path (list 1 (list 2)) "1..0")
           (lookup-failure (failure) (failure-type failure)))
         "NO-SUCH-PART")
  (let ((table (make-hash-table :test 'equal)))
    (setf (gethash "" table) (list :found))
    (check (walk-path (list table) "0..0") :found)))

;;; Methods that end the image when a value is looked at

(define-test looking-ends-nothing
  (evaluated "(defclass quits () ((a :initform 1)))
            (defmethod print-object ((quits quits) stream)
              (unwind-protect (sb-ext:exit :code 3 :timeout 1) (write-string \"never seen\" stream)))
            (defvar *quits* (make-instance 'quits))
            (defclass quitting-class (standard-class) ())
            (defmethod sb-mop:validate-superclass ((class quitting-class) (super standard-class)) t)
            (defclass quits-when-read () ((a :initform 1)) (:metaclass quitting-class))
            (defmethod sb-mop:slot-value-using-class ((class quitting-class) object slot) (sb-ext:exit :code 3))
            (defvar *quits-when-read* (make-instance 'quits-when-read))
            (defclass ends () ())
            (defmethod print-object ((ends ends) stream) (sb-thread:abort-thread))
            (defvar *ends* (make-instance 'ends))"
             :package "SWANK-MCP")
  (flet ((look ()
           (let ((refused "#<printing it failed: it asked the Lisp image to end>")
                 (timeout sb-ext:*exit-timeout*))
             (check (second (first (getf (answered #'describe-symbol "swank-mcp::*quits*") :sections)))
                    (format nil "Value: ~A" refused))
             (check (second (first (getf (answered #'describe-symbol "swank-mcp::*ends*") :sections)))
                    "Value: #<printing it failed: it asked its thread to end>")
             (check (find (format nil "SWANK-MCP::*QUITS* = ~A" refused)
                          (rest (assoc "variables" (answered #'list-definitions "test") :test #'equal))
                          :test #'string=)
                    (format nil "SWANK-MCP::*QUITS* = ~A" refused))
             (check (getf (evaluated "(list 1 *quits*)" :package "SWANK-MCP") :values)
                    '(("(1 #<SWANK-MCP::QUITS, printing it failed: it asked the Lisp image to end>)")))
             (let ((handle (remember-object (symbol-value '*quits-when-read*) (ensure-session "test") "")))
               (check (getf (getf (answered #'inspect-handle (handle-text handle) "") :error) :type)
                      "EXIT-REFUSED")
               (check (error-type (evaluated (format nil "(object ~D \"a\")" handle) :package "SWANK-MCP"))
                      "EXIT-REFUSED"))
             (check (list sb-sys:*exit-in-progress* (sb-thread:mutex-owner sb-impl::*exit-lock*)
                          sb-ext:*exit-timeout*)
                    (list nil nil timeout)))))
    (sb-thread:join-thread (sb-thread:make-thread #'look)))
  (dolist (name '(*quits* *quits-when-read* *ends*)) (makunbound name)))
