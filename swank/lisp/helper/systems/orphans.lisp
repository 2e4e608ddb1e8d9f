;;;; orphans.lisp -- definitions in the image that their files no longer have

(cl:in-package #:swank-mcp)

;;; Loading a file again makes each function and each record of a place anew.  What is
;;; the same one as before was not in the file any more, unless the file defines it
;;; only where it is not there yet: so the text is asked, too.

(defstruct (orphan (:conc-name left-) (:copier nil))
  "The definition of NAME as a KIND from FILE.  IDENTITY is a weak pointer to the
object that is another one after another definition."
  kind name file identity)

#+sbcl
(defun function-file (function)
  "The name of the file that FUNCTION was compiled from, or NIL."
  (ignore-errors
   (sbcl:debug-source-namestring
    (sbcl:debug-info-source
     (sbcl:%code-debug-info (sbcl:fun-code-header (sbcl:%fun-fun function)))))))

#+sbcl
(defun location-file (location)
  (and (sbcl:definition-source-location-p location)
       (sbcl:definition-source-location-namestring location)))

#+sbcl
(defun class-location (name)
  (let ((class (find-class name nil)))
    (and class
         (or (ignore-errors (sbcl:definition-source class))
             (ignore-errors (sbcl:classoid-source-location (sbcl:find-classoid name)))))))

#+sbcl
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
      (let ((expander (ignore-errors (sbcl:info :type :expander symbol))))
        ;; of a type without arguments SBCL does not know the place
        (add :type symbol (and (functionp expander) expander))))
    found))

#+sbcl
(defun file-names (files)
  "A table of the names by which the compiler may call FILES, to those."
  (let ((names (make-hash-table :test 'equal)))
    (dolist (file files names)
      (let ((path (native-file file)))
        (dolist (name (list file (namestring path)
                            (ignore-errors (native-name (truename path)))
                            (ignore-errors (namestring (truename path)))))
          (when name (setf (gethash name names) file)))))))

(defun definitions-from (files)
  "The ORPHANs that all definitions in the image from FILES would be."
  #+sbcl
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
          (unless (implementation-package-p package) ; in COMMON-LISP are methods of PRINT-OBJECT
            (with-package-iterator (next (list package) :internal :external)
              (loop
                (multiple-value-bind (more symbol) (next)
                  (unless more (return))
                  (when (eq (symbol-package symbol) package) (visit symbol))))))))
      found))
  #-sbcl (progn files '()))

