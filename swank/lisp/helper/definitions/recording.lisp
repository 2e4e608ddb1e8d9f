;;;; recording.lisp -- the top level forms of files that the session compiles or loads

(cl:in-package #:swank-mcp)

;;; Files that a session loads, by LOAD-SOURCE, by COMPILE-SOURCE or by LOAD in its code, count
;;; as code that it evaluates.  What they define is listed, undefined by a reset, and restored
;;; when the image has died.  The restore evaluates the defining forms, not the file, whose other
;;; effects must not happen again.  SBCL keeps the forms in SB-C::*SOURCE-INFO*; we read it
;;; whenever a macro is expanded, and definitions are macro calls.  Files of systems belong to
;;; ASDF, and so does what they define.

(defstruct (file-recorder (:copier nil))
  file                   ; truename of the one asked for; NIL if code has called LOAD
  (infos '())            ; (SOURCE-INFO . number of forms seen), newest first
  (forms '())            ; toplevels, newest first
  (package *package*))

(defun adopt-file ()
  "Record the definitions of the file that the session's code is loading or compiling, unless
ASDF does that."
  (unless (or *file-recorder* (systems-file-p))
    (setf *file-recorder* (make-file-recorder))))

(defun systems-file-p ()
  "True while ASDF works, or a file of a system or of SBCL is being loaded."
  (or (asdf-at-work-p)
      (and *load-truename*
           (or (equalp (pathname-type *load-truename*) "asd")
               #+sbcl (module-file-p *load-truename*)))))

#+sbcl
(defun module-file-p (file)
  "True of SBCL's own modules, which REQUIRE loads."
  (and (equal (first (last (pathname-directory file))) "contrib")
       (stringp (pathname-name file))
       (or (eql 0 (search "sb-" (pathname-name file)))
           (member (pathname-name file) '("asdf" "uiop") :test #'string=))))

(defun own-file-p ()
  "True while the recorder's file, or a source file that it loads, is compiled or loaded."
  (let ((file (file-recorder-file *file-recorder*)))
    (cond ((systems-file-p) nil)
          ((null file) t)
          (*compile-file-truename* (equal *compile-file-truename* file))
          (*load-truename* t))))

#+sbcl
(defun file-being-read ()
  "The SOURCE-INFO of the innermost file that is being compiled or loaded.  Code that EVAL
compiles has one of its own, without a stream."
  (loop for info = sbcl:*source-info* then (sbcl:source-info-parent info)
        while info
        when (sbcl:source-info-stream info) return info))

#+sbcl
(defun record-forms (recorder)
  "Record the top level forms that were read since the last time."
  (let ((info (file-being-read)))
    (when (and info (own-file-p))
      (unless (assoc info (file-recorder-infos recorder))
        (push (cons info 0) (file-recorder-infos recorder)))
      (setf (file-recorder-package recorder) *package*)
      (record-rest recorder))))

#+sbcl
(defun record-rest (recorder)
  (loop for entry in (reverse (file-recorder-infos recorder))
        for (info . seen) = entry
        for forms = (sbcl:file-info-forms (sbcl:source-info-file-info info))
        do (loop for i from seen below (length forms)
                 do (let ((before (first (file-recorder-forms recorder))))
                      ;; LOAD reads a form when it has evaluated the one before
                      (when (and before (not *compile-file-truename*))
                        (setf (toplevel-endedp before) t)))
                    (push (make-toplevel :form (aref forms i) :info info
                                         :package (file-recorder-package recorder))
                          (file-recorder-forms recorder)))
           (setf (cdr entry) (length forms))))

#+sbcl
(defun recorded-toplevel (recorder)
  "The top level form that is being processed."
  (let ((info (file-being-read)))
    (and info (find info (file-recorder-forms recorder) :key #'toplevel-info))))

(defun recorded-toplevels (recorder endedp)
  "The forms of RECORDER, in order.  ENDEDP is true if all were evaluated to their end."
  #+sbcl (record-rest recorder)
  (let ((forms (reverse (file-recorder-forms recorder))))
    (when endedp
      (dolist (toplevel forms) (setf (toplevel-endedp toplevel) t)))
    forms))
