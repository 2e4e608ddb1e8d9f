;;;; loads.lisp -- the files of the project that are loaded, whoever loads them

(cl:in-package #:swank-mcp)

;;; A launched image watches LOAD and COMPILE-FILE.  The content of a compiled file is what it was
;;; when it was compiled; of one that another image has compiled, what it is now, because ASDF has
;;; found it up to date.  A person's image is not watched: there the files of a system are compared
;;; when we have built it.  What is loaded in another way is found by the time that ASDF has noted:
;;; all that a person's image has loaded without us, and components for which ASDF loads another file.

(defun table-values (table)
  (with-shared-table (table)
    (loop for value being the hash-values of table collect value)))

(defun in-project-p (file)
  (some (lambda (directory) (eql (mismatch directory file) (length directory)))
        (append (own-directories nil) *project-directories*)))

(defvar *compiled-versions* (make-shared-table)
  "Native names of the project's files to (VERSION . FINGERPRINT): what this image has compiled last,
and the fingerprint of the fasl.")

(defun note-compiled (file version fasl)
  "Note that this image has compiled VERSION of FILE into FASL, a pathname, or NIL if it could not."
  (let ((fingerprint (and fasl (take-fingerprint fasl))))
    (when fingerprint
      (setf (gethash file *compiled-versions*) (cons version fingerprint)))))

(defun compiled-version (file fasl)
  "The VERSION of FILE that this image has compiled into FASL, or NIL: another Lisp that uses the same
directory may have compiled FILE since."
  (destructuring-bind (&optional version . fingerprint) (gethash file *compiled-versions*)
    (let ((now (and version (take-fingerprint fasl))))
      (and now (not (changed-p fasl fingerprint now)) version))))

(defun fasl-source-file (fasl)
  "The native name of the file that FASL was compiled from, which its header says, or NIL."
  (ignore-errors
   (with-open-file (in fasl :external-format :latin-1)
     (let* ((head (make-string 2000))
            (head (subseq head 0 (read-sequence head in)))
            (words "compiled from ")
            (fasl (search "# FASL" head)) ; Debian's begin with a line for the shell
            (at (and fasl (search words head :start2 fasl))))
       (when at
         (let ((name (scan-string head (+ at (length words)))))
           (native-name (truename name))))))))

(defun operation-time (component)
  "When ASDF has loaded COMPONENT, as a universal time, or NIL."
  (ignore-errors (asdf-value "COMPONENT-OPERATION-TIME" (operation "LOAD-OP") component)))

(defvar *noted-times* (make-shared-table)
  "Native names of files to the OPERATION-TIME that ASDF had for them when they were noted as loaded.")

(defun note-operation-time (file component)
  (setf (gethash file *noted-times*) (operation-time component)))

(defun loaded-unseen-p (file component)
  "True if ASDF has loaded COMPONENT, whose file is FILE, since FILE was noted as loaded."
  (let ((loaded (loaded-file file)) (noted (gethash file *noted-times*)))
    (when (or noted (not loaded))       ; else ASDF need not be asked
      (let ((time (operation-time component)))
        (and time (not (and loaded (eql time noted))))))))

(defun true-file (designator)
  "The native name of the file that DESIGNATOR, an argument of LOAD, names; NIL of a stream."
  (ignore-errors
   (and (typep designator '(or string pathname))
        (let ((file (probe-file (merge-pathnames designator))))
          (and file (native-name file))))))

(defun file-to-be-loaded (designator)
  "(VALUES FILE VERSION) of the project's file that LOAD of DESIGNATOR will load, or NIL."
  (let* ((given (true-file designator))
         (source (and given (or (fasl-source-file given) given))))
    (when (and source (in-project-p source))
      (values source
              (or (and (string/= source given) (compiled-version source given))
                  (file-version source))))))

#+sbcl
(defun watch-loads ()
  "Note from now on which of the project's files are loaded, with which content."
  (unless (sbcl:encapsulated-p 'load 'swank-mcp-loads)
    (sbcl:encapsulate 'load 'swank-mcp-loads
                      (lambda (function designator &rest arguments)
                        (multiple-value-bind (file version)
                            (ignore-errors (file-to-be-loaded designator))
                          (multiple-value-prog1 (apply function designator arguments)
                            (when version
                              (ignore-errors
                               (note-file-loaded file version)
                               (remhash file *noted-times*)))))))
    (sbcl:encapsulate 'compile-file 'swank-mcp-loads
                      (lambda (function designator &rest arguments)
                        (multiple-value-bind (file version)
                            (ignore-errors
                             (let ((file (true-file designator)))
                               (and file (in-project-p file) (values file (file-version file)))))
                          (let ((values (multiple-value-list (apply function designator arguments))))
                            (when version
                              (ignore-errors (note-compiled file version (first values))))
                            (values-list values)))))))

(defun call-loading-file (source function)
  "Call FUNCTION, which compiles and loads the file SOURCE for us, and returns true if it has loaded
it.  A launched image sees that itself."
  (let* ((file (and (not *launched*) (true-file source)))
         (version (and file (in-project-p file) (file-version file)))
         (loadedp (funcall function)))
    (when (and version loadedp)
      (ignore-errors (note-file-loaded file version)))
    loadedp))

;;; Systems that we build

(defun definition-gone-p (name)
  "True if the file in the project that defined the system NAME, which is registered, is gone."
  (let ((file (definition-file (primary-name name))))
    (and file (not (probe-file file)) (in-project-p (native-name file)))))

(defun system-sources (name)
  "((FILE . COMPONENT) ...) of the source files of the system NAME, which is registered, in order."
  (let ((sources '()))
    (call-with-files name (lambda (component file)
                            (when (component-type-p component "CL-SOURCE-FILE")
                              (push (cons (native-name file) component) sources))))
    (nreverse sources)))

(defun project-sources ()
  "SYSTEM-SOURCES of the project's systems that are loaded."
  (mapcan #'system-sources (loaded-project-systems)))

(defun loaded-project-systems ()
  "The names of the project's systems that are loaded, dependencies first."
  (let ((loaded (remove-if-not (lambda (name) (or (project-system-p name) (definition-gone-p name)))
                               (loaded-systems))) (seen '()) (names '()))
    (labels ((visit (name)
               (unless (member name seen :test #'string=)
                 (push name seen)
                 (mapc #'visit (direct-dependencies name))
                 (when (member name loaded :test #'string=) (push name names)))))
      (mapc #'visit (sort (copy-list loaded) #'string<)))
    (nreverse names)))

(defun came-anew-p (loaded)
  "True if a definition of LOADED, a LOADED-FILE, is not the one that was noted, but its file's."
  (loop for key in (loaded-file-keys loaded)
        for origin = (gethash key *origins*)
        for object = (and origin (definition-object key))
        thereis (and object
                     (not (eq object (origin-object origin)))
                     (same-name-p (object-place object) (loaded-file-file loaded)))))

(defun in-order-of-loading (sources)
  "SOURCES, (FILE . COMPONENT) of the project's systems, as ASDF loads them: the order in which a
definition lists its files may be another one.  Called only while ASDF searches the project: planning,
it looks for systems, and would register another one in place of the project's."
  (let ((planned (loop for name in (loaded-project-systems)
                       append (asdf-value "REQUIRED-COMPONENTS" (asdf-value "REGISTERED-SYSTEM" name)
                                          :other-systems nil))))
    (stable-sort (copy-list sources) #'<
                 :key (lambda (source) (or (position (cdr source) planned) (length planned))))))

(defun call-noting-files (function)
  "Call FUNCTION, which builds systems, and note which of the project's files it has loaded."
  (let ((before (make-hash-table :test 'equal)))
    (loop for (file) in (project-sources)
          do (setf (gethash file before) (file-version file)))
    (unwind-protect (funcall function)
      (loop for (file . component) in (if *launched*
                                          (project-sources) ; noted as they were loaded
                                          (in-order-of-loading (project-sources)))
            for version = (or (gethash file before) (file-version file))
            for loaded = (loaded-file file)
            for unseenp = (loaded-unseen-p file component)
            when (and version
                      (operation-time component)
                      (or unseenp
                          (and (not *launched*)
                               (not (eql (version-code version)
                                         (version-code (loaded-file-version loaded)))))
                          (came-anew-p loaded)))
              do (note-file-loaded file version)
            when (or unseenp (not *launched*)) do (note-operation-time file component)))))

;;; What ASDF would do without being forced

(defun needed-components (component)
  "The components and systems that COMPONENT or the modules around it declare to depend on, as far as
they are registered."
  (loop for part = component then parent
        for parent = (and part (asdf-value "COMPONENT-PARENT" part))
        while part
        append (if parent
                   (loop for needed in (asdf-value "COMPONENT-SIDEWAY-DEPENDENCIES" part)
                         for found = (and (typep needed '(or string symbol))
                                          (asdf-value "FIND-COMPONENT" parent needed))
                         when found collect found)
                   (loop for name in (direct-dependencies (asdf-value "COMPONENT-NAME" part))
                         for found = (asdf-value "REGISTERED-SYSTEM" name)
                         when found collect found))))

(defun date-of (file) (and file (ignore-errors (file-write-date file))))

(defun done-again-p (component loadedp)
  "True if loading the system of COMPONENT, a source file, compiles it again or, with LOADEDP, at least
loads it: no fasl of it or of what it depends on is newer than the source, or ASDF has not loaded it."
  (let ((seen '()))
    (labels ((old-p (component)
               (let ((fasl (date-of (first (asdf-value "OUTPUT-FILES" (operation "COMPILE-OP") component))))
                     (text (date-of (asdf-value "COMPONENT-PATHNAME" component)))
                     (time (operation-time component)))
                 (or (null fasl)
                     (and text (> text fasl))
                     (and loadedp (or (null time) (> fasl time))))))
             (again-p (component)
               (unless (member component seen)
                 (push component seen)
                 (or (if (component-type-p component "MODULE")
                         (some #'again-p (built-children component))
                         (and (component-type-p component "CL-SOURCE-FILE") (old-p component)))
                     (some #'again-p (needed-components component))))))
      (again-p component))))

(defun from-elsewhere-p (key file)
  "True if SBCL's record says that the definition KEY did not come from FILE."
  (let ((object (definition-object key)))
    (and (not (same-name-p (object-place object) file))
         (or (functionp object)
             #+sbcl (sbcl:definition-source-location-p object)))))

(defun adopt-loaded-files ()
  "Take the files of the project's systems that ASDF has loaded unseen, and which have not been written
since, for loaded with the content that they have."
  (loop for (time file component)
          in (stable-sort (loop for (file . component) in (project-sources)
                                when (loaded-unseen-p file component)
                                  collect (list (operation-time component) file component))
                          #'< :key #'first)
        for version = (file-version file)
        when (and version (<= (state-changed (version-state version)) time))
          do (note-file-loaded file version)
             (note-operation-time file component)
             (dolist (key (loaded-file-keys (loaded-file file)))
               (when (from-elsewhere-p key file) (remhash key *origins*)))))