(defun left-p (orphan)
  "True if what ORPHAN stands for is still defined, and not by anything newer."
  #+sbcl
  (let ((object (sb-ext:weak-pointer-value (left-identity orphan))) (name (left-name orphan)))
    (and object
         (case (left-kind orphan)
           (:method (let ((function (sb-mop:method-generic-function name)))
                      (and function
                           (ignore-errors
                            (eq function (fdefinition (sb-mop:generic-function-name function))))
                           (eq object (sbcl:definition-source name)))))
           (t (member-if (lambda (identity)
                           (and (equal (first identity) (left-kind orphan))
                                (equal (second identity) name)
                                (eq (third identity) object)))
                         (ignore-errors (identities (if (consp name) (second name) name))))))))
  #-sbcl (progn orphan nil))

(defun left-symbol (orphan)
  "The name to look for in a text, a symbol."
  #+sbcl
  (let ((name (if (eq (left-kind orphan) :method)
                  (sb-mop:generic-function-name (sb-mop:method-generic-function (left-name orphan)))
                  (left-name orphan))))
    (if (consp name) (second name) name))
  #-sbcl (progn orphan nil))

(defun left-words (orphan)
  "What else is in the text of a method's definition: names of its specializers."
  #+sbcl
  (when (eq (left-kind orphan) :method)
    (loop for specializer in (sb-mop:method-specializers (left-name orphan))
          for name = (and (typep specializer 'class) (class-name specializer))
          when (and name (symbolp name) (not (eq name t))) collect (symbol-name name)))
  #-sbcl (progn orphan '()))

(defun in-its-file-p (orphan)
  (let ((text (file-text (native-file (left-file orphan)))))
    (and text
         (definition-within text 0 (length text) (symbol-name (left-symbol orphan)) (left-words orphan))
         t)))

(defvar *left* '()
  "The ORPHANs that are known of.")

(defun note-left (before gone files)
  "Of the definitions BEFORE the system was built from FILES, those that are the same
now have no file any more, if it is GONE or its text has them no more.  The current
evaluation's reply names them, and those that are left of earlier ones."
  (let ((*file-texts* (make-hash-table :test 'equal)))
    (dolist (orphan before)
      (when (and (left-p orphan)
                 (or (member (left-file orphan) gone :test #'string=)
                     (not (in-its-file-p orphan))))
        (push orphan *left*))))
  (setf *left* (remove-duplicates (remove-if-not #'left-p *left*)
                                  :key (lambda (orphan) (list (left-kind orphan) (left-name orphan)))
                                  :test #'equal))
  (when *evaluation*
    (let ((ours (remove-if-not (lambda (orphan) (member (left-file orphan) files :test #'string=)) *left*)))
      (setf (evaluation-left *evaluation*) (union ours (evaluation-left *evaluation*))))))

;;; Telling

#+sbcl
(defun wholly-left-p (name orphans)
  "True if all methods of the generic function NAME are among ORPHANS."
  (and (fboundp name)
       (typep (fdefinition name) 'generic-function)
       (every (lambda (method) (find method orphans :key #'left-name))
              (sb-mop:generic-function-methods (fdefinition name)))))

(defun full-spelling (name)
  "NAME, a symbol or (SETF SYMBOL), with the symbol's package whatever the current one
is."
  (if (consp name)
      (format nil "(SETF ~A)" (full-spelling (second name)))
      (if (eq (symbol-package name) (find-package '#:common-lisp))
          (symbol-name name)
          (with-standard-io-syntax
            (let ((*package* (find-package '#:keyword))) (prin1-to-string name))))))

#+sbcl
(defun method-label (method function)
  (format nil "method ~A (~{~A~^ ~})" (full-spelling function)
          (loop for specializer in (sb-mop:method-specializers method)
                for name = (and (typep specializer 'class) (class-name specializer))
                collect (if (and name (symbolp name)) (full-spelling name) "EQL"))))

(defun left-label (orphan orphans)
  "How to call ORPHAN, one of ORPHANS; NIL if it goes without saying."
  #+sbcl
  (let ((name (left-name orphan)))
    (flet ((told-p (name) (find name orphans :key #'left-name)))
      (ecase (left-kind orphan)
        (:method
         (let ((function (sb-mop:generic-function-name (sb-mop:method-generic-function name))))
           (if (wholly-left-p function orphans)
               (full-spelling function)
               (method-label name function))))
        (:generic (and (wholly-left-p name orphans) (full-spelling name)))
        (:function (and (not (and (consp name) (told-p (second name)))) (full-spelling name)))
        ((:compiler-macro :variable :class :type) (full-spelling name)))))
  #-sbcl (progn orphan orphans nil))

(defun left-notes (orphans)
  "What a reply says of ORPHANS: a list of a line, or of none."
  (when orphans
    (let* ((labels (sort (remove-duplicates
                          (remove nil (mapcar (lambda (orphan) (left-label orphan orphans)) orphans))
                          :test #'string=)
                         #'string<))
           (more (- (length labels) 10)))
      (when labels
        (list (format nil "No file defines ~:[it~;them~] any more: ~{~A~^, ~}~@[ and ~D more~]. A fresh image would not have ~:[it~;them~]."
                      (rest labels) (first-few labels 10) (and (plusp more) more) (rest labels)))))))
