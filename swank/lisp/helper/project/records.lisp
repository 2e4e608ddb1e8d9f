;;;; records.lisp -- what each file was when it was loaded, and what it is now
;;;;
;;;; For other parts: LOADED-DEFINITION tells from which file and form a definition of the image
;;;; came.
;;;;
;;;;   (loaded-definition '(:function . my-app::total))   ; keys as of NAMESPACE-OF: also
;;;;       ; (:variable . x) (:class . x) (:function setf x), (:package . "NAME"),
;;;;       ; (:method total () ("INTEGER"))
;;;;   => an ORIGIN or NIL; ORIGIN-FILE, its native name; ORIGIN-TEXT, the form as it was loaded;
;;;;      ORIGIN-CODE, the hash of that without comments and blanks (compare with SOURCE-FORM-CODE);
;;;;      (VERSION-CODE (ORIGIN-VERSION origin)), the hash of the file's content as it was loaded.
;;;;
;;;;   (form-on-disk origin) => the SOURCE-FORM in the file as it is now, or NIL, and the VERSION,
;;;;      whose VERSION-TEXT has it from SOURCE-FORM-BEGIN to SOURCE-FORM-END.
;;;;   (changed-since-loaded-p file) => true if FILE, a native name, has other forms now.

(cl:in-package #:swank-mcp)

(defstruct (version (:copier nil))
  "The content of a FILE.  STATE is what the system says of the file, TAKEN the universal time
before it was read.  CODE is a hash of all of TEXT, FORMS the vector of its SOURCE-FORMs."
  file state taken code text forms)

(defun file-state (file)
  "(SIZE MODIFIED CHANGED INODE) of FILE, a native name; NIL if it is not there."
  #+sbcl
  (multiple-value-bind (there device inode mode links user group device* size accessed modified changed)
      (sbcl:unix-stat file)
    (declare (ignore device mode links user group device* accessed))
    (and there (list size modified changed inode)))
  #-sbcl
  (multiple-value-bind (size time) (ignore-errors (file-size-and-time (native-file file)))
    (and size (list size time time 0))))

(defun state-changed (state)
  "The universal time at which a file of STATE was written last."
  (+ (max (second state) (third state)) #+sbcl #.(encode-universal-time 0 0 0 1 1 1970 0)))

(defun trusted-version-p (version state)
  "True if a file of STATE surely has the content of VERSION.  The system's times are coarse: a
file that was written in the second before it was read may have been written again since."
  (and (equal state (version-state version))
       (< (1+ (state-changed state)) (version-taken version))))

(defvar *versions* (make-shared-table)
  "Native names of files to the VERSION that was read last.")

(defun read-version (file state)
  (let* ((taken (get-universal-time))
         (text (file-text* file))
         (code (and text (text-code text)))
         (known (gethash file *versions*)))
    (when text
      (setf (gethash file *versions*)
            (if (and known (eql code (version-code known)))
                (make-version :file file :state state :taken taken :code code
                              :text (version-text known) :forms (version-forms known))
                (make-version :file file :state state :taken taken :code code
                              :text text :forms (scan-source text)))))))

(defun file-text* (file)
  "The text of FILE as a simple string, or NIL."
  (let ((text (read-file-text (native-file file))))
    (and text (coerce text '(simple-array character (*))))))

(defun file-version (file)
  "The VERSION of FILE, a native name, as it is now; NIL if it cannot be read."
  (let ((state (file-state file)) (known (gethash file *versions*)))
    (cond ((null state) nil)
          ((and known (trusted-version-p known state)) known)
          (t (read-version file state)))))

(defun same-forms-p (a b)
  "True if the versions A and B have the same forms, whatever their comments and blanks."
  (or (eql (version-code a) (version-code b))
      (and (= (length (version-forms a)) (length (version-forms b)))
           (every (lambda (x y) (eql (source-form-code x) (source-form-code y)))
                  (version-forms a) (version-forms b)))))

(defun form-text-of (form version)
  (subseq (version-text version) (source-form-begin form) (source-form-end form)))

;;; What was loaded

(defstruct (origin (:copier nil))
  "Where the definition KEY of the image came from: FORM of VERSION, a file's content.  OBJECT is
what each new definition replaces, a function or a source location.  SINCE is the number of the load
from which on FORM has had its text.  OTHERS are ((FILE CODE SINCE) ...) of the files that have had the
definition before it.  VALUE refers weakly to what it has left in its variable,
VALUE-CODE is that of the form that gave it.  CHANGEDP is true if there was another form before."
  key version form object since others value value-code changedp)

(defun origin-file (origin) (version-file (origin-version origin)))
(defun origin-code (origin) (source-form-code (origin-form origin)))
(defun origin-text (origin) (form-text-of (origin-form origin) (origin-version origin)))

(defstruct (loaded-file (:copier nil))
  "A file that was loaded with the content VERSION, as the load with that NUMBER; FIRST is that of its
first load.  SOURCE is SBCL's record of it, which all functions of one compiled file share, or NIL.  KEYS
are those of what it defines."
  file version number first source keys)

(defvar *loaded-files* (make-shared-table)
  "Native names to LOADED-FILEs.")

(defvar *origins* (make-shared-table)
  "Keys to the ORIGIN of the newest definition that a file has brought.")

(defvar *scanned-keys* (make-shared-table)
  "The keys that a form of a loaded file has defined by its operator, T each.")

(defvar *not-defined-again* (make-shared-table)
  "The keys of definitions that a file had when it was loaded, and not when it was loaded again, to
the objects that identified them then.")

(defun not-defined-again-p (key object)
  "True if OBJECT, which identifies the definition KEY, has been there since before its file was loaded
again without it."
  (eq object (gethash key *not-defined-again*)))

(defvar *load-number* 0 "How many files have been loaded.")

(defun loaded-definition (key)
  "The ORIGIN of the definition KEY, if a file that was loaded had it last; or NIL."
  (gethash key *origins*))

(defun loaded-file (file) (gethash file *loaded-files*))

(defun form-on-disk (origin)
  "(VALUES FORM VERSION) of the definition of ORIGIN as its file has it now; FORM may be NIL."
  (let ((now (file-version (origin-file origin))))
    (values (and now
                 (find-if (lambda (form)
                            (find (origin-key origin) (source-form-specs form)
                                  :key #'spec-key :test #'equal))
                          (version-forms now)))
            now)))

(defun changed-since-loaded-p (file)
  "True if FILE, a native name, was loaded and has other forms now, or is gone."
  (let ((loaded (loaded-file file)))
    (and loaded
         (let ((now (file-version file)))
           (not (and now (same-forms-p now (loaded-file-version loaded))))))))

(defun loaded-form (key)
  "(VALUES TEXT FILE) of the form of a loaded file that defined KEY when it was loaded, or NIL."
  (with-shared-table (*loaded-files*)
    (loop for file being the hash-values of *loaded-files*
          for version = (loaded-file-version file)
          for form = (and (member key (loaded-file-keys file) :test #'equal)
                          (find-if (lambda (form)
                                     (member key (source-form-specs form)
                                             :key #'spec-key :test #'equal))
                                   (version-forms version)))
          when form return (values (form-text-of form version) (loaded-file-file file)))))

(defun loaded-calls (name)
  "(VALUES TEXT FILE) of the forms in loaded files, as they were loaded, that look like calls of
macros that define NAME, a string; or NIL."
  (let ((texts '()) (in nil))
    (with-shared-table (*loaded-files*)
      (loop for file being the hash-values of *loaded-files*
            for version = (loaded-file-version file)
            do (loop for form across (version-forms version)
                     when (equal name (second (form-head form (version-text version))))
                       do (push (form-text-of form version) texts)
                          (setf in (loaded-file-file file)))))
    (and texts (values (format nil "~{~A~^~%~}" texts) in))))

(defun weak-reference (object)
  #+sbcl (sb-ext:make-weak-pointer object) #-sbcl object)

(defun value-kept-p (origin)
  "True if the variable of ORIGIN still has the value that it had when ORIGIN was noted."
  (let ((name (cdr (origin-key origin))))
    (and (symbolp name)
         (boundp name)
         (origin-value-code origin)
         #+sbcl (multiple-value-bind (value therep) (sb-ext:weak-pointer-value (origin-value origin))
                  (and therep (eql (symbol-value name) value)))
         #-sbcl (eql (symbol-value name) (origin-value origin)))))

(defun evaluated-value-codes (name)
  "The VALUE-CODEs of the forms by which sessions have given the variable NAME the value it has."
  (when (boundp name)
    (with-lock ()
      (loop for session being the hash-values of *sessions*
            for entry = (gethash (cons :variable name) (session-definitions session))
            when (and entry (entry-boundp entry) (entry-source entry)
                      (eql (entry-value entry) (symbol-value name)))
              collect (multiple-value-bind (form definingp source)
                          (live-form (entry-source entry) (cons :variable name))
                        (declare (ignore definingp))
                        (and form (value-code form source)))))))

(defun value-codes (key)
  "The VALUE-CODEs of the forms that may have given the variable KEY the value it has; NIL if none
is known: an assignment gave it."
  (let ((origin (gethash key *origins*)))
    (and (symbolp (cdr key))
         (remove nil (cons (and origin (value-kept-p origin) (origin-value-code origin))
                           (evaluated-value-codes (cdr key)))))))

(defun other-value-p (key form version)
  "True if another form than FORM of VERSION is known to have given the variable KEY its value."
  (let ((code (value-code form (version-text version))) (codes (value-codes key)))
    (and code codes (not (member code codes)))))

(defun note-value (origin codes)
  "Note the value that the form of ORIGIN has left; CODES are those of before it was loaded."
  (let* ((name (cdr (origin-key origin))) (form (origin-form origin))
         (code (value-code form (version-text (origin-version origin)))))
    (when (and code (symbolp name) (boundp name))
      (setf (origin-value-code origin)
            (if (and (once-form-p form) codes (not (member code codes))) (first codes) code)
            (origin-value origin) (weak-reference (symbol-value name))))))

(defun known-of-files (old)
  "((FILE CODE SINCE) ...) of the files that have had the definition of OLD, an ORIGIN or NIL."
  (and old
       (cons (list (origin-file old) (origin-code old) (origin-since old))
             (remove (origin-file old) (origin-others old) :key #'first :test #'string=))))

(defun since-when (form file known before number)
  "Since which load there is what FORM of FILE, loaded as that NUMBER, and the files before it define.
KNOWN is as of KNOWN-OF-FILES, BEFORE the LOADED-FILE of the last load or NIL.  A file that declares what
a later one defines changes nothing as both are loaded again.  Nor has a form changed that defined nothing
before because its fasl was loaded, as one in (EVAL-WHEN (:COMPILE-TOPLEVEL) ...)."
  (flet ((same-p (code) (eql code (source-form-code form))))
    (let ((own (find file known :key #'first :test #'string=)))
      (cond ((and own (same-p (second own))) (max (third own) (third (first known))))
            ((and (null known) before
                  (find-if #'same-p (version-forms (loaded-file-version before)) :key #'source-form-code))
             (loaded-file-first before))
            (t number)))))

(defun note-origin-of (key version form number &optional before)
  "Note that the definition KEY came from FORM of VERSION in the load with that NUMBER.  BEFORE is the
LOADED-FILE of the file's last load, or NIL."
  (let* ((old (gethash key *origins*)) (codes (and (eq (car key) :variable) (value-codes key)))
         (file (version-file version)) (known (known-of-files old))
         (origin (make-origin :key key :version version :form form :object (definition-object key file)
                              :since (since-when form file known before number)
                              :others (remove file known :key #'first :test #'string=))))
    (setf (origin-changedp origin)
          (and old (or (origin-changedp old) (not (eql (origin-code old) (origin-code origin))))))
    (when (eq (car key) :variable) (note-value origin codes))
    (remhash key *not-defined-again*)
    (setf (gethash key *scanned-keys*) t
          (gethash key *origins*) origin)))

(defun last-forms (version)
  "A table from the keys of what VERSION defines to the last form that does: a file may have more, for
other features, or one that says what to do without the other."
  (let ((last (make-hash-table :test 'equal)))
    (loop for form across (version-forms version)
          do (dolist (spec (source-form-specs form))
               (setf (gethash (spec-key spec) last) form)))
    last))

(defun reachable-p (key)
  "False of a definition that only a package had which is deleted, as files do before they define it."
  (let ((symbol (key-symbol key)))
    (or (not (symbolp symbol)) (symbol-package symbol))))

(defun note-file-loaded (file version)
  "FILE, a native name, was loaded with the content VERSION."
  (let ((number (incf *load-number*)) (before (loaded-file file)) (last (last-forms version))
        (source nil) (keys '()))
    (loop for form across (version-forms version)
          do (dolist (spec (source-form-specs form))
               (let ((key (spec-key spec)))
                 (when (eq form (gethash key last))
                   (let ((origin (note-origin-of key version form number before)))
                     (push key keys)
                     (unless source (setf source (file-source (origin-object origin)))))))))
    (dolist (key (and before (loaded-file-keys before)))
      (let ((old (gethash key *origins*)))
        (when (and old (string= file (origin-file old)) (not (eq version (origin-version old))))
          (when (and (eq (origin-object old) (definition-object key file)) (reachable-p key))
            (setf (gethash key *not-defined-again*) (origin-object old)))
          (remhash key *origins*))))
    (setf (gethash file *loaded-files*)
          (make-loaded-file :file file :version version :number number :source source
                            :first (if before (loaded-file-first before) number)
                            :keys (nreverse keys)))))

(defun spec-among-p (spec keys)
  "True if SPEC is of one of KEYS."
  (flet ((same-p (one other)
           (or (equal one other)
               (and (eq (car one) :method) (eq (car other) :method) ; the text may compute (EQL X)
                    (method-of-key one)
                    (eq (method-of-key one) (method-of-key other))))))
    (member (spec-key spec) keys :test #'same-p)))

(defun forms-without (version keys)
  "The codes of the forms of VERSION but those that define one of KEYS."
  (loop for form across (version-forms version)
        unless (some (lambda (spec) (spec-among-p spec keys)) (source-form-specs form))
          collect (source-form-code form)))

(defun note-written (file version keys)
  "FILE, a native name, has got the definitions KEYS of the image, and has now the content VERSION:
these count as loaded from it."
  (let ((number (incf *load-number*)) (loaded (loaded-file file)))
    (loop for form across (version-forms version)
          do (dolist (spec (source-form-specs form))
               (when (spec-among-p spec keys)
                 (note-origin-of (spec-key spec) version form number)
                 (when loaded (pushnew (spec-key spec) (loaded-file-keys loaded) :test #'equal)))))
    (when (and loaded
               (equal (forms-without version keys)
                      (forms-without (loaded-file-version loaded) keys)))
      (setf (loaded-file-version loaded) version))))
