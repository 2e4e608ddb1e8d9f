;;;; orphans.lisp -- definitions in the image that their files no longer have

(cl:in-package #:swank-mcp)

;;; Loading a file again makes a new function or source location for each definition in it.
;;; A definition that still has its old one is no longer in the file, unless the file defines
;;; only what is missing.  So the text of the file is searched as well.

(defstruct (orphan (:copier nil))
  "The definition of NAME as a KIND from FILE.  IDENTITY is a weak pointer to an object that
each new definition replaces: a function or a source location."
  kind name file identity)

(defun function-source (function)
  "SBCL's record of what FUNCTION was compiled from, or NIL."
  (ignore-errors
   (sbcl:debug-info-source
    (sbcl:%code-debug-info (sbcl:fun-code-header (sbcl:%fun-fun function))))))

(defun function-file (function)
  "The name of the file that FUNCTION was compiled from, or NIL."
  (let ((source (function-source function)))
    (and source (sbcl:debug-source-namestring source))))

(defun location-file (location)
  (and (sbcl:definition-source-location-p location)
       (sbcl:definition-source-location-namestring location)))

(defun class-location (name)
  (let ((class (find-class name nil)))
    (and class
         (or (ignore-errors (sbcl:definition-source class))
             (ignore-errors (sbcl:classoid-source-location (sbcl:find-classoid name)))))))

(defun type-identity (name)
  "The object that identifies the DEFTYPE of NAME, or NIL.  A type that stands for one specifier is expanded
by a closure of SBCL's own, and has a location, which stays when the type is defined otherwise or taken
away; any other expander has its own place."
  (let ((expander (ignore-errors (sbcl:info :type :expander name))))
    (and (functionp expander)
         (if (eql 0 (search "SYS:" (or (ignore-errors (function-file expander)) "")))
             (or (sbcl:info :type :source-location name) expander)
             expander))))

(defun identities (symbol)
  "((KIND NAME OBJECT) ...) of what SYMBOL names, OBJECT a function or a location."
  (let ((found '()))
    (flet ((add (kind name object) (when object (push (list kind name object) found)))
           (place (kind) (sbcl:info :source-location kind symbol)))
      (dolist (name (list symbol (list 'setf symbol)))
        (when (fboundp name)
          (let ((function (or (and (symbolp name) (macro-function name)) (fdefinition name))))
            (cond ((typep function 'generic-function)
                   (add :generic name (ignore-errors (sbcl:definition-source function)))
                   (dolist (method (sb-mop:generic-function-methods function))
                     (add :method method (ignore-errors (sbcl:definition-source method)))))
                  (t (add :function name function))))))
      (add :compiler-macro symbol (compiler-macro-function symbol))
      (add :variable symbol (ignore-errors (or (and (boundp symbol)
                                                    (or (place :variable) (place :constant)))
                                               (place :symbol-macro))))
      (add :class symbol (class-location symbol))
      (add :type symbol (type-identity symbol)))
    found))

(defun file-names (files)
  "A hash table from each name that the compiler may give one of FILES to that file."
  (let ((names (make-hash-table :test 'equal)))
    (dolist (file files names)
      (let ((path (native-file file)))
        (dolist (name (list file (namestring path)
                            (ignore-errors (native-name (truename path)))
                            (ignore-errors (namestring (truename path)))))
          (when name (setf (gethash name names) file)))))))

(defun definitions-from (files)
  "An ORPHAN for each definition in the image that came from FILES."
  (when files
    (let ((names (file-names files)) (found '()))
      (flet ((visit (symbol)
               (loop for (kind name object) in (ignore-errors (identities symbol))
                     for file = (if (functionp object) (function-file object) (location-file object))
                     for ours = (and file (gethash file names))
                     when ours
                       do (push (make-orphan :kind kind :name name :file ours
                                             :identity (sb-ext:make-weak-pointer object))
                                found))))
        (dolist (package (list-all-packages))
          (unless (implementation-package-p package) ; COMMON-LISP is none: it has PRINT-OBJECT
            (call-with-present-symbols
             (lambda (symbol status)
               (declare (ignore status))
               (when (eq (symbol-package symbol) package) (visit symbol)))
             package))))
      found)))

(defun still-defined-p (orphan)
  "True if the definition of ORPHAN is there and has not been replaced."
  (let ((object (sb-ext:weak-pointer-value (orphan-identity orphan))) (name (orphan-name orphan)))
    (and object
         (case (orphan-kind orphan)
           (:method (let ((function (sb-mop:method-generic-function name)))
                      (and function
                           (ignore-errors
                            (eq function (fdefinition (sb-mop:generic-function-name function))))
                           (eq object (sbcl:definition-source name)))))
           (t (member-if (lambda (identity)
                           (and (equal (first identity) (orphan-kind orphan))
                                (equal (second identity) name)
                                (eq (third identity) object)))
                         (ignore-errors (identities (if (consp name) (second name) name)))))))))

(defun orphan-symbol (orphan)
  "The symbol to search for in a source text."
  (let ((name (if (eq (orphan-kind orphan) :method)
                  (sb-mop:generic-function-name
                   (sb-mop:method-generic-function (orphan-name orphan)))
                  (orphan-name orphan))))
    (if (consp name) (second name) name)))

(defun orphan-words (orphan)
  "Other names in the text of a method's definition: those of its specializers."
  (when (eq (orphan-kind orphan) :method)
    (loop for specializer in (sb-mop:method-specializers (orphan-name orphan))
          for name = (and (typep specializer 'class) (class-name specializer))
          when (and name (symbolp name) (not (eq name t))) collect (symbol-name name))))

(defun in-its-file-p (orphan)
  (let ((text (file-text (native-file (orphan-file orphan)))))
    (and text
         (definition-within text 0 (length text) (symbol-name (orphan-symbol orphan))
                            (orphan-words orphan))
         t)))

(defvar *orphans* '()
  "The ORPHANs known so far.")

(defun note-orphans (before gone files)
  "A system was built from FILES.  A definition from BEFORE that is still the same is an orphan
if its file is GONE or no longer has it in its text.  The reply of the current evaluation
names these, and the older orphans of FILES."
  (let ((*file-texts* (make-hash-table :test 'equal)))
    (dolist (orphan before)
      (when (and (still-defined-p orphan)
                 (or (member (orphan-file orphan) gone :test #'string=)
                     (not (in-its-file-p orphan))))
        (push orphan *orphans*))))
  (setf *orphans* (remove-duplicates (remove-if-not #'still-defined-p *orphans*)
                                     :key (lambda (orphan)
                                            (list (orphan-kind orphan) (orphan-name orphan)))
                                     :test #'equal))
  (when *evaluation*
    (let ((ours (remove-if-not (lambda (orphan)
                                 (member (orphan-file orphan) files :test #'string=))
                               *orphans*)))
      (setf (evaluation-orphans *evaluation*) (union ours (evaluation-orphans *evaluation*))))))

;;; How a reply names them

(defun all-methods-orphaned-p (name orphans)
  "True if all methods of the generic function NAME are among ORPHANS."
  (and (fboundp name)
       (typep (fdefinition name) 'generic-function)
       (every (lambda (method) (find method orphans :key #'orphan-name))
              (sb-mop:generic-function-methods (fdefinition name)))))

(defun full-spelling (name)
  "NAME, a symbol or (SETF SYMBOL), with its package, whatever the current package."
  (if (consp name)
      (format nil "(SETF ~A)" (full-spelling (second name)))
      (if (eq (symbol-package name) (find-package '#:common-lisp))
          (symbol-name name)
          (with-standard-io-syntax
            (let ((*package* (find-package '#:keyword))) (prin1-to-string name))))))

(defun method-label (method function)
  (format nil "method ~A (~{~A~^ ~})" (full-spelling function)
          (loop for specializer in (sb-mop:method-specializers method)
                for name = (and (typep specializer 'class) (class-name specializer))
                collect (if (and name (symbolp name)) (full-spelling name) "EQL"))))

(defun orphan-label (orphan orphans)
  "How a reply names ORPHAN, one of ORPHANS; NIL if naming another one implies it."
  (let ((name (orphan-name orphan)))
    (flet ((named-p (name) (find name orphans :key #'orphan-name)))
      (ecase (orphan-kind orphan)
        (:method
         (let ((function (sb-mop:generic-function-name (sb-mop:method-generic-function name))))
           (if (all-methods-orphaned-p function orphans)
               (full-spelling function)
               (method-label name function))))
        (:generic (and (all-methods-orphaned-p name orphans) (full-spelling name)))
        (:function (and (not (and (consp name) (named-p (second name)))) (full-spelling name)))
        ((:compiler-macro :variable :class :type) (full-spelling name))))))

(defun orphan-notes (orphans)
  "What a reply says of ORPHANS: a list of one line, or NIL."
  (when orphans
    (let* ((labels (sort (remove-duplicates
                          (remove nil (mapcar (lambda (orphan) (orphan-label orphan orphans))
                                              orphans))
                          :test #'string=)
                         #'string<))
           (more (count-beyond labels 10)))
      (when labels
        (list (format nil "Still there from before, and not defined again by what was loaded: ~{~A~^, ~}~@[ and ~D more~]."
                      (first-few labels 10) more))))))
