;;;; registry.lisp -- where the definitions of systems lie

(cl:in-package #:swank-mcp)

(defun rescan-registry ()
  "Have ASDF search its directories again: somebody may have written a system since."
  (ignore-errors (call-named '#:asdf "INITIALIZE-SOURCE-REGISTRY")))

(defun rescan-unless-found (name)
  "Have ASDF search again unless it finds the system NAME."
  (unless (ignore-errors (find-defined name))
    (rescan-registry)))

(defun there-p (name)
  "True if the system NAME is found, or Quicklisp has it."
  (or (ignore-errors (find-defined name))
      (let ((find (named-function '#:ql-dist "FIND-SYSTEM")))
        (and find (ignore-errors (funcall find name))))))

(defun meant-name (name)
  "The name of the system that NAME, as somebody writes it, means: NAME, or its lower case if there
is only a system of that name."
  (rescan-unless-found name)
  (let ((folded (string-downcase name)))
    (if (or (string= folded name) (there-p name) (not (there-p folded)))
        name
        folded)))

(defun definition-path (name)
  "The pathname if NAME is that of a file of definitions, and not of a system."
  (let ((end (- (length name) (length ".asd"))))
    (and (plusp end)
         (string-equal ".asd" name :start2 end)
         (merge-pathnames (native-file name)))))

(defun unregistered-definitions (name)
  "Files that define the system NAME, in the working directory or one level below.  ASDF does
not search there."
  (let ((here (call-named '#:uiop "GETCWD")) (file (make-pathname :name (primary-name name) :type "asd")))
    (first-few (ignore-errors
                (append (directory (merge-pathnames file here))
                        (directory (merge-pathnames file (merge-pathnames "*/" here)))))
               5)))

(defun near-systems (name)
  "At most five names of systems like NAME."
  (ensure-asdf)
  (rescan-registry)
  (let* ((known (reduce (lambda (a b) (union a b :test #'string=))
                        (list (project-systems)
                              (loop for system being the hash-keys of (registry) collect system)
                              (call-named '#:asdf "REGISTERED-SYSTEMS"))))
         (near (loop for system in known
                     for distance = (min (edit-distance name system)
                                         ;; a part of the name, or more than it: after one wrong letter
                                         (if (or (search name system) (search system name)) 3/2 1000))
                     when (<= distance (max 3/2 (floor (length name) 3)))
                       collect (cons distance system))))
    (mapcar #'cdr (first-few (sort near #'< :key #'car) 5))))

(defun depends-on-p (name other)
  "True if the system NAME depends on the system OTHER, directly or through others."
  (let ((seen '()))
    (labels ((visit (name)
               (unless (member name seen :test #'string=)
                 (push name seen)
                 (let ((needed (direct-dependencies name)))
                   (or (member other needed :test #'string=)
                       (some #'visit needed))))))
      (visit name))))

(defun same-file-p (a b)
  (let ((found (and a (ignore-errors (truename a)))))
    (and found b (equal found (ignore-errors (truename b))))))

(defun own-definition-p (name)
  "True if the project defines the system NAME itself; that of a dependency kept with it does not
count."
  (let ((file (project-definition name)))
    (and file (member file *project-own* :test #'equal))))

(defun defined-here-p (name)
  "True if a file of the project's own defines the system NAME, whatever the file is called."
  (let ((file (definition-file name)))
    (find-if (lambda (own)
               (and file (equal (pathname-name own) (pathname-name file)) (same-file-p own file)))
             *project-own*)))

(defun project-system-p (name)
  "True if the system NAME is one of the project's own, and not another one of that name."
  (and (own-definition-p name)
       (same-file-p (project-definition name) (definition-file (primary-name name)))))

;;; A user may name a system by the path of its definition, though ASDF would find another
;;; file of that name.  ASDF searches for each system anew, by a list of functions.  We put one
;;; of ours first, which remembers those paths; in a person's image only while we load.

(defvar *given-definitions* (make-shared-table)
  "The names of systems to the files that the user gave as their definitions.")

(defun given-file (name)
  "The file that the user gave as the definition of the system NAME, or that the project has."
  (let ((file (or (gethash (primary-name name) *given-definitions*) (project-definition name))))
    (and file (probe-file file))))

(defun search-functions ()
  (find-symbol "*SYSTEM-DEFINITION-SEARCH-FUNCTIONS*" '#:asdf))

(defun made-system (name)
  "The system NAME that another search function makes: ASDF makes one of a file of a package-inferred
system, and extensions of ASDF make others."
  (loop for function in (remove 'given-definition (symbol-value (search-functions)))
        for found = (funcall function name)
        when (typep found (find-symbol "SYSTEM" '#:asdf)) return found))

(defun given-definition (name)
  "The GIVEN-FILE of the system NAME, unless the system is made of another one: a search function of
ASDF."
  (let ((file (given-file name)))
    (and file
         (or (and (string/= name (primary-name name)) (made-system name))
             file))))

(defun call-with-given-definitions (function)
  (let* ((variable (search-functions))
         (functions (symbol-value variable))
         (ours (if (member 'given-definition functions)
                   functions
                   (cons 'given-definition functions))))
    (cond (*launched*
           (setf (symbol-value variable) ours)
           (funcall function))
          (t (let ((after ours))
               (unwind-protect
                    (progv (list variable) (list ours)
                      (unwind-protect (funcall function)
                        (setf after (symbol-value variable))))
                 ;; an extension of ASDF that was loaded may have added its own
                 (unless (eq after ours)
                   (setf (symbol-value variable)
                         (append (remove-if (lambda (each) (member each ours)) after)
                                 (symbol-value variable))))))))))

(defun know-project (directories own &rest files)
  "FILES, native names, define the systems of the project, of those with one name the first.  The
first OWN of them are the project's own, the others those of its dependencies.  DIRECTORIES,
((NAME) ...), are where the project is."
  (let ((files (mapcar #'native-file files)))
    (setf *project-directories* (loop for (directory) in directories
                                      collect (concatenate 'string (string-right-trim "/" directory)
                                                           "/"))
          *project-definitions* (definitions-by-name files)
          *project-own* (first-few files own)))
  (when (and *launched* (find-package '#:asdf))
    (call-with-given-definitions (constantly t)))
  (answer t))

(defun names-defined-in (file)
  "The primary names of the systems that ASDF has from FILE."
  (sort (loop for name in (asdf-value "REGISTERED-SYSTEMS")
              when (and (string= name (primary-name name)) (same-file-p file (definition-file name)))
                collect name)
        #'string<))

(defun register-definition (file)
  "Let FILE define the systems that it does: the system of its name, or others.  Return their primary
names.  If that fails, nothing changes."
  (let* ((file (truename file))
         (name (pathname-name file))
         (before (gethash name *given-definitions*))
         (names '()) (donep nil))
    (setf (gethash name *given-definitions*) file)
    (unwind-protect
         (progn
           (let ((known (names-defined-in file)))
             (if known (mapc #'reread-if-changed known) (read-definition file name)))
           (setf names (names-defined-in file)
                 donep t))
      (unless (and donep (member name names :test #'string=))
        (if before
            (setf (gethash name *given-definitions*) before)
            (remhash name *given-definitions*))))
    (dolist (other names names)
      (setf (gethash other *given-definitions*) file))))

(defun name-meant-by (file names)
  "The name of the system that FILE means, which defines NAMES: that of its name, or the only one; or
NIL."
  (or (find (pathname-name file) names :test #'string=)
      (and (null (rest names)) (first names))))

(defun system-defined-in (file)
  "The name of the system that FILE means, after reading it; refuse if there is none."
  (let ((names (register-definition file)))
    (or (name-meant-by file names)
        (refuse "SYSTEM-NOT-FOUND"
                (format nil "~A defines no system~@[ ~S, but these: ~{~A~^, ~}~]." (native-name file)
                        (and names (pathname-name file)) names)
                (and names (list :system (first names)))))))

(defun read-definition (file name)
  "Read the definition of the system NAME in FILE.  ASDF forgets its other system of that
name, so that nothing of it counts as loaded."
  (dolist (other (asdf-value "REGISTERED-SYSTEMS"))
    (when (string= (primary-name other) name)
      (asdf-value "CLEAR-SYSTEM" other)))
  (let ((fingerprint (take-fingerprint file)))
    (call-named '#:asdf "LOAD-ASD" file)
    (setf (definition-fingerprint file) fingerprint)))

(defun reread-if-changed (name)
  "Have ASDF read the definition of the primary system NAME again if its file has changed.
ASDF alone does not see a change within one second."
  (let ((file (definition-file name)))
    (when file
      (let ((old (definition-fingerprint file)) (new (take-fingerprint file)))
        (when new
          (when (and old (changed-p file old new))
            (call-named '#:asdf "LOAD-ASD" file :name name)) ; FILE may be called otherwise
          (setf (definition-fingerprint file) new))))))

(defun find-defined (name)
  "The system NAME as its file defines it now, or NIL.  To find an unknown system like \"a/b\"
ASDF would read the definition of \"a\" again, and then count nothing of it as loaded."
  (let* ((primary (primary-name name)) (known (asdf-value "REGISTERED-SYSTEM" primary)))
    (when known (reread-if-changed primary))
    (cond ((and known (asdf-value "REGISTERED-SYSTEM" name)))
          ((and known (definition-file primary)
                ;; ASDF makes package-inferred systems when it searches for them
                (not (typep (search-in-session name) (find-symbol "SYSTEM" '#:asdf))))
           nil)
          (t (prog1 (call-named '#:asdf "FIND-SYSTEM" name nil)
               (unless known (reread-if-changed primary)))))))

;;; Definitions that another image would not find

(defun found-by-asdf (name)
  "The file in which ASDF would find the system NAME in another image."
  (let ((directories (find-symbol "*CENTRAL-REGISTRY*" '#:asdf)))
    (progv (list (search-functions) directories)
        ;; a saved session adds functions that are no symbols
        (list (remove 'given-definition (remove-if-not #'symbolp (symbol-value (search-functions))))
              '())
      (asdf-value "SEARCH-FOR-SYSTEM-DEFINITION" name))))

(defun unfindable-file (name)
  "The native name of the file that defines the system NAME, if ASDF would not find it in
another image.  The user, LOAD-ASD or a changed registry have given it here."
  (let ((file (definition-file name)))
    (and file
         (or (named-value '#:asdf/source-registry "*SOURCE-REGISTRY-PARAMETER*")
             (not (same-file-p file (found-by-asdf name))))
         (asdf-value "NATIVE-NAMESTRING" file))))

(defun unfindable-files (name)
  "The UNFINDABLE-FILEs of the system NAME and of all that it needs, dependencies first."
  (let ((seen '()) (files '()))
    (labels ((visit (name)
               (unless (member name seen :test #'string=)
                 (push name seen)
                 (mapc #'visit (direct-dependencies name))
                 (let ((primary (primary-name name)))
                   (if (string= primary name)
                       (let ((file (unfindable-file name))) (when file (push file files)))
                       (visit primary))))))
      (visit name))
    (reverse files)))
