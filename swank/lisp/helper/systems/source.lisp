;;;; source.lisp -- where definitions come from, and their source text

(cl:in-package #:swank-mcp)

;;; SBCL records for each definition a file and the number of the top level form in it, or the
;;; value of SB-C::*SOURCE-PLIST*.  For a session's definitions that has the text itself (see
;;; CALL-WITH-SOURCE-TEXT), for those that SLIME compiled from a buffer it has the buffer.

(defstruct (site (:copier nil))
  "A place in source: FILE (a string) or NIL, LINE or NIL, TEXT of the definition or
NIL, ORIGIN (:FILE, :SESSION, :EMACS, :IMPLEMENTATION or NIL where unknown)."
  file line text origin)

(defparameter *max-source-bytes* 8000000
  "Larger source files are not searched.")

(defun file-text (file)
  "The text of FILE, or NIL."
  (if *file-texts*
      (multiple-value-bind (text foundp) (gethash (namestring file) *file-texts*)
        (if foundp
            text
            (setf (gethash (namestring file) *file-texts*) (read-file-text file))))
      (read-file-text file)))

(defvar *note-opened-p* t
  "False while the helper opens files itself: see kept-fasls.lisp.")

(defun read-file-text (file &aux (*note-opened-p* nil))
  (ignore-errors
   (with-open-file (in file :external-format #+sbcl '(:utf-8 :replacement #\?) #-sbcl :default)
     (when (<= (file-length in) *max-source-bytes*)
       (let* ((text (make-string (file-length in)))
              (end (read-sequence text in)))
         (subseq text 0 end))))))

(defmacro or-values (&rest forms)
  "OR of the first values that returns all values."
  (if (null (rest forms))
      (first forms)
      (let ((values (gensym)))
        `(let ((,values (multiple-value-list ,(first forms))))
           (if (first ,values)
               (values-list ,values)
               (or-values ,@(rest forms)))))))

;;; Finding a definition in a text

(defun defines-p (datum name)
  "True of (DEFSOMETHING NAME ...) and (DEFSOMETHING (SETF NAME) ...)."
  (and (consp datum)
       (token-p (first datum))
       (search "def" (token-text (first datum)) :test #'char-equal)
       (consp (rest datum))
       (let ((second (second datum)))
         (or (token-name= second name)
             (and (stringp second) (string-equal second name))
             (and (consp second)
                  (or (token-name= (first second) name)
                      (and (token-name= (first second) "SETF")
                           (token-name= (second second) name))))))))

(defun mentions-p (text begin end words)
  "True if all strings of WORDS are in TEXT between those positions."
  (every (lambda (word) (search word text :start2 begin :end2 end :test #'char-equal)) words))

(defun definition-within (text begin end name &optional words)
  "(VALUES BEGIN END) of the form in TEXT between those positions that defines NAME and mentions
WORDS, or NIL."
  (loop for open = (position #\( text :start begin :end end)
          then (position #\( text :start (1+ open) :end end)
        while open
        do (when (eql (mismatch "(def" text :start2 open :test #'char-equal) 4)
             (multiple-value-bind (datum from to) (scan-datum text open)
               (when (and from (defines-p datum name) (mentions-p text from to words))
                 (return (values from to)))))))

(defun locate-form (text index name &key trusted words)
  "(VALUES BEGIN END) of the definition of NAME in TEXT, or NIL.  It was compiled as the top level
form INDEX, if that is not NIL; TEXT may have been edited since.  TRUSTED means that the form
INDEX is right though it may not mention NAME, as a structure does not mention its accessors.
WORDS, names of a method's specializers, must be in the form."
  (multiple-value-bind (datum begin end) (and index (top-level-form text index))
    (declare (ignore datum))
    (or-values
     (and begin (definition-within text begin end name words))
     (when (and begin (or trusted (and words (mentions-p text begin end words))))
       (values begin end))
     (definition-within text 0 (length text) name words)
     (when (and begin (mentions-p text begin end (list name)))
       (values begin end)))))

;;; Sites

(defun file-site (file index name &key trusted words)
  (let ((text (file-text file)))
    (multiple-value-bind (begin end) (and text (locate-form text index name :trusted trusted :words words))
      (make-site :file (namestring file) :origin :file
                  :line (and begin (values (line-and-column text begin)))
                  :text (and begin (subseq text begin end))))))

(defun session-site (text name words)
  (multiple-value-bind (begin end) (definition-within text 0 (length text) name words)
    (make-site :origin :session :text (subseq text (or begin 0) end))))

(defun emacs-site (plist name)
  "The SITE of a definition that SLIME compiled from a buffer."
  (let ((file (getf plist :emacs-filename)) (string (getf plist :emacs-string)))
    (if (and (stringp file) (probe-file file))
        (let ((site (file-site (pathname file) nil name)))
          (unless (site-text site) (setf (site-text site) string))
          site)
        (make-site :origin :emacs :file (getf plist :emacs-buffer) :text string))))

#+sbcl
(defun source-words (source)
  "The names of the specializers of the method with the definition-source SOURCE."
  (let ((description (ignore-errors (sbcl:definition-source-description source))))
    (when (consp description)
      (loop for part in description
            when (and part (symbolp part) (not (eq part t))) collect (symbol-name part)))))

#+sbcl
(defun source-site (source name)
  "The SITE of SOURCE, a definition-source of SB-INTROSPECT, for a definition of NAME, a string."
  (let ((file (sb-introspect:definition-source-pathname source))
        (plist (sb-introspect:definition-source-plist source)))
    (cond ((getf plist :emacs-buffer) (emacs-site plist name))
          (file
           (let ((found (ignore-errors (probe-file (translate-logical-pathname file)))))
             (cond (found (file-site found
                                      (first (sb-introspect:definition-source-form-path source))
                                      name
                                       :words (source-words source)
                                       :trusted (let ((date (sb-introspect:definition-source-file-write-date source)))
                                                  (and date (eql date (file-write-date found))))))
                   ;; COMPILE-SOURCE compiled it from a file that is gone
                   ((stringp (getf plist :swank-mcp-source))
                    (session-site (getf plist :swank-mcp-source) name (source-words source)))
                   (t (make-site :file (namestring file)
                                  :origin (if (typep file 'logical-pathname)
                                              :implementation
                                              :file))))))
          ((stringp (getf plist :swank-mcp-source))
           (session-site (getf plist :swank-mcp-source) name (source-words source)))
          ((getf plist :swank-mcp) (make-site :origin :session))
          (t (make-site)))))

(defun brief-site-text (site)
  "SITE in a line, for lists."
  (if (eq (site-origin site) :implementation)
      (site-file site)
      (site-line-text site)))

(defun site-line-text (site)
  "SITE in a line."
  (let ((file (site-file site)))
    (ecase (site-origin site)
      (:file (format nil "~A~:[ (not found there any more)~;~:*, line ~D~]" file (site-line site)))
      (:session "this session")
      (:emacs (format nil "Emacs buffer ~A" file))
      (:implementation (format nil "~A (part of ~A; its source is not installed here)"
                               file (lisp-implementation-type)))
      ((nil) "unknown"))))

;;; Definitions by name

(defparameter *definition-kinds*
  '((:function . "Function") (:macro . "Macro") (:generic-function . "Generic Function")
    (:method . "Method") (:compiler-macro . "Compiler Macro") (:setf-expander . "Setf Expander")
    (:variable . "Variable") (:constant . "Constant") (:symbol-macro . "Symbol Macro")
    (:class . "Class") (:structure . "Structure") (:condition . "Condition") (:type . "Type")
    (:method-combination . "Method Combination") (:package . "Package"))
  "Types of SB-INTROSPECT:FIND-DEFINITION-SOURCES-BY-NAME, and their titles.")

(defun name-string (name)
  "The string by which a source text has NAME, a symbol, a string or (SETF SYMBOL)."
  (cond ((stringp name) name)
        ((symbolp name) (symbol-name name))
        (t (symbol-name (second name)))))

#+sbcl
(defun definition-sources (name kind)
  (ignore-errors
   (if (eq kind :package)
       (and (or (stringp name) (symbolp name))
            (find-package name)
            (sb-introspect:find-definition-sources-by-name (make-symbol (string name)) kind))
       (and (not (stringp name))
            (sb-introspect:find-definition-sources-by-name name kind)))))

#+sbcl
(defun definition-sites (name kind)
  "The SITEs of the definitions of NAME as a KIND of *DEFINITION-KINDS*."
  (loop for source in (definition-sources name kind)
        collect (source-site source (name-string name))))

(defun package-source-file (package)
  "The file that defined PACKAGE, a pathname; NIL where it is not known, and for the Lisp's own."
  #+sbcl
  (loop for source in (definition-sources (package-name package) :package)
        for file = (sb-introspect:definition-source-pathname source)
        when (and file (not (typep file 'logical-pathname))) return file)
  #-sbcl
  (progn package nil))
