;;;; systems.lisp -- loading systems with Quicklisp or ASDF

(cl:in-package #:swank-mcp)

(defun call-named (package name &rest arguments)
  "Call a function of a package that may not be there when this is compiled."
  (apply (fdefinition (find-symbol name package)) arguments))

(defun quicklisp-p ()
  (let ((quickload (and (find-package '#:ql) (find-symbol "QUICKLOAD" '#:ql))))
    (and quickload (fboundp quickload))))

(defun ensure-asdf ()
  (or (find-package '#:asdf)
      (require "asdf")))

(defun look-again ()
  "Let ASDF look anew where systems lie: some may have been written since it did."
  (ignore-errors (call-named '#:asdf "INITIALIZE-SOURCE-REGISTRY")))

(defun look-again-for (name)
  "LOOK-AGAIN, unless ASDF finds the system NAME."
  (unless (ignore-errors (call-named '#:asdf "FIND-SYSTEM" name nil))
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

(defun load-named-system (name &key force file)
  "Load the system NAME, which FILE may define, with Quicklisp's QUICKLOAD where it is,
else with ASDF.  What they and the system print goes to standard output."
  (ensure-asdf)
  (if file
      (call-named '#:asdf "LOAD-ASD" (truename file))
      (look-again-for name))
  (let ((*load-verbose* nil) (*compile-verbose* nil) (*compile-print* nil))
    (cond ((and (quicklisp-p) (not force))
           (call-named '#:ql "QUICKLOAD" name :verbose nil))
          (t (when (call-named '#:asdf "FIND-SYSTEM" name nil)
               (format t "; Loading ~S~%" name))
             (call-named '#:asdf "LOAD-SYSTEM" name :verbose nil :force force)))
    name))

(defun near-systems (name)
  "At most five names of systems that NAME may have been meant for."
  (ensure-asdf)
  (let ((known '()))
    (look-again)
    (ignore-errors
     (let ((registry (symbol-value (find-symbol "*SOURCE-REGISTRY*" '#:asdf/source-registry))))
       (when (hash-table-p registry)
         (loop for system being the hash-keys of registry do (push system known)))))
    (setf known (union known (call-named '#:asdf "REGISTERED-SYSTEMS") :test #'string=))
    (let ((near (loop for system in known
                      for distance = (if (or (search name system) (search system name))
                                         1
                                         (edit-distance name system))
                      when (<= distance (max 1 (floor (length name) 3)))
                        collect (cons distance system))))
      (mapcar #'cdr (subseq (sort near #'< :key #'car) 0 (min 5 (length near)))))))

(defun missing-system-p (condition)
  (let ((type (type-label condition)))
    (or (string= type "ASDF:MISSING-COMPONENT") (and (search "SYSTEM-NOT-FOUND" type) t))))

(defun system-failure-text (condition name)
  "The message for CONDITION, met while loading the system NAME."
  (let ((type (type-label condition)))
    (cond ((string= type "ASDF:MISSING-COMPONENT")
           (format nil "Component ~S not found~@[~%Near it: ~{~A~^, ~}.~]~@[~%A definition that ASDF has not been told of: ~{~A~^, ~}.~]"
                   name (near-systems name)
                   (mapcar #'native-name (unregistered-definitions name))))
          ((search "SYSTEM-NOT-FOUND" type)
           (format nil "System ~S not found in any known distribution.~@[~%Near it: ~{~A~^, ~}.~]"
                   name (near-systems name)))
          (t (condition-text condition)))))

;;; Where are they defined?

(defun told-file (name)
  "The file, a native name, that defines the system NAME, if ASDF would not find it
in another image: LOAD-ASD or a changed registry has told it of the file."
  (let* ((system (asdf-value "REGISTERED-SYSTEM" name))
         (file (and system (asdf-value "SYSTEM-SOURCE-FILE" system)))
         (directories (find-symbol "*CENTRAL-REGISTRY*" '#:asdf))
         (registry (find-symbol "*SOURCE-REGISTRY-PARAMETER*" '#:asdf/source-registry)))
    (and file
         (or (and registry (boundp registry) (symbol-value registry))
             (null (progv (and directories (list directories)) '(())
                     (asdf-value "SEARCH-FOR-SYSTEM-DEFINITION" name))))
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

;;; Which ones has a session loaded?

(defun note-system (session name)
  (setf (session-systems session)
        (cons name (remove name (session-systems session) :test #'string=)))
  (when *evaluation*
    (unless (assoc name (evaluation-loaded *evaluation*) :test #'string=)
      (push (cons name (told-files name)) (evaluation-loaded *evaluation*)))))

(defun registered-systems ()
  "How many systems ASDF has heard of: whether another one was loaded is asked
only when there are more than there were."
  (if (find-package '#:asdf)
      (length (call-named '#:asdf "REGISTERED-SYSTEMS"))
      0))

(defun loaded-systems ()
  (and (find-package '#:asdf)
       (ignore-errors (call-named '#:asdf "ALREADY-LOADED-SYSTEMS"))))

(defun needed-systems (name)
  "The names of the systems that the system NAME depends on."
  (loop for needed in (ignore-errors
                       (call-named '#:asdf "SYSTEM-DEPENDS-ON"
                                   (call-named '#:asdf "REGISTERED-SYSTEM" name)))
        when (typep needed '(or string symbol))
          collect (string-downcase needed)))

(defvar *known-systems* '() "All that were loaded, as of *REGISTERED*.")
(defvar *registered* 0 "How many systems ASDF knew then.")

(defun know-systems ()
  "What is loaded by now is nobody's."
  (let ((registered (registered-systems)))
    (unless (= registered *registered*)
      (setf *registered* registered
            *known-systems* (loaded-systems)))))

(defun note-new-systems (session)
  "List the systems that were loaded by whatever code, but not those that they
needed.  While another session is at work it is left to the last one."
  (let ((registered (registered-systems)))
    (unless (or (= registered *registered*) (others-work-p session))
      (let* ((loaded (loaded-systems))
             (new (remove-if #'asdf-itself-p
                             (set-difference loaded *known-systems* :test #'string=)))
             (needed (mapcan #'needed-systems new)))
        (setf *registered* registered
              *known-systems* loaded)
        (dolist (name (set-difference new needed :test #'string=))
          (unless (member name (session-systems session) :test #'string=)
            (note-system session name)))))))

(defun note-loaded (session designator)
  "The system DESIGNATOR was loaded: list it, and let stay at a reset what it has
brought into the packages."
  (let ((name (if (and (consp designator) (eq (first designator) 'quote))
                  (second designator)
                  designator)))
    (when (and name (typep name '(or symbol string)))
      (note-system session (string-downcase name))))
  (loading-ended (shiftf (session-before-load session) nil)))

(defun asdf-itself-p (name)
  (member name '("asdf" "uiop") :test #'string=))

(defun restore-system (name &rest files)
  "Load the system NAME again; FILES define what ASDF would not find."
  (ensure-asdf)
  (dolist (file files)
    (let ((file (call-named '#:uiop "PARSE-NATIVE-NAMESTRING" file)))
      (unless (ignore-errors (call-named '#:asdf "FIND-SYSTEM" (pathname-name file) nil))
        (when (probe-file file)
          (call-named '#:asdf "LOAD-ASD" file)))))
  (load-named-system name)
  (note-system (evaluation-session *evaluation*) name))
