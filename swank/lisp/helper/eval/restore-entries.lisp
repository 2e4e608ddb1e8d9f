;;;; restore-entries.lisp -- a session's definitions evaluated again in a new image

(cl:in-package #:swank-mcp)

(defparameter *entry-ends* '(:done :failed :hung :forced :exit :left :storage)
  "How an entry may end.  The bridge knows each by its position here, and has words for it.")

(defvar *restoring* nil
  "The RESTORING of the current thread, or NIL.")

(defun restore-entries (restoring)
  "Evaluate the entries of RESTORING in order.  One that fails is tried again after the others,
which may define what it needs, as long as one more succeeds.  Return ((INDEX WHY END) ...) of
those that did not succeed."
  (setf (restoring-evaluation restoring) *evaluation*)
  (ignore-heap-watch *evaluation*)
  (let ((todo (loop for entry in (restoring-entries restoring) for number from 1
                    collect (cons number entry)))
        (lost '()))
    (flet ((attempt (entry)
             "(ENTRY FAILURE) if ENTRY has failed and may be tried again, else NIL."
             (destructuring-bind (number text package milliseconds) entry
               (multiple-value-bind (end why)
                   (restore-entry restoring number text package milliseconds)
                 (unless (eq end :done) (collect-garbage-left))
                 (let* ((code (end-code end restoring))
                        (failure (list (1- number) (or why "") code)))
                   (write-board restoring (+ +ends-word+ number) (1+ code))
                   (case end
                     (:done nil)
                     (:failed (list entry failure))
                     (t (push failure lost)
                        nil)))))))
      (call-refusing-abrupt-exit
       (lambda ()
         (call-watched
          restoring
          (lambda ()
            (let ((*restoring* restoring))
              (loop
                (let ((failed (loop for entry in todo
                                    for failure = (attempt entry)
                                    when failure collect failure)))
                  (when (or (null failed) (= (length failed) (length todo)))
                    (return (append (mapcar #'second failed) lost)))
                  (setf todo (mapcar #'first failed))))))))))))

(defun collect-garbage-left ()
  "Collect what an entry has left in the heap, before the next entry is blamed for it."
  #+sbcl (when (> (heap-used) (* *heap-limit* 1/2 (heap-size))) (sb-ext:gc :full t)))

(defun ignore-heap-watch (evaluation)
  "Do not let the heap watch end EVALUATION: the entry that has filled the heap may be over."
  (let ((escape (evaluation-escape evaluation)))
    (setf (evaluation-escape evaluation)
          (lambda (report)
            (when (evaluation-early-stop evaluation) (funcall escape report))))))

(defun end-code (end restoring)
  "END as a number in the lowest four bits, and above them the entry's limit in milliseconds."
  (logior (position end *entry-ends*)
          (ash (floor (or (restoring-limit restoring) 0) 1000) 4)))

(defun restore-entry (restoring number text package-name milliseconds)
  "Evaluate TEXT in the package of that name.  (VALUES END WHY): how it ended, and why if it
failed."
  (let ((package (find-package package-name)))
    (if (null package)
        (values :failed (format nil "There is no package ~A." package-name))
        (call-contained
         restoring number milliseconds
         (lambda ()
           (let ((*package* package))
             (handler-bind ((warning #'muffle))
               (call-with-source-text
                text
                (lambda ()
                  (with-input-from-string (in text)
                    (loop for form = (read in nil in)
                          until (eq form in)
                          do (restore-form (restoring-evaluation restoring) form))))))))))))

(defun restore-form (evaluation form)
  "Evaluate FORM as at top level, so that the session owns what it defines."
  (let ((*toplevel* (make-toplevel :form form :package *package*)))
    (evaluate-form form)
    (commit-toplevel evaluation *toplevel*)
    (setf (evaluation-journal evaluation) '() ; the bridge has this entry
          (evaluation-losses evaluation) '())))

(defun call-contained (restoring number milliseconds function)
  "Call FUNCTION, the entry of that NUMBER.  However it ends, even by a throw, the restore goes on
unless all of it is stopped.  The values are those of RESTORE-ENTRY."
  (let* ((evaluation (restoring-evaluation restoring))
         (escape (evaluation-escape evaluation))
         (end :left) (why nil))
    (block contained
      (labels ((leave (kind &optional text)
                 (setf end kind why text)
                 (return-from contained (values end why)))
               (on-error (condition)
                 (if (typep condition 'storage-condition)
                     (leave :storage)
                     (leave :failed (failure-words condition))))
               (on-stop (report)
                 (if (evaluation-early-stop evaluation)
                     (funcall escape report)
                     (leave :failed (getf report :message))))) ; perhaps the fault of another entry
        (call-then
         (lambda ()
           (setf (evaluation-escape evaluation) #'on-stop
                 (restoring-leave restoring) #'leave)
           (begin-entry restoring number milliseconds)
           (restart-case
               (call-refusing-exit
                (lambda () (call-with-debugger-hooks function #'on-error))
                (lambda (what) (declare (ignore what)) (leave :exit)))
             (abort () (leave :left)))
           (setf end :done))
         (lambda ()
           (when (member end '(:hung :forced)) (charge-entry restoring))
           (end-entry restoring)
           (setf (evaluation-escape evaluation) escape)
           (unless (or (eq end :done) (evaluation-early-stop evaluation))
             (return-from contained (values end why))))))
      :done)))

(defun call-then (function cleanup)
  "UNWIND-PROTECT in which nothing can interrupt CLEANUP."
  #+sbcl (sb-sys:without-interrupts
           (unwind-protect (sb-sys:with-local-interrupts (funcall function))
             (funcall cleanup)))
  #-sbcl (unwind-protect (funcall function) (funcall cleanup)))

(defun failure-words (condition)
  (let ((text (clip (condition-text condition) 300)))
    (if (find-if #'graphic-char-p (remove #\space text))
        text
        (type-label condition))))

(defun call-refusing-abrupt-exit (function)
  "Call FUNCTION; meanwhile (SB-EXT:EXIT :ABORT T) in this thread, which unwinds nothing, ends the
entry and not the image."
  #+sbcl
  (if *launched*
      (unwind-protect
           (progn
             (sbcl:encapsulate 'sb-sys:os-exit 'swank-mcp
                               (lambda (exit &rest arguments)
                                 (if *restoring*
                                     (funcall (restoring-leave *restoring*) :exit)
                                     (apply exit arguments))))
             (funcall function))
        (sbcl:unencapsulate 'sb-sys:os-exit 'swank-mcp))
      (funcall function))
  #-sbcl (funcall function))
