;;;; registry.lisp -- where the definitions of systems lie

(cl:in-package #:swank-mcp)

(defun look-again ()
  "Let ASDF look anew where systems lie: some may have been written since it did."
  (ignore-errors (call-named '#:asdf "INITIALIZE-SOURCE-REGISTRY")))

(defun look-again-for (name)
  "LOOK-AGAIN, unless ASDF finds the system NAME."
  (unless (ignore-errors (find-defined name))
    (look-again)))

(defun definition-path (name)
  "The pathname, if NAME is that of a system's definition and not a system's."
  (let ((end (- (length name) (length ".asd"))))
    (and (plusp end)
         (string-equal ".asd" name :start2 end)
         (merge-pathnames #+sbcl (sb-ext:parse-native-namestring name) #-sbcl (pathname name)))))

(defun unregistered-definitions (name)
  "Files in the working directory, and in those in it, that define the system NAME and
that ASDF would not find."
  (let ((here (call-named '#:uiop "GETCWD")) (file (make-pathname :name (primary-name name) :type "asd")))
    (first-few (ignore-errors
                (append (directory (merge-pathnames file here))
                        (directory (merge-pathnames file (merge-pathnames "*/" here)))))
               5)))

(defun near-systems (name)
  "At most five names of systems that NAME may have been meant for."
  (ensure-asdf)
  (let ((known '()))
    (look-again)
    (ignore-errors
     (let ((registry (symbol-value (find-symbol "*SOURCE-REGISTRY*" '#:asdf/source-registry))))
       (when (hash-table-p registry)
         (loop for system being the hash-keys of registry do (push system known)))))
    (setf known (union (project-systems) (union known (call-named '#:asdf "REGISTERED-SYSTEMS") :test #'string=)
                       :test #'string=))
    (let ((near (loop for system in known
                      for distance = (min (edit-distance name system)
                                          ;; a part of the name, or more than it: after one wrong letter
                                          (if (or (search name system) (search system name)) 3/2 1000))
                      when (<= distance (max 3/2 (floor (length name) 3)))
                        collect (cons distance system))))
      (mapcar #'cdr (subseq (sort near #'< :key #'car) 0 (min 5 (length near)))))))

(defun needs-p (name other)
  "True if the system NAME depends on the system OTHER, through others or not."
  (let ((seen '()))
    (labels ((visit (name)
               (unless (member name seen :test #'string=)
                 (push name seen)
                 (let ((needed (needed-systems name)))
                   (or (member other needed :test #'string=)
                       (some #'visit needed))))))
      (visit name))))

(defun same-file-p (a b)
  (let ((found (and a (ignore-errors (truename a)))))
    (and found b (equal found (ignore-errors (truename b))))))

;;; A path tells which file defines a system, also if ASDF would find another one of
;;; that name.  ASDF looks for each system anew, by functions in a list: with the
;;; first one ours, what was told stays.  In a person's image that list is ours only
;;; while we load.

(defvar *told* (make-shared-table)
  "Names of systems to the files that we were told define them.")

(defun told-definition (name)
  "Where the system NAME is defined, if we were told, or if the project has it: for ASDF."
  (let ((file (or (gethash (primary-name name) *told*) (project-definition name))))
    (and file (probe-file file))))

(defun search-functions ()
  (find-symbol "*SYSTEM-DEFINITION-SEARCH-FUNCTIONS*" '#:asdf))

(defun call-with-told-definitions (function)
  (let* ((variable (search-functions))
         (functions (symbol-value variable))
         (ours (if (member 'told-definition functions)
                   functions
                   (cons 'told-definition functions))))
    (cond (*launched*
           (setf (symbol-value variable) ours)
           (funcall function))
          (t (progv (list variable) (list ours) (funcall function))))))

(defun know-project (&rest files)
  "FILES, native names, define the systems of the project, of those with one name the first."
  (setf *project-definitions* (definitions-by-name (mapcar #'native-file files)))
  (when (and *launched* (find-package '#:asdf))
    (call-with-told-definitions (constantly t)))
  (answer t))

(defun tell-of-definition (file)
  "Let the system that FILE is called after be the one that it defines."
  (let* ((file (truename file))
         (name (string-downcase (pathname-name file)))
         (before (gethash name *told*))
         (donep nil))
    (setf (gethash name *told*) file)
    (unwind-protect
         (progn
           (if (same-file-p file (definition-file name))
               (reread-if-changed name)
               (read-definition file name))
           (setf donep t))
      (unless donep
        (if before
            (setf (gethash name *told*) before)
            (remhash name *told*))))))

(defun read-definition (file name)
  "Read the definition of the system NAME in FILE in place of what ASDF has of that
name, so that nothing of the other one counts as loaded."
  (dolist (other (asdf-value "REGISTERED-SYSTEMS"))
    (when (string= (primary-name other) name)
      (asdf-value "CLEAR-SYSTEM" other)))
  (let ((mark (mark-file file)))
    (call-named '#:asdf "LOAD-ASD" file)
    (setf (mark-of-definition file) mark)))

(defun reread-if-changed (name)
  "Let ASDF read the definition of the primary system NAME again if it is another one
than when it was read: it would not see a change within the second."
  (let ((file (definition-file name)))
    (when file
      (let ((old (mark-of-definition file)) (new (mark-file file)))
        (when new
          (when (and old (changed-p file old new))
            (call-named '#:asdf "LOAD-ASD" file))
          (setf (mark-of-definition file) new))))))

(defun find-defined (name)
  "The system NAME as its definition says by now, or NIL.  For the name of another
system in the definition of a loaded one ASDF would read that definition again, after
which nothing of it counts as loaded."
  (let* ((primary (primary-name name)) (known (asdf-value "REGISTERED-SYSTEM" primary)))
    (when known (reread-if-changed primary))
    (cond ((and known (asdf-value "REGISTERED-SYSTEM" name)))
          ((and known (definition-file primary)
                ;; of files that are systems ASDF makes one when it is looked for
                (not (typep (asdf-value "SEARCH-FOR-SYSTEM-DEFINITION" name)
                            (find-symbol "SYSTEM" '#:asdf))))
           nil)
          (t (prog1 (call-named '#:asdf "FIND-SYSTEM" name nil)
               (unless known (reread-if-changed primary)))))))

;;; What another image must be told

(defun found-without-us (name)
  "The file in which ASDF would find the system NAME in another image."
  (let ((directories (find-symbol "*CENTRAL-REGISTRY*" '#:asdf)))
    (progv (list (search-functions) directories)
        ;; a saved session adds functions of its own
        (list (remove 'told-definition (remove-if-not #'symbolp (symbol-value (search-functions))))
              '())
      (asdf-value "SEARCH-FOR-SYSTEM-DEFINITION" name))))

(defun told-file (name)
  "The file, a native name, that defines the system NAME, if ASDF would not find it
in another image: we, LOAD-ASD or a changed registry have told of the file."
  (let ((file (definition-file name))
        (registry (find-symbol "*SOURCE-REGISTRY-PARAMETER*" '#:asdf/source-registry)))
    (and file
         (or (and registry (boundp registry) (symbol-value registry))
             (not (same-file-p file (found-without-us name))))
         (asdf-value "NATIVE-NAMESTRING" file))))

(defun told-files (name)
  "TOLD-FILE of the system NAME and of each that it needs, what is needed first."
  (let ((seen '()) (files '()))
    (labels ((visit (name)
               (unless (member name seen :test #'string=)
                 (push name seen)
                 (mapc #'visit (needed-systems name))
                 (let ((primary (primary-name name)))
                   (if (string= primary name)
                       (let ((file (told-file name))) (when file (push file files)))
                       (visit primary))))))
      (visit name))
    (reverse files)))
