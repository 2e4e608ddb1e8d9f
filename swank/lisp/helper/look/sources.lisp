;;;; sources.lisp -- the source of what a session has defined, to be written into files

(cl:in-package #:swank-mcp)

;;; The bridge finds the form in the file and writes it.  It reads nothing: it takes texts apart by
;;; their parentheses.  So it asks what only the image knows: which evaluation has made a
;;; definition, in which package, and whether a text means the same in another package.

(defun definition-plist (key)
  "(VALUES PLIST FILE) of SBCL's record of the place of the definition KEY.  FILE is the one that it
was loaded from, or NIL if that is gone, as that of COMPILE-SOURCE is."
  #+sbcl
  (destructuring-bind (kind . name) key
    (let* ((source (ignore-errors
                    (if (eq kind :method)
                        (sb-introspect:find-definition-source (find-defined-method name))
                        (first (definition-sources name kind)))))
           (file (and source (sb-introspect:definition-source-pathname source))))
      (values (and source (sb-introspect:definition-source-plist source))
              (and file (ignore-errors (probe-file (translate-logical-pathname file)))))))
  #-sbcl (progn key (values nil nil)))

(defun kept-in-file-p (key) (nth-value 1 (definition-plist key)))

(defun source-of-key (session key)
  "(VALUES TEXT PACKAGE-NAME WHY): the source of the top level form whose evaluation by SESSION has
made the definition KEY, and the package in which it was read; or NIL, NIL and why that is not
known."
  (let* ((plist (definition-plist key))
         (text (getf plist :swank-mcp-source)) (package (getf plist :swank-mcp-package)))
    (cond ((not (and (stringp text) (stringp package)))
           (values nil nil
                   (or (why-lost session key)
                       #+sbcl (format nil "its source is not kept; that of a form with more than ~:D characters is not"
                                      *max-source-text*)
                       #-sbcl "this Lisp keeps no source with what it defines")))
          ((multiple-value-bind (reading oddp) (reading-of session plist) (and oddp (null reading)))
           (values nil nil "it was read with a readtable that is gone"))
          (t (values text package nil)))))

(defun key-names (key)
  "(VALUES SETFP QUALIFIERS SPECIALIZERS) of KEY, the lists as the names of symbols."
  (flet ((text (object)
           (cond ((symbolp object) (symbol-name object))
                 (t (with-standard-io-syntax
                      (let ((*print-readably* nil)) (prin1-to-string object)))))))
    (destructuring-bind (kind . name) key
      (if (eq kind :method)
          (values (consp (first name)) (mapcar #'text (second name)) (mapcar #'text (third name)))
          (values (consp name) '() '())))))

(defun file-key (key)
  "KEY as the records of files have it."
  (if (eq (car key) :method)
      (method-key (find-defined-method (cdr key)))
      (namespace-of key)))

(defun accessible-in (symbol)
  "The names and nicknames of the packages in which the name of SYMBOL means SYMBOL."
  (loop for package in (list-all-packages)
        when (multiple-value-bind (found status) (find-symbol (symbol-name symbol) package)
               (and status (eq found symbol)))
          append (cons (package-name package) (package-nicknames package))))

(defun session-keys (session name)
  "The keys of what SESSION has defined as NAME, a symbol or (SETF SYMBOL), and not in a file."
  (let* ((symbol (function-symbol name))
         (keys (loop for (key) in (own-entries session)
                     when (and (eq symbol (key-symbol key))
                               (or (symbolp name) (key-names key)))
                       collect key))
         (variable (cons :variable symbol)))
    ;; a DEFVAR that found a value has defined nothing, but says how the variable is defined
    (when (and (symbolp name)
               (notany (lambda (key) (eq :variable (car (namespace-of key)))) keys)
               (equal (session-name session) (getf (definition-plist variable) :swank-mcp)))
      (push variable keys))
    (remove-if #'kept-in-file-p keys)))

(defun loaded-source (key)
  "(VALUES TEXT FILE) of the form or forms that the definition KEY was loaded from, or NIL."
  (let ((origin (loaded-definition (file-key key))))
    (or-values
     (and origin (values (origin-text origin) (origin-file origin)))
     (loaded-form (file-key key)) ; a person's image had another definition of it
     (loaded-calls (string (key-symbol key))))))

(defun source-for-wire (session key)
  (multiple-value-bind (text package why) (source-of-key session key)
    (multiple-value-bind (setfp qualifiers specializers) (key-names key)
      (multiple-value-bind (loaded file) (loaded-source key)
        (plist-without-nils
         :kind (string-downcase (car key)) :label (key-label key)
         :setf setfp :qualifiers qualifiers :specializers specializers
         :text text :package package :why why
         :case (let ((reading (reading-of session (definition-plist key))))
                 (and reading (string-downcase (readtable-case (first reading)))))
         :file file :loaded loaded)))))

(defun files-made-anew (session package)
  "The files that have definitions for names of PACKAGE which SESSION has made, the one with most of
them first."
  (let ((counts '()))
    (loop for (key) in (own-entries session)
          for symbol = (key-symbol key)
          for origin = (and (symbolp symbol)
                            (eq package (symbol-package symbol))
                            (ignore-errors (loaded-definition (file-key key))))
          when origin
            do (let ((entry (assoc (origin-file origin) counts :test #'string=)))
                 (if entry (incf (cdr entry)) (push (cons (origin-file origin) 1) counts))))
    (mapcar #'car (stable-sort (nreverse counts) #'> :key #'cdr))))

(defun session-sources (text &key (session "default") package)
  "Answer about what SESSION has defined as the name that TEXT names:
  (:NAME NAME :PACKAGES NAMES :FEATURES NAMES
   :DEFINITIONS ((:KIND KIND :LABEL TEXT :SETF BOOLEAN :QUALIFIERS TEXTS :SPECIALIZERS TEXTS
                  :TEXT SOURCE :PACKAGE NAME :CASE CASE :WHY TEXT :FILE FILE :LOADED SOURCE) ...)
   :FILES FILES :PLACES LINES)
PACKAGES are those in which NAME means the symbol.  CASE is the readtable-case with which TEXT was
read, if its syntax was not that of files.  WHY is there instead of TEXT.  FILE had the
definition when it was loaded, in the top level form LOADED, or made by one of the
calls in it.  FILES have other definitions of the package which SESSION has made, the one with most of
them first.  PLACES are where the name is defined, if the session has not defined it."
  (with-look-up (session)
    (ignore-errors (adopt-loaded-files))
    (let* ((name (find-function-name text session package))
           (symbol (function-symbol name))
           (keys (session-keys session name)))
      (plist-without-nils
       :name (symbol-name symbol)
       :packages (accessible-in symbol)
       :features (loop for feature in *features*
                       when (symbolp feature) collect (symbol-name feature))
       :definitions (loop for key in keys collect (source-for-wire session key))
       :files (files-made-anew session (symbol-package symbol))
       :places (and (null keys)
                    (loop for (title place) in (definition-sections name)
                          collect (format nil "~A: ~A" title place)))))))

(defun definition-written (text file labels &key (session "default") package)
  "FILE, a native name, has now those of LABELS, ((LABEL) ...), that SESSION has defined as the name that TEXT
names: they count as loaded from there."
  (with-look-up (session)
    (let ((keys (loop for key in (session-keys session (find-function-name text session package))
                      when (member (key-label key) labels :key #'first :test #'string=)
                        collect (file-key key)))
          (version (file-version file)))
      (when version
        (note-written file version keys))
      (list :noted (and version t)))))

(defun symbol-token-p (text)
  "True of a token that is no number, dot or character."
  (not (or (string= text "")
           (string= text ".")
           (find (char text 0) "#0123456789")
           (and (> (length text) 1)
                (find (char text 0) "+-.")
                (digit-char-p (char text 1))))))

(defun symbol-meant (token package)
  "What the token TOKEN means in PACKAGE, in a list; NIL if it is not there."
  (multiple-value-bind (name prefix) (parse-name token :upcase)
    (let ((home (if prefix
                    (let ((*package* package)) (find-package-named prefix)) ; its local nicknames
                    package)))
      (multiple-value-bind (symbol status) (and home (find-symbol name home))
        (and status (list symbol))))))

(defun unlike-tokens (text one other)
  "The symbols in TEXT, as written, that the packages ONE and OTHER do not read as the same."
  (let ((unlike '()))
    (labels ((same-p (token)
               (handler-case (let ((meant (symbol-meant token one)))
                               (and meant (equal meant (symbol-meant token other))))
                 (lookup-failure () t))) ; no symbol
             (walk (datum)
               (cond ((consp datum) (mapc #'walk datum))
                     ((and (token-p datum)
                           (symbol-token-p (token-text datum))
                           (not (same-p (token-text datum))))
                      (pushnew (token-text datum) unlike :test #'string-equal)))))
      (loop with at = 0
            do (multiple-value-bind (datum begin end) (scan-datum text at)
                 (when (null begin) (return (nreverse unlike)))
                 (walk datum)
                 (setf at end))))))

(defun read-unlike (text one other &key (session "default"))
  "Answer (:NAMES TOKENS): at most five symbols in TEXT that the packages called ONE and OTHER do not
read as the same; or (:MISSING NAME) if there is no package of that name."
  (with-look-up (session)
    (let ((missing (find-if-not #'find-package (list one other))))
      (if missing
          (list :missing missing)
          (plist-without-nils
           :names (first-few (unlike-tokens text (find-package one) (find-package other)) 5))))))
