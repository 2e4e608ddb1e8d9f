;;;; restore-entries.lisp -- a session's definitions evaluated again in a new image

(cl:in-package #:swank-mcp)

(defparameter *entry-ends* '(:done :failed :hung :forced :exit :left :storage)
  "How an entry may end; the bridge knows each by its place, and says it in words.")

(defvar *restoring* nil
  "What the current thread brings back.")

(defun restore-entries (restoring)
  "Evaluate the entries of RESTORING in order.  One that fails is tried again after
the others, which may define what it needs, as long as that helps; not one that did
not end or wanted to end the image.  Return ((INDEX WHY END) ...) of those that failed
to the end."
  (setf (restoring-evaluation restoring) *evaluation*)
  (ignore-heap-watch *evaluation*)
  (let ((todo (loop for entry in (restoring-entries restoring) for number from 1
                    collect (cons number entry)))
        (lost '()))
    (flet ((attempt (entry)
             "ENTRY, with what it failed by, if it may be tried again."
             (destructuring-bind (number text package milliseconds) entry
               (multiple-value-bind (end why)
                   (restore-entry restoring number text package milliseconds)
                 (unless (eq end :done) (collect-leavings))
                 (let ((code (end-code end restoring)))
                   (mark restoring (+ +ends-word+ number) (1+ code))
                   (case end
                     (:done nil)
                     (:failed (list entry (list (1- number) (or why "") code)))
                     (t (push (list (1- number) (or why "") code) lost)
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

(defun collect-leavings ()
  "What an entry has left in a heap that it has filled is not to be the next one's
fault."
  #+sbcl (when (> (heap-used) (* *heap-limit* 1/2 (heap-size))) (sb-ext:gc :full t)))

(defun ignore-heap-watch (evaluation)
  "The heap may have been filled by an entry that has ended meanwhile."
  (let ((escape (evaluation-escape evaluation)))
    (setf (evaluation-escape evaluation)
          (lambda (report)
            (when (evaluation-early-stop evaluation) (funcall escape report))))))

(defun end-code (end restoring)
  "END as a number, and above its lowest four bits the limit that there was, in
milliseconds."
  (logior (position end *entry-ends*)
          (ash (floor (or (restoring-limit restoring) 0) 1000) 4)))

(defun restore-entry (restoring number text package-name milliseconds)
  "Evaluate TEXT in the package.  Return how that ended and, if it failed, why."
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
  "Evaluate FORM as at top level, so that what it defines is the session's."
  (let ((*toplevel* (make-toplevel :form form :package *package*)))
    (evaluate-form form)
    (settle-toplevel evaluation *toplevel*)
    (setf (evaluation-journal evaluation) '() ; the bridge has it
          (evaluation-losses evaluation) '())))

(defun call-contained (restoring number milliseconds function)
  "Call FUNCTION, the entry of that NUMBER.  However it ends, even by a throw to
somewhere outside, bringing back goes on, unless all of that is stopped.  Return as
RESTORE-ENTRY."
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
                     (leave :failed (getf report :message))))) ; another one's fault, perhaps
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
  "UNWIND-PROTECT, with nothing that could break off CLEANUP."
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
  "Call FUNCTION; in its extent (SB-EXT:EXIT :ABORT T) in this thread, which leaves
no time for anything, ends the entry and not the image."
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
