;;;; recording.lisp -- what a file defines that the session compiles or loads

(cl:in-package #:swank-mcp)

;;; Files that a session loads by LOAD-SOURCE or COMPILE-SOURCE are its own as
;;; code is that it evaluates: what they define is listed, undone by a reset, and
;;; brought back when the image has died, by the forms and not by the file, whose
;;; other effects are not to happen again.  The forms are those that the compiler
;;; and LOAD keep in SB-C::*SOURCE-INFO*; that is looked at whenever a macro is
;;; expanded, and definitions are macro calls.

(defvar *file-recorder* nil
  "What the files define that the session is loading or compiling.")

(defstruct (file-recorder (:copier nil))
  file                                  ; truename of the one asked for
  (infos '())                           ; (SOURCE-INFO . number of forms seen), newest first
  (forms '())                           ; toplevels, newest first
  (package *package*))

(defstruct (toplevel (:constructor make-toplevel (form package info)) (:copier nil))
  form package info
  (noted '()))                          ; as *NOTED*

(defun own-file-p ()
  "True while the file of the recorder is compiled or loaded, or a source file
that it loads."
  (cond (*compile-file-truename*
         (equal *compile-file-truename* (file-recorder-file *file-recorder*)))
        (*load-truename*
         (not (equalp (pathname-type *load-truename*) "asd")))))

#+sbcl
(defun file-being-read ()
  "The SOURCE-INFO of the innermost file that is being compiled or loaded; code that
EVAL compiles meanwhile has one of its own."
  (loop for info = sb-c::*source-info* then (sb-c::source-info-parent info)
        while info
        when (sb-c::source-info-stream info) return info))

#+sbcl
(defun record-forms (recorder)
  "Take over the top level forms that were read since the last time."
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
        for forms = (sb-c::file-info-forms (sb-c::source-info-file-info info))
        do (loop for i from seen below (length forms)
                 do (push (make-toplevel (aref forms i) (file-recorder-package recorder) info)
                          (file-recorder-forms recorder)))
           (setf (cdr entry) (length forms))))

(defun record-definition (recorder key form)
  "FORM, in the top level form that is being processed, defines KEY."
  #+sbcl
  (let ((toplevel (find (file-being-read) (file-recorder-forms recorder) :key #'toplevel-info)))
    (when toplevel (push (cons key form) (toplevel-noted toplevel))))
  #-sbcl (progn recorder key form))

(defun note-expansion (session form)
  "Note what the macro call FORM defines, if anything."
  #+sbcl (when *file-recorder* (record-forms *file-recorder*))
  (let ((key (and *file-recorder* *noting* (own-file-p) (ignore-errors (defined-by form)))))
    (if (rest key)
        (record-definition *file-recorder* key form)
        (note-definition session form))))

(defun call-recording-files (evaluation file function loadp)
  "Call FUNCTION, which compiles or loads FILE.  What that defines becomes the
session's own, unless LOADP returns false."
  (let ((packages (list-all-packages))
        (*file-recorder* (make-file-recorder :file (truename file))))
    (unwind-protect (funcall function)
      #+sbcl (record-rest *file-recorder*)
      (when (funcall loadp)
        (take-over evaluation *file-recorder* packages)))))

(defun take-over (evaluation recorder packages-before)
  (let ((session (evaluation-session evaluation)))
    (dolist (toplevel (reverse (file-recorder-forms recorder)))
      (let ((*noted* (toplevel-noted toplevel)))
        (loop for (key) in (reverse *noted*) do (enter-definition session key))
        (dolist (entry (ignore-errors
                        (journal-entries session (toplevel-form toplevel) nil
                                         (toplevel-package toplevel))))
          (push entry (evaluation-journal evaluation)))))
    #+sbcl
    (let ((files (loop for (info) in (file-recorder-infos recorder)
                       collect (namestring (sb-c::file-info-pathname
                                            (sb-c::source-info-file-info info))))))
      (dolist (package (set-difference (list-all-packages) packages-before))
        (let ((location (ignore-errors (sb-impl::package-source-location package))))
          (when (and location
                     (member (sb-c:definition-source-location-namestring location) files
                             :test #'equal))
            (pushnew package (session-packages session))))))))
