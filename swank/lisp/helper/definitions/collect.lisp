;;;; collect.lisp -- around an evaluation or a file: what it defines is noted and entered

(cl:in-package #:swank-mcp)

(defun call-noting-definitions (evaluation function)
  (let* ((session (evaluation-session evaluation))
         (*packages-before* (if *launched* (session-known-packages session) (list-all-packages)))
         (*load-truename* nil) (*load-pathname* nil)
         (*noting* session) (*toplevel* nil) (*file-recorder* nil)
         (expand *macroexpand-hook*)
         (*macroexpand-hook* (lambda (expander form environment)
                               (note-expansion form environment)
                               (funcall expand expander form environment)))
         #+sbcl (sbcl:*source-plist*
                  (list* :swank-mcp (session-name session) sbcl:*source-plist*)))
    (unless *launched* (know-systems))  ; a person may have loaded some
    (unwind-protect (funcall function)
      (take-over-files evaluation nil)
      (settle evaluation)
      (note-packages session *packages-before*)
      (note-new-systems session))))

(defun settle-toplevel (evaluation toplevel)
  "TOPLEVEL has been evaluated to its end."
  (let ((session (evaluation-session evaluation)) (form (toplevel-form toplevel)))
    (setf (toplevel-endedp toplevel) t
          (toplevel-trails toplevel) '())
    (note-packages session *packages-before*)
    (setf *packages-before* (session-known-packages session))
    (take-over-files evaluation t)
    (call-telling-trouble evaluation
                          (lambda ()
                            (settle-packages evaluation form)
                            (settle-features evaluation form)
                            (settle-readtable evaluation)))
    (settle evaluation (list toplevel))))

(defun call-recording-files (evaluation file function)
  "Call FUNCTION, which compiles or loads FILE and returns true if it has loaded all
of it.  What that defines becomes the session's own."
  (let ((packages (list-all-packages)) (endedp nil)
        (*file-recorder* (make-file-recorder :file (truename file))))
    (unwind-protect (setf endedp (funcall function))
      (take-over evaluation *file-recorder* packages endedp))))

(defun take-over-files (evaluation endedp)
  "Take over what code has loaded by itself."
  (when *file-recorder*
    (take-over evaluation (shiftf *file-recorder* nil) *packages-before* endedp)))

(defun take-over (evaluation recorder packages-before endedp)
  (let ((toplevels (recorded-toplevels recorder endedp)) (session (evaluation-session evaluation)))
    (adopt-packages session recorder packages-before)
    (call-telling-trouble
     evaluation
     (lambda ()
       (settle-packages evaluation (cons 'progn (mapcar #'toplevel-form toplevels)))
       (settle-features evaluation (mapcar #'toplevel-form toplevels))))
    (settle evaluation toplevels)
    (drop-candidates session toplevels)))

(defun adopt-packages (session recorder packages-before)
  "The packages that the files of RECORDER have made are the session's."
  #+sbcl
  (let ((files (loop for (info) in (file-recorder-infos recorder)
                     collect (namestring (sbcl:file-info-pathname
                                          (sbcl:source-info-file-info info))))))
    (setf (session-files session) (union files (session-files session) :test #'string=))
    (dolist (package (set-difference (list-all-packages) packages-before))
      (when (member (package-origin package) files :test #'equal)
        (pushnew package (session-packages session)))))
  #-sbcl (progn session recorder packages-before))
