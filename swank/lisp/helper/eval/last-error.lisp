;;;; last-error.lisp -- the last error of a session

(cl:in-package #:swank-mcp)

(defstruct (last-error (:copier nil))
  report                                ; a plist, with :KEPT frames and :CONDITION
  code                                  ; of the evaluation
  token                                 ; of the evaluation
  (at (microseconds)))

(defun note-last-error (session evaluation report)
  (let ((condition (getf report :condition)))
    (unless #+sbcl (typep condition 'sb-ext:step-condition) #-sbcl nil
      (setf (session-last-error session)
            (make-last-error :report (copy-list report)
                             :code (evaluation-code evaluation)
                             :token (evaluation-token evaluation))))))

#+sbcl
(defun condition-slots (condition)
  "((NAME TEXT) ...) of the slots of CONDITION, printed without user code."
  (call-with-frame-printing
   (find-package '#:common-lisp-user)
   (lambda ()
     (loop for slot in (sb-mop:class-slots (class-of condition))
           for name = (sb-mop:slot-definition-name slot)
           collect (list (name-label name)
                         (if (ignore-errors (slot-boundp condition name))
                             (clip (with-output-to-string (s)
                                     (show-argument (slot-value condition name) s *max-argument-depth*))
                                   500)
                             "(unbound)"))))))

(defun ancestry-names (condition)
  (loop for class in (class-ancestry (class-of condition))
        for name = (class-name class)
        until (member name '(condition #+sbcl sbcl:slot-object t))
        collect (name-label name)))

(defun last-error (&optional (session "default"))
  "Answer a plist about the last error, timeout or stop in SESSION; NIL if there was none."
  (let* ((session (ensure-session session)) (last (session-last-error session)))
    (answer
     (when last
       (let* ((report (last-error-report last)) (condition (getf report :condition)))
         (plist-without-nils
          :kind (getf report :kind)
          :type (getf report :type)
          :message (getf report :message)
          :frames (getf report :kept)
          :more (more-frames report)
          :code (clip (princ-to-string (last-error-code last)) 2000)
          :age (- (microseconds) (last-error-at last))
          :token (last-error-token last)
          :classes (and condition (ancestry-names condition))
          :slots (and condition (condition-slots condition))))))))

(defun more-frames (report)
  "How many user frames there were beyond those that REPORT keeps."
  (max 0 (- (+ (length (getf report :frames)) (getf report :more))
            (length (getf report :kept)))))

(defun backtrace (&key (session "default") suspended)
  "Answer the frames of the SUSPENDED evaluation, a token, or of the last error:
  (:TYPE TEXT :FRAMES (TEXT ...) :MORE NUMBER :AGE MICROSECONDS), (:ABSENT STATE),
or NIL if there was no error."
  (let* ((session (ensure-session session))
         (evaluation (and suspended
                          (find suspended (suspended-evaluations session)
                                :key #'evaluation-token)))
         (shown (and suspended (null evaluation) (find-shown-error suspended)))
         (last (session-last-error session)))
    (flet ((about (report at)
             (plist-without-nils :type (getf report :type)
                                 :kind (getf report :kind)
                                 :frames (getf report :kept)
                                 :more (more-frames report)
                                 :age (- (microseconds) at))))
      (answer
       (cond (evaluation
              (let ((debuggee (evaluation-debuggee evaluation)))
                (about (debuggee-report debuggee) (debuggee-since debuggee))))
             (shown (about (shown-error-report shown) (shown-error-at shown)))
             (suspended
              (list :absent (if (find-evaluation suspended) :running :ended)))
             (last (about (last-error-report last) (last-error-at last))))))))
