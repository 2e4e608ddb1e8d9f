;;;; missing.lisp -- the helper in an SBCL that lacks a name of core/sbcl.lisp.
;;;; Loaded by TestHelperAlone, which calls CHECK-MISSING when Swank is there.
;;;;
;;;; The helper is loaded as it was compiled.  Then a process is forked for each name, in which it is
;;;; taken out of its package, so that reading and FIND-SYMBOL do not find it; of the
;;;; helper's forms only those that have the name are read and evaluated again, after that
;;;; of the door.  In one more process all of them are gone, and the whole helper is loaded.

(require :sb-posix)
(require :sb-introspect)
(require :sb-cltl2)

(defvar *directory*)

(defun source (name) (format nil "~A~A.lisp" *directory* name))

(defun ours (name) (find-symbol name "SWANK-MCP"))

(defun quietly (function)
  (let* ((nowhere (make-broadcast-stream)) (*standard-output* nowhere) (*error-output* nowhere))
    (handler-bind ((warning #'muffle-warning))
      (funcall function))))

(defun load-helper (files)
  (quietly (lambda () (dolist (file files) (load file)))))

(defun lines-of (name)
  (with-open-file (in (source name))
    (loop for line = (read-line in nil) while line collect line)))

(defun forms-of (name)
  (with-open-file (in (source name))
    (let ((*package* (find-package "SWANK-MCP")))
      (loop for form = (read in nil in) until (eq form in) collect form))))

(defun internals ()
  "((PACKAGE NAME FORM) ...) of all names of the door; FORM is the one that opens it."
  (loop for form in (forms-of "core/sbcl")
        when (and (consp form) (eq (first form) (ours "DEFINE-INTERNALS")))
          append (loop for (nil . names) in (cddr form)
                       append (loop for name in names
                                    collect (list (string (second form))
                                                  (string (if (consp name) (first name) name))
                                                  form)))))

(defun named-in-p (symbol form)
  (loop while (consp form)
          thereis (named-in-p symbol (pop form))
        finally (return (if (sb-int:comma-p form)
                            (named-in-p symbol (sb-int:comma-expr form))
                            (eq symbol form)))))

(defun users-of (name names)
  "Those of the files NAMES that have SBCL:NAME."
  (let ((text (format nil "sbcl:~(~A~)" name)))
    (remove-if-not (lambda (file) (some (lambda (line) (search text line)) (lines-of file))) names)))

(defun take-away (package name)
  (let ((symbol (find-symbol name package)))
    (sb-ext:without-package-locks
      (dolist (package (list (symbol-package symbol) package "SWANK-MCP/SBCL"))
        (unintern symbol package)))
    (assert (null (find-symbol name package)))))

(defun answer (name &rest arguments)
  "What the function NAME of the helper prints."
  (with-output-to-string (*standard-output*)
    (handler-bind ((warning #'muffle-warning))
      (apply (ours name) arguments))))

(defun problem ()
  "What is wrong with the helper as it is, or NIL."
  (flet ((answer (code want)
           (let ((answer (answer "EVALUATE" code)))
             (unless (search want answer)
               (return-from problem (format nil "~A => ~A" code answer))))))
    (answer "(+ 1 2)" "(:values ((\"3\"))")
    (answer "(car 42)" "TYPE-ERROR")
    (answer "(defun door (x) (list x))" "DOOR")
    (answer "(error \"once\")" "once"))
  nil)

(defun without (package name form files)
  "What is wrong with the helper without NAME of PACKAGE, which FORM opens and FILES have."
  (take-away package name)
  (eval form)
  (let ((stand-in (find-symbol name "SWANK-MCP/SBCL"))
        (missing (format nil "~A::~A" package name))
        (*package* (find-package "SWANK-MCP"))
        (used nil))
    (quietly (lambda ()
               (dolist (file files)
                 (dolist (form (forms-of file))
                   (when (named-in-p stand-in form)
                     (setf used t)
                     (eval form))))))
    (cond ((not used) "nothing uses it")
          ((not (equal (list missing) (symbol-value (ours "*MISSING-INTERNALS*"))))
           (format nil "it is not told: ~S" (symbol-value (ours "*MISSING-INTERNALS*"))))
          ((not (search missing (funcall (ours "MISSING-NOTE")))) "the note does not tell it")
          (t (problem)))))

(defun without-all (internals names)
  (loop for (package name) in internals
        when (find-symbol name package) do (take-away package name))
  (delete-package "SWANK-MCP")
  (delete-package "SWANK-MCP/SBCL")
  (load-helper (mapcar #'source names))
  (problem))

(defun check-in-fork (what function)
  "The number of a new process, which says what is wrong and ends with status 1 if
FUNCTION returns that or fails."
  (finish-output)
  (let ((pid (sb-posix:fork)) (out *standard-output*))
    (when (zerop pid)
      (flet ((end (problem)
               (when problem (format out "~&without ~A: ~A~%" what problem))
               (finish-output out)
               (sb-ext:exit :code (if problem 1 0) :abort t)))
        ;; not a handler: it would see the errors that the helper is to answer
        (setf sb-ext:*invoke-debugger-hook*
              (lambda (condition hook) (declare (ignore hook)) (end condition)))
        (end (sb-ext:with-timeout 600 (funcall function)))))
    pid))

(defun check-missing (directory fasls names every seed)
  "Check the files NAMES of DIRECTORY, compiled below FASLS, without all names and without each in
turn of one in EVERY, which SEED chooses."
  (setf *directory* directory)
  (load-helper (loop for name in names collect (format nil "~A~A~A.fasl" fasls directory name)))
  (let* ((internals (internals))
         (tried (loop for internal in internals
                      for number from 0
                      when (= (mod number every) (mod seed every)) collect internal))
         (all (check-in-fork "all of them" (lambda () (without-all internals names))))
         (failed 0))
    (flet ((await (pid)
             (unless (zerop (nth-value 1 (sb-posix:waitpid pid 0))) (incf failed))))
      (loop for (package name form) in tried
            do (let ((files (users-of name names)))
                 (await (check-in-fork (format nil "~A::~A" package name)
                                       (lambda () (without package name form files))))))
      (await all))
    (format t "~&~D of ~D names, ~D failures~%" (length tried) (length internals) failed)))
