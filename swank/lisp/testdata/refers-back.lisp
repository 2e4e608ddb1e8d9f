;;;; refers-back.lisp -- does each file of the helper refer only to files before it?
;;;; Loaded by TestHelperAlone, which calls CHECK-ORDER when Swank is there.

(require :sb-posix)
(require :sb-introspect)
(require :sb-cltl2)

(defun compile-alone (source fasl)
  "Compile the file SOURCE as a compilation unit of its own: the text that the compiler
warns with, or NIL."
  (let ((out (make-string-output-stream)))
    (multiple-value-bind (there warned failed)
        (let ((*standard-output* out) (*error-output* out) (*compile-verbose* nil))
          (compile-file source :output-file fasl))
      (and (or warned failed (not there)) (get-output-stream-string out)))))

(defun helper-functions ()
  "The symbols of SWANK-MCP that name functions."
  (let ((found '()) (package (find-package "SWANK-MCP")))
    (when package
      (do-symbols (symbol package found)
        (when (and (eq package (symbol-package symbol)) (fboundp symbol)) (push symbol found))))))

(defun symbols-quoted (form)
  "The symbols X of which 'X is in FORM.  Those of #'X the compiler follows."
  (let ((found '()))
    (labels ((walk (form)
               (cond ((atom form))
                     ((and (eq (first form) 'quote) (consp (rest form)))
                      (when (symbolp (second form)) (pushnew (second form) found)))
                     (t (loop for rest = form then (cdr rest)
                              while (consp rest) do (walk (car rest)))))))
      (walk form))
    found))

(defun symbols-quoted-in (file)
  (with-open-file (in file)
    (let ((*package* (find-package "SWANK-MCP")))
      (loop for form = (read in nil in)
            until (eq form in) append (symbols-quoted form)))))

(defun check-order (directory fasls names)
  "Say what the files of those NAMES in DIRECTORY use of what a later one defines.  Below FASLS is
then what they are compiled to, where ASDF's output translations have it."
  (let ((defined-by (make-hash-table)) (badp nil))
    (flet ((source (name) (format nil "~A~A.lisp" directory name))
           (fasl (name) (format nil "~A~A~A.fasl" fasls directory name)))
      (loop for name in names
            for number from 0
            do (ensure-directories-exist (fasl name))
               (let ((warnings (compile-alone (source name) (fasl name))))
                 (when warnings
                   (setf badp t)
                   (format t "~&~A, compiled when the files before it were there:~%~A~%" name warnings)))
               (load (fasl name))
               (dolist (symbol (helper-functions))
                 (unless (gethash symbol defined-by)
                   (setf (gethash symbol defined-by) number))))
      (loop for name in names
            for number from 0
            do (dolist (symbol (symbols-quoted-in (source name)))
                 (let ((later (gethash symbol defined-by)))
                   (when (and later (> later number))
                     (setf badp t)
                     (format t "~&~A names ~S, which ~A defines~%" name symbol (nth later names)))))))
    (unless badp (format t "~&~%Each file refers only to files before it.~%"))))
