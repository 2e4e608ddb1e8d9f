
(defparameter *package-functions*
  '(export unexport import shadowing-import shadow use-package unuse-package
    rename-package delete-package
    #+sbcl sb-ext:add-package-local-nickname #+sbcl sb-ext:remove-package-local-nickname
    #+sbcl sb-ext:lock-package #+sbcl sb-ext:unlock-package))

(defparameter *readtable-functions*
  '(set-macro-character set-dispatch-macro-character make-dispatch-macro-character
    set-syntax-from-char))

(defun watch-undefiners ()
  "Count calls: of functions that undefine in *UNDEFINITIONS*, of those that change packages in
*PACKAGE-CHANGES*, of those that change readtables in *READTABLE-CHANGES*."
  #+sbcl
  (flet ((watch (names tag count)
           (dolist (name names)
             (unless (sbcl:encapsulated-p name tag)
               (sbcl:encapsulate name tag
                                 (lambda (function &rest arguments)
                                   (funcall count)
                                   (apply function arguments)))))))
    (watch *undefining-functions* 'swank-mcp (lambda () (incf *undefinitions*)))
    (watch *package-functions* 'swank-mcp-packages (lambda () (incf *package-changes*)))
    (watch *readtable-functions* 'swank-mcp-readtables (lambda () (incf *readtable-changes*)))))

(defun take-gone (session)
  (with-lock () (shiftf (session-gone session) '())))

(defun undefined-since (session)
  "The keys of SESSION's definitions that were undefined since this was called last."
  (unless (eql *undefinitions* (session-undefinitions session))
    (setf (session-undefinitions session) *undefinitions*)
    (own-definitions session))
  (and (session-gone session) (take-gone session)))

(defun undefined-definitions (&optional (session "default"))
  "Answer the keys of SESSION's definitions that are gone, for a file to be saved; and have ASDF
compile what has changed on disk when the file loads SESSION's systems."
  (let ((session (ensure-session session)))
    (own-definitions session)
    (outdate-for-others (session-systems session))
    (answer (take-gone session))))
;;;; apropos.lisp -- APROPOS-SEARCH and COMPLETE-SYMBOL

(cl:in-package #:swank-mcp)

;;; Kinds

(defun symbol-kinds (symbol)
  "The kinds of what SYMBOL names: of :FUNCTION, :GENERIC-FUNCTION, :MACRO, :SPECIAL-OPERATOR,
:VARIABLE, :CONSTANT, :CLASS and :TYPE."
  (let ((variable (variable-kind symbol)))
    (remove nil
            (list (cond ((special-operator-p symbol) :special-operator)
                        ((macro-function symbol) :macro)
                        ((not (fboundp symbol)) nil)
                        ((typep (fdefinition symbol) 'generic-function) :generic-function)
                        (t :function))
                  (cond ((keywordp symbol) nil)
                        ((eq variable :constant) :constant)
                        ((or (member variable '(:special :global :macro)) (boundp symbol)) :variable))
                  (cond ((find-class symbol nil) :class)
                        ((surely-defined-p :type symbol) :type))))))

(defun names-kind-p (symbol kind)
  "True if SYMBOL names a KIND, a keyword; if KIND is NIL, if it names anything."
  (let ((kinds (symbol-kinds symbol)))
    (if kind
        (or (member kind kinds)
            (and (eq kind :function) (intersection '(:generic-function :special-operator) kinds)))
        kinds)))

(defun kinds-text (symbol)
  (format nil "~{~A~^, ~}"
          (mapcar (lambda (kind) (substitute #\space #\- (string-downcase kind)))
                  (symbol-kinds symbol))))

(defun brief-line (symbol spelled)
  "A line about SYMBOL: SPELLED, its kinds, lambda list, and the beginning of its documentation."
  (let* ((kinds (symbol-kinds symbol))
         (documentation (or (and (fboundp symbol) (safely (documentation symbol 'function)))
                            (safely (documentation symbol 'variable))
                            (safely (documentation symbol 'type))))
         (text (if (stringp documentation)
                   (string-trim " " (substitute #\space #\newline documentation))
                   "")))
    (format nil "- ~A~@[ ~A~]~@[ ~A~]~:[: ~A~;~]" spelled
            (and kinds (kinds-text symbol))
            (and (intersection kinds '(:function :macro :generic-function))
                 (clip (lambda-list-text symbol) 120))
            (string= text "") (clip text 100))))

;;; Searching

(defun split-words (text)
  (loop with start = 0
        for begin = (position-if-not #'blankp text :start start)
        while begin
        collect (let ((end (or (position-if #'blankp text :start begin) (length text))))
                  (setf start end)
                  (subseq text begin end))))

(defun match-rank (words name)
  "How well NAME matches WORDS, which must all be in it: from 0, the name itself, to 3, somewhere
inside; NIL if it does not."
  (let ((worst 0))
    (dolist (word words worst)
      (let ((at (search word name :test #'char-equal)))
        (setf worst
              (max worst
                   (cond ((null at) (return nil))
                         ((= (length word) (length name)) 0)
                         ((string-equal word (string-trim "*+%" name)) 0)
                         ((<= at (or (position-if-not (lambda (char) (find char "*+%")) name) 0)) 1)
                         ((find (char name (1- at)) "-*+%/.") 2)
                         (t 3))))))))

(defun home-rank (symbol)
  (let ((home (symbol-package symbol)))
    (cond ((eq home (find-package '#:common-lisp)) 1)
          ((preferred-p symbol) 0)
          (t 2))))

(defun shown-symbol-p (home status)
  "False of internal symbols of the system, which only a search in their package shows."
  (or (eq status :external)
      (not (internal-package-p home))))

(defun documentation-texts (symbol)
  (loop for kind in '(function variable type)
        for text = (safely (documentation symbol kind))
        when (and (stringp text) (string/= text "")) collect text))

(defun documented-words (words symbol)
  "The words of WORDS that are in the documentation of SYMBOL, in a list behind that text; NIL unless
the others are in its name.  Short words are in any text."
  (let ((missing (remove-if (lambda (word) (search word (symbol-name symbol) :test #'char-equal)) words)))
    (when (every (lambda (word) (>= (length word) 3)) missing)
      (loop for text in (documentation-texts symbol)
            when (every (lambda (word) (search word text :test #'char-equal)) missing)
              return (cons text missing)))))

(defun search-symbols (words kind package externals-only)
  "(VALUES ((RANKS . SYMBOL) ...) LEFT-OUT DOCUMENTED), unsorted.  LEFT-OUT counts the system's
internal symbols.  DOCUMENTED are more (RANKS . SYMBOL), of symbols with words in their
documentation."
  (let ((found '()) (left-out 0) (documented '()))
    (flet ((consider (symbol home status)
             (when (and (eq home (symbol-package symbol))
                        (or (not externals-only) (eq status :external))
                        (names-kind-p symbol kind))
               (let ((rank (match-rank words (symbol-name symbol)))
                     (shownp (or package (shown-symbol-p home status))))
                 (cond ((and rank shownp)
                        (push (cons (list (cond ((zerop rank) 0) ((preferred-p symbol) 1)
                                                ((= 1 (home-rank symbol)) 1) (t 2))
                                          rank (home-rank symbol) (if (eq status :external) 0 1)
                                          (length (symbol-name symbol)))
                                    symbol)
                              found))
                       (rank (incf left-out))
                       ((and shownp (documented-words words symbol))
                        (push (cons (list (home-rank symbol) (if (eq status :external) 0 1)) symbol)
                              documented)))))))
      (dolist (home (if package (list package) (list-all-packages)))
        (call-with-present-symbols
         (lambda (symbol status) (consider symbol (if package (symbol-package symbol) home) status))
         home)))
    (values found left-out documented)))

(defun documented-line (symbol words)
  "A line about SYMBOL with what its documentation has around the first of WORDS in it."
  (destructuring-bind (text word &rest others) (documented-words words symbol)
    (declare (ignore others))
    (let* ((text (on-one-line text))
           (at (or (search word text :test #'char-equal) 0))
           (from (if (< at 60) 0 (1+ (or (position #\space text :end (- at 40) :from-end t) -1)))))
      (format nil "- ~A ~A: ~:[~;...~]~A" (spelling symbol) (kinds-text symbol) (plusp from)
              (clip (subseq text from) 120)))))

(defun best-first (found)
  (mapcar #'cdr (stable-sort (sort found #'string< :key (lambda (entry) (spelling (cdr entry))))
                             #'lexicographically< :key #'car)))

(defparameter *most-documented* 10
  "Symbols that are shown for their documentation beside others that are shown for their names.")

(defun apropos-title (words pattern count package externals-only)
  (cond (words (format nil "~D ~:*symbol~P match~1@*~[~;es~:;~] ~2@*~S~@[ in ~A~]" count count pattern
                       (and package (package-name package))))
        (externals-only (format nil "~D external symbol~:P of ~A" count (package-name package)))
        (t (format nil "~D symbol~:P of ~A" count (package-name package)))))

(defun apropos-search (pattern &key (session "default") package kind (limit 40) externals-only)
  "Answer (:TITLE :SECTIONS :NOTES :NAMES) about the symbols whose names contain every word of
PATTERN, in any case, and then those whose documentation does: at most LIMIT, the likeliest first,
of KIND if given, in PACKAGE or all packages."
  (with-look-up (session)
    (let* ((colon (position #\: pattern))
           (package (cond (package package)
                          ((and colon (plusp colon)) (subseq pattern 0 colon))))
           (words (split-words (string-left-trim ":" (if colon (subseq pattern colon) pattern))))
           (package (and package (named-package package session))))
      (multiple-value-bind (found left-out documented) (search-symbols words kind package externals-only)
        ;; in *foo* the asterisks may be wildcards
        (when (and (null found) (find #\* pattern))
          (setf words (mapcar (lambda (word) (remove #\* word)) words))
          (multiple-value-setq (found left-out documented)
            (search-symbols words kind package externals-only)))
        (let* ((count (length found))
               (symbols (first-few (best-first found) limit))
               (others (first-few (best-first documented)
                                  (if found (min *most-documented* (max 0 (- limit count))) limit))))
          (plist-without-nils
           :title (apropos-title words pattern count package externals-only)
           :names (mapcar #'qualified-spelling (append symbols others))
           :sections (append (and symbols
                                  (list (cons "" (mapcar (lambda (symbol) (brief-line symbol (spelling symbol)))
                                                         symbols))))
                             (and others
                                  (list (cons "By Documentation"
                                              (mapcar (lambda (symbol) (documented-line symbol words)) others)))))
           :notes (append (when (> count limit)
                            (list (format nil "The first ~D are shown; a longer pattern, a package, a kind or a higher limit shows others."
                                          limit)))
                          (when (count-beyond documented (length others))
                            (list (format nil "~D more by documentation." (count-beyond documented (length others)))))
                          (when (plusp left-out)
                            (list (format nil "~D internal symbol~:P of the implementation left out; a package shows them."
                                          left-out))))))))))

;;; Completing

(defun compound-match-p (typed name)
  "True if each part of TYPED between hyphens begins the corresponding part of NAME, as in m-v-b
for MULTIPLE-VALUE-BIND."
  (loop with at = 0
        for start = 0 then (1+ end)
        for end = (position #\- typed :start start)
        do (let* ((part (subseq typed start end))
                  (stop (+ at (length part))))
             (unless (and (<= stop (length name))
                          (string-equal part name :start2 at :end2 stop))
               (return nil))
             (if end
                 (let ((hyphen (position #\- name :start stop)))
                   (if hyphen (setf at (1+ hyphen)) (return nil)))
                 (return t)))))

(defun completion-rank (typed name)
  (cond ((and (<= (length typed) (length name)) (string-equal typed name :end2 (length typed))) 0)
        ((compound-match-p typed name) 1)))

(defun completion-spelling (prefix typed)
  "PREFIX, the spelling of a symbol, in the case of TYPED."
  (if (or (some #'upper-case-p typed) (find #\| prefix))
      prefix
      (string-downcase prefix)))

(defun completions (typed package scope session)
  "((RANKS . SYMBOL) ...) of the symbols of PACKAGE that complete TYPED.  SCOPE: :ACCESSIBLE,
:EXTERNAL or :PRESENT."
  (let ((found '()) (seen (make-hash-table :test 'eq)))
    (flet ((consider (symbol)
             (let ((rank (completion-rank typed (symbol-name symbol))))
               (when (and rank (not (gethash symbol seen))
                          (or (eq scope :external) (named-thing-p symbol)
                              (eq package (live-package session))))
                 (setf (gethash symbol seen) t)
                 (push (cons (list rank (if (named-thing-p symbol) 0 1) (home-rank symbol)
                                   (length (symbol-name symbol)))
                             symbol)
                       found)))))
      (if (eq scope :external)
          (do-external-symbols (symbol package) (consider symbol))
          (do-symbols (symbol package) (consider symbol))))
    found))

(defun matching-packages (typed)
  (sort (loop for package in (list-all-packages)
              for name = (find-if (lambda (name) (completion-rank typed name))
                                  (cons (package-name package) (package-nicknames package)))
              when (and name (string/= typed "") (not (implementation-package-p package)))
                collect name)
        #'string<))

(defun complete-symbol (typed &key (session "default") package (limit 30))
  "Answer (:TITLE :SECTIONS :NOTES :NAMES) about completions of TYPED: symbols accessible in
PACKAGE or the session's package; for p:foo the external ones of p, for p::foo all of p; and
packages."
  (with-look-up (session)
    (let* ((typed (string-trim " '" typed))
           (colon (position #\: typed))
           (double (and colon (eql (search "::" typed) colon)))
           (prefix (and colon (subseq typed 0 (+ colon (if double 2 1)))))
           (rest (if colon (subseq typed (length prefix)) typed))
           (package (cond ((null colon) (if package (named-package package session) (live-package session)))
                          ((zerop colon) (find-package '#:keyword))
                          (t (named-package (subseq typed 0 colon) session))))
           (found (completions (remove #\| rest) package
                               (cond ((null colon) :accessible) (double :present) (t :external))
                               session))
           (packages (and (null colon) (matching-packages typed)))
           (count (length found))
           (symbols (first-few (best-first found) limit))
           (spelled (loop for symbol in symbols
                          collect (completion-spelling (format nil "~@[~A~]~A" prefix
                                                               (bare-spelling (symbol-name symbol)))
                                                       typed)))
           (packages (loop for name in (first-few packages 10)
                           collect (completion-spelling (format nil "~A:" (bare-spelling name)) typed))))
      (plist-without-nils
       :title (format nil "~D completion~:P of ~S in ~A" count typed (package-name package))
       :names (append spelled packages)
       :sections (append (and symbols (list (cons "" (mapcar #'brief-line symbols spelled))))
                         (and packages (list (cons "Packages" (mapcar (lambda (name) (format nil "- ~A" name))
                                                                      packages)))))
       :notes (when (> count limit)
                (list (format nil "The first ~D are shown; type more of the name." limit)))))))
;;;; describe-symbol.lisp -- DESCRIBE-SYMBOL: of a symbol, or of a package as a guide to it

(cl:in-package #:swank-mcp)

(defun package-section (package)
  (let ((externals 0) (own 0))
    (do-external-symbols (symbol package) (declare (ignore symbol)) (incf externals))
    (do-symbols (symbol package) (when (eq package (symbol-package symbol)) (incf own)))
    `("Package"
      ,(format nil "Name: ~A" (package-name package))
      ,@(names-line "Nicknames" (package-nicknames package))
      ,@(names-line "Uses" (mapcar #'package-name (package-use-list package)))
      ,@(names-line "Used by" (sort (mapcar #'package-name (package-used-by-list package)) #'string<))
      ,(format nil "External symbols: ~D" externals)
      ,(format nil "Symbols of its own: ~D" own)
      ,@(documentation-lines package t)
      ,@(site-lines (package-name package) :package))))

(defun package-guide (package)
  "Sections about PACKAGE: itself, its library, and what it exports."
  (let* ((file (package-source-file package))
         (directory (and file (library-directory file))))
    (cons (package-section package)
          (append (and directory
                       (library-sections directory (function-names (exported-symbols package))))
                  (export-sections package)))))

(defun describe-symbol (text &key (session "default") package)
  "Answer (:TITLE TEXT :SECTIONS ((TITLE LINE ...) ...) :WHOLE SECTIONS :STANDARD NAME) about the
symbol, the (SETF SYMBOL) or the package that TEXT names; :STANDARD for symbols of COMMON-LISP.
:WHOLE has everything where the sections are shortened."
  (with-look-up (session)
    (multiple-value-bind (name meant found-in) (name-or-package text session package)
      (page-answer
       (append (cond ((and meant (null found-in)) '())
                     ((symbolp name) (symbol-sections name session))
                     (t (remove nil (list (function-section name)))))
               (and meant (package-guide meant)))
       :title (cond ((and meant (null found-in)) (package-name meant))
                    ((symbolp name) (symbol-title name found-in))
                    (t (function-spelling name)))
       :standard (and found-in (standard-symbol-name name))))))
;;;; describe-system.lisp -- DESCRIBE-SYSTEM

(cl:in-package #:swank-mcp)

;;; ASDF has the facts of a system that it knows.  To find another one would evaluate its definition, so
;;; that file is scanned.

(defstruct (system-facts (:conc-name facts-) (:copier nil))
  "The facts about a system, from ASDF or from its file."
  name file version description author license
  depends-on                            ; names
  components                            ; paths, in the order of definition
  loadedp
  registeredp)                          ; true if ASDF has its definition

;;; From ASDF

(defun component-paths (component)
  (let ((children (asdf-value "COMPONENT-CHILDREN" component)))
    (if children
        (loop for child in children append (component-paths child))
        (let ((path (asdf-value "COMPONENT-PATHNAME" component)))
          (and path (not (asdf-value "COMPONENT-SYSTEM-P" component))
               (list (namestring path)))))))

(defun registered-facts (system name)
  (flet ((text (function) (let ((value (asdf-value function system)))
                            (and (stringp value) (string/= value "") value))))
    (make-system-facts
     :name name :registeredp t
     :file (let ((file (asdf-value "SYSTEM-SOURCE-FILE" system))) (and file (namestring file)))
     :version (text "COMPONENT-VERSION") :description (text "SYSTEM-DESCRIPTION")
     :author (text "SYSTEM-AUTHOR") :license (text "SYSTEM-LICENSE")
     :depends-on (remove nil (mapcar #'dependency-name (asdf-value "SYSTEM-DEPENDS-ON" system)))
     :components (loop for child in (asdf-value "COMPONENT-CHILDREN" system)
                       append (component-paths child))
     :loadedp (and (member name (asdf-value "ALREADY-LOADED-SYSTEMS") :test #'string-equal) t))))

