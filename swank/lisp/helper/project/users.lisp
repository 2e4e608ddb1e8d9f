;;;; users.lisp -- functions that may have been compiled with an older definition of something
;;;;
;;;; The code of a function has in it what macros have expanded to, and what is inlined: types,
;;;; constants, slots of structures, functions, and what macros call as they expand.  So each function
;;;; that is older than a change of anything is suspected.  A fresh image, which compiles it anew, shows
;;;; whether its code would be another one.  That is told if the code may have in it what has changed: an
;;;; image that had loaded all before it compiled a function knows more of it than a fresh one.

(cl:in-package #:swank-mcp)

(defun loaded-number (origin)
  "The number of the load from which the definition of ORIGIN came."
  (let ((loaded (loaded-file (origin-file origin))))
    (if loaded (loaded-file-number loaded) 0)))

(defun live-as-loaded-p (verdict origin)
  "True if the text that was evaluated is the one that was loaded."
  (let* ((text (verdict-text verdict)) (form (and text (live-form text (verdict-key verdict)))))
    (and form (eql (source-form-code form) (origin-code origin)))))

(defun changed-since (key origin comparison)
  "Since when the definition KEY of ORIGIN has another text than it had first: :LIVE, the number of a
load, or NIL."
  (let ((verdict (gethash key (comparison-states comparison))) (loaded (loaded-file (origin-file origin))))
    (case (and verdict (verdict-state verdict))
      ((:live :live-same)
       (unless (or (live-as-loaded-p verdict origin) (value-kept-p origin)) :live))
      (t (and loaded
              (> (origin-since origin) (loaded-file-first loaded))
              (origin-since origin))))))

(defun changes (comparison)
  "((KEY . SINCE) ...) of the definitions that have changed since they were loaded first."
  (with-shared-table (*origins*)
    (loop for key being the hash-keys of *origins* using (hash-value origin)
          for since = (changed-since key origin comparison)
          when since collect (cons key since))))

(defun older-p (origin since)
  "True if the definition of ORIGIN was compiled before the change SINCE."
  (or (eq since :live)
      (< (max (loaded-number origin) (origin-since origin)) since)))

(defun changes-before (key changes comparison)
  "The keys in CHANGES that are younger than the function KEY, which a file has as it is."
  (let ((origin (gethash key *origins*)))
    (and origin
         (eq (state-of key comparison) :same)
         (loop for (changed . since) in changes
               when (and (not (equal changed key)) (older-p origin since)) collect changed))))

(defun suspected-users (comparison)
  "((KEY CHANGED ...) ...): functions of the files, and the keys of what has changed since they were
compiled."
  (let ((changes (and *launched* ; a person's image may compile by another policy than a fresh one
                      (changes comparison))))
    (when changes
      (loop for key being the hash-keys of (comparison-disk comparison)
            for changed = (and (member (car key) '(:function :method :compiler-macro))
                               (changes-before key changes comparison))
            when changed collect (cons key changed)))))

;;; What may be in the code of a function

(defun mentioned (form version)
  "The symbols that FORM of VERSION has."
  (let ((found '()))
    (dolist (token (tokens-in (scan-datum (version-text version) (source-form-begin form))) found)
      (let ((symbol (token-symbol token (source-form-package form))))
        (when symbol (pushnew symbol found))))))

(defun forms-by-name (comparison)
  "A table from symbols to the forms on disk, (FORM . VERSION), that define something of that name, or
seem to do it by a macro."
  (let ((table (make-hash-table :test 'eq)))
    (loop for version being the hash-values of (comparison-files comparison)
          do (loop for form across (if version (version-forms version) #())
                   for package = (find-package (source-form-package form))
                   for name = (second (form-head form (version-text version)))
                   do (dolist (symbol (cons (and name package (find-symbol name package))
                                            (loop for spec in (source-form-specs form)
                                                  collect (key-symbol (spec-key spec)))))
                        (when (and symbol (symbolp symbol))
                          (push (cons form version) (gethash symbol table))))))
    table))

(defun computing-p (form version)
  "True if FORM of VERSION may itself call functions as it is read or compiled."
  (or (search "#." (version-text version) :start2 (source-form-begin form) :end2 (source-form-end form))
      (find-if (lambda (symbol)
                 (member symbol '("MACROLET" "SYMBOL-MACROLET" "EVAL-WHEN") :test #'string=))
               (mentioned form version))))

(defun called-only-p (symbol forms)
  "True if code that names SYMBOL, which FORMS define, has nothing in it of what they say: that is called, or
looked up, as it runs."
  (and (every (lambda (form)
                (member (source-form-operator (car form))
                        '("DEFUN" "DEFGENERIC" "DEFMETHOD" "DEFVAR" "DEFPARAMETER")
                        :test #'equal))
              forms)
       #+sbcl (null (sbcl:info :function :inlinep symbol))
       (null (compiler-macro-function symbol))))

(defun structure-of (symbol)
  "The name of the structure that has the accessor, constructor, predicate or copier SYMBOL, or NIL."
  #+sbcl (let ((transform (sbcl:info :function :source-transform symbol)))
           (and (consp transform) (sbcl:dd-name (car transform))))
  #-sbcl (progn symbol nil))

(defun unknown-maker-p (symbol comparison)
  "True if code that names SYMBOL, of a package of the project, may have in it what no form that is seen says."
  (and (member (symbol-package symbol) (comparison-packages comparison))
       (or (macro-function symbol)
           (and (fboundp symbol) (compiler-macro-function symbol))
           #+sbcl (sbcl:info :function :inlinep symbol)
           #+sbcl (sbcl:info :type :kind symbol)
           #+sbcl (not (member (sbcl:info :variable :kind symbol) '(:unknown :special :global)))
           #-sbcl t)))

(defun compiled-in (form version forms comparison)
  "(VALUES TABLE OPENP): the symbols on which the code of FORM of VERSION may depend, T each, followed
through what the table FORMS has of macros, types and whatever else is expanded as it is compiled.  OPENP is
true if that cannot be followed."
  (let ((reached (make-hash-table :test 'eq)) (openp nil) (left '()))
    (labels ((follow (form version inside)
               (dolist (symbol (mentioned form version))
                 (unless (gethash symbol reached)
                   (let ((known (gethash symbol forms)) (structure (structure-of symbol)))
                     (cond (structure (enter structure (gethash structure forms) inside))
                           ((null known)
                            (when (unknown-maker-p symbol comparison) (setf openp t))))
                     (enter symbol known inside)))))
             (enter (symbol known inside)
               ;; named outside only, it is looked at again if something that runs names it
               (when (or inside (not (called-only-p symbol known)))
                 (unless (gethash symbol reached)
                   (setf (gethash symbol reached) t)
                   (dolist (each known) (push each left))))))
      (follow form version (computing-p form version))
      (loop while left
            do (destructuring-bind (form . version) (pop left) (follow form version t))))
    (values reached openp)))

(defun named-changes (key changed forms comparison)
  "Those of the keys CHANGED that the form of KEY names on disk; without any, those that may be in its code;
all, if nobody can tell.  FORMS is as of FORMS-BY-NAME."
  (destructuring-bind (form . version) (gethash key (comparison-disk comparison))
    (let ((names (mentioned form version)))
      (flet ((named-p (other) (and (not (eq (car other) :package)) (member (key-symbol other) names))))
        (or (remove-if-not #'named-p changed)
            (multiple-value-bind (reached openp) (compiled-in form version forms comparison)
              (if openp
                  changed
                  (remove-if-not (lambda (other)
                                   (if (eq (car other) :package)
                                       (equal (cdr other) (source-form-package form))
                                       (gethash (key-symbol other) reached)))
                                 changed))))))))
