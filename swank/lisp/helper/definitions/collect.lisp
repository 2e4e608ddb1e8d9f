;;;; collect.lisp -- what surrounds an evaluation or a file, to find what it defines

(cl:in-package #:swank-mcp)

(defun call-noting-definitions (evaluation function)
  (let* ((session (evaluation-session evaluation))
         (*packages-before* (if *launched* (session-known-packages session) (all-packages)))
         (*load-truename* nil) (*load-pathname* nil)
         (*noting* session) (*toplevel* nil) (*file-recorder* nil)
         (expand *macroexpand-hook*)
         (*macroexpand-hook* (lambda (expander form environment)
                               (note-expansion form environment)
                               (funcall expand expander form environment)))
         #+sbcl (sbcl:*source-plist*
                  (list* :swank-mcp (session-name session) sbcl:*source-plist*)))
    (unless *launched* (note-known-systems))  ; the person may have loaded some
    (unwind-protect (funcall function)
      (commit-loaded-files evaluation nil)
      (commit-definitions evaluation)
      (note-packages session *packages-before*)
      (keep-for-evaluation evaluation)
      (note-new-systems session))))

(defun commit-toplevel (evaluation toplevel)
  "Commit what TOPLEVEL, which has been evaluated to its end, has defined."
  (let ((session (evaluation-session evaluation)) (form (toplevel-form toplevel)))
    (setf (toplevel-endedp toplevel) t
          (toplevel-trails toplevel) '())
    (note-packages session *packages-before*)
    (setf *packages-before* (session-known-packages session))
    (commit-loaded-files evaluation t)
    (call-recording-trouble evaluation
                            (lambda ()
                              (commit-packages evaluation form)
                              (commit-features evaluation form)
                              (commit-readtable evaluation)))
    (commit-definitions evaluation (list toplevel))))

(defun call-recording-files (evaluation file function)
  "Call FUNCTION, which compiles or loads FILE and returns true if it has loaded all of it.
What that defines becomes the session's own."
  (let ((packages (list-all-packages)) (endedp nil)
        (*file-recorder* (make-file-recorder :file (truename file))))
    (unwind-protect (setf endedp (funcall function))
      (commit-recorded evaluation *file-recorder* packages endedp))))

(defun commit-loaded-files (evaluation endedp)
  "Commit what the files define that the code itself has loaded."
  (when *file-recorder*
    (commit-recorded evaluation (shiftf *file-recorder* nil) *packages-before* endedp)))

(defun commit-recorded (evaluation recorder packages-before endedp)
  (let ((toplevels (recorded-toplevels recorder endedp)) (session (evaluation-session evaluation)))
    (adopt-packages session recorder packages-before)
    (call-recording-trouble
     evaluation
     (lambda ()
       (commit-packages evaluation (cons 'progn (mapcar #'toplevel-form toplevels)))
       (commit-features evaluation (mapcar #'toplevel-form toplevels))))
    (commit-definitions evaluation toplevels)
    (drop-candidates session toplevels)))

(defun adopt-packages (session recorder packages-before)
  "Make the packages that the files of RECORDER have made the session's."
  #+sbcl
  (let ((files (loop for (info) in (file-recorder-infos recorder)
                     collect (namestring (sbcl:file-info-pathname
                                          (sbcl:source-info-file-info info))))))
    (setf (session-files session) (union files (session-files session) :test #'string=))
    (dolist (package (set-difference (list-all-packages) packages-before))
      (when (member (package-origin package) files :test #'equal)
        (pushnew package (session-packages session)))))
  #-sbcl (progn session recorder packages-before))
