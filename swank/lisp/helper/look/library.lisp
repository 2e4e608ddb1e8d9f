;;;; library.lisp -- what a library's own files tell a newcomer: its README, calls in its tests

(cl:in-package #:swank-mcp)

;;; Files below a directory

(defparameter *most-entries* 2000 "Entries of directories that are looked at for one library.")

(defun entries-in (directory)
  "The files and directories in DIRECTORY; links to directories are not followed."
  (ignore-errors
   (directory (merge-pathnames (make-pathname :name :wild :type :wild :version nil) directory)
              #+sbcl :resolve-symlinks #+sbcl nil)))

(defun directory-pathname-p (path)
  (null (or (pathname-name path) (pathname-type path))))

(defun last-folder (directory)
  (let ((name (first (last (pathname-directory directory)))))
    (if (stringp name) name "")))

(defun words-between (text separators)
  "The parts of TEXT between characters of SEPARATORS."
  (loop with start = 0
        for end = (position-if (lambda (char) (find char separators)) text :start start)
        collect (subseq text start end)
        while end
        do (setf start (1+ end))))

(defun names-tests-p (name)
  "True of the name of a file or folder that has tests: t, tests, foo-test, test_utils."
  (or (string-equal name "t")
      (intersection '("test" "tests" "spec" "specs") (words-between name "-_.") :test #'string-equal)))

(defun library-directory (file)
  "The uppermost directory that has definitions of systems, of that of FILE and three above it; or
NIL."
  (loop with found = nil
        for up from 0 to 3
        for folders = (butlast (pathname-directory file) up)
        while (rest folders)
        do (let ((directory (make-pathname :name nil :type nil :version nil :directory folders :defaults file)))
             (when (find "asd" (entries-in directory) :key #'pathname-type :test #'equal)
               (setf found directory)))
        finally (return found)))

(defun test-files (directory)
  "The files with tests below DIRECTORY, those nearer to it first.  In folders of tests these are
also files without a type, which may have forms that the tests read."
  (let ((left *most-entries*) (found '()))
    (loop for depth from 0 to 3
          for level = (list (cons directory nil)) then next
          for next = '()
          do (loop for (folder . testsp) in level
                   for entries = (sort (entries-in folder) #'string< :key #'namestring)
                   while (plusp (decf left (length entries)))
                   do (dolist (entry entries)
                        (if (directory-pathname-p entry)
                            (unless (starts-with "." (last-folder entry))
                              (push (cons entry (or testsp (names-tests-p (last-folder entry)))) next))
                            (when (or (and testsp (null (pathname-type entry)))
                                      (and (equal (pathname-type entry) "lisp")
                                           (or testsp (names-tests-p (pathname-name entry)))))
                              (push entry found)))))
             (setf next (reverse next)))
    (reverse found)))

;;; README

(defun readme-directories (directory)
  "DIRECTORY, and where Debian has the documentation of a library with this source."
  (let ((name (last-folder directory)))
    (cons directory
          (when (eql 0 (search "/usr/share/common-lisp/source/" (namestring directory)))
            (loop for package in (list name (format nil "cl-~A" name))
                  collect (pathname (format nil "/usr/share/doc/~A/" package)))))))

(defun readme-file (directory)
  "The README of the library in DIRECTORY, of several the one that is easiest to read; or NIL."
  (flet ((rank (file)
           (or (position (pathname-type file) '("md" "markdown" "org" "txt" nil "rst") :test #'equalp) 9)))
    (loop for place in (readme-directories directory)
          for found = (remove-if-not (lambda (file)
                                       (and (pathname-name file) (starts-with "readme" (pathname-name file))))
                                     (entries-in place))
          when found return (first (sort found #'< :key #'rank)))))

(defun markup-line-p (line)
  "True of a line that is a title, a rule, a picture, a link or the like, and says nothing."
  (let ((line (string-trim '(#\space #\tab #\return) line)))
    (or (notany #'alpha-char-p line)
        (find (char line 0) "#<=|:")
        (some (lambda (mark) (eql 0 (search mark line))) '("![" "[![" ".. " "```" "~~~" ";;" "-*-")))))

(defun paragraphs (text)
  "Lists of the lines of TEXT between empty lines, without markup.  A line that is underlined is
markup, too."
  (let ((paragraphs '()) (lines '()))
    (flet ((end () (when lines (push (reverse (shiftf lines '())) paragraphs))))
      (with-input-from-string (in text)
        (loop for line = (read-line in nil)
              while line
              do (let ((bare (string-trim '(#\space #\tab #\return) line)))
                   (cond ((string= bare "") (end))
                         ((and lines (every (lambda (char) (find char "=-~^*")) bare)) (pop lines))
                         ((markup-line-p bare))
                         (t (push bare lines))))))
      (end))
    (reverse paragraphs)))

(defun readme-lines (directory)
  "The path of the README of the library in DIRECTORY and its first paragraph, with the list that
it may announce; or NIL."
  (let ((file (readme-file directory)))
    (when file
      (let* ((text (and (not (equalp (pathname-type file) "gz")) (file-text file)))
             (from (and text
                        (member-if (lambda (lines) (> (length (format nil "~{~A ~}" lines)) 40))
                                   (paragraphs (subseq text 0 (min (length text) 20000))))))
             (last (and from (first (last (first from)))))
             (lines (if (and last (char= #\: (char last (1- (length last)))))
                        (append (first from) (second from))
                        (first from))))
        (list* (namestring file)
               (and lines (list (clip (format nil "~{~A~^~%~}" lines) 600))))))))

;;; Calls in the tests

(defparameter *most-test-text* 300000 "Characters of a library's tests that are searched for calls.")

(defstruct (example (:copier nil)) file line text names)

(defun called-name (datum names)
  "The string among the keys of NAMES that the token DATUM names, whatever its package; or NIL."
  (and (token-p datum)
       (let* ((text (token-text datum))
              (name (string-upcase (subseq text (let ((colon (position #\: text :from-end t)))
                                                  (if colon (1+ colon) 0))))))
         (and (nth-value 1 (gethash name names)) name))))

(defun shows-a-call-p (text begin end head)
  "True if the form between those positions of TEXT, a list that begins with HEAD, is short and
does not itself define something other than a test."
  (and (<= 12 (- end begin) 200)
       (<= (count #\newline text :start begin :end end) 5)
       (token-p head)
       (notany (lambda (operator) (token-name= head operator))
               '("DEFUN" "DEFMACRO" "DEFMETHOD" "DEFGENERIC" "DEFVAR" "DEFPARAMETER" "DEFCONSTANT"
                 "DEFCLASS" "DEFSTRUCT" "DEFTYPE" "DEFPACKAGE" "DEFSYSTEM" "IN-PACKAGE"))))

(defun calls-within (text begin end names found callp)
  "The names among the keys of NAMES that the form between those positions of TEXT calls; each
call is counted in NAMES.  FOUND is called with the begin and end of each outermost form that can
be shown, and the names that it calls.  Unless CALLP, the form is only part of a list of forms."
  (let* ((children (child-spans text begin end))
         (head (first (first children)))
         (name (and callp (called-name head names)))
         (called (and name (list name)))
         (inside '()))
    (when name (incf (gethash name names)))
    (loop for (datum from . to) in children
          when (and (consp datum) (char= #\( (char text from)))
            do (dolist (name (calls-within text from to names
                                           (lambda (&rest form) (push form inside))
                                           (token-p head)))
                 (pushnew name called :test #'string=)))
    (if (and callp called (shows-a-call-p text begin end head))
        (funcall found begin end called)
        (loop for form in (reverse inside) do (apply found form)))
    called))

(defun outdented (text begin end)
  "The form between those positions of TEXT, its later lines moved to the left as much as its first."
  (let ((column (1- (nth-value 1 (line-and-column text begin)))))
    (with-output-to-string (out)
      (with-input-from-string (in (subseq text begin end))
        (loop for line = (read-line in nil)
              for firstp = t then nil
              while line
              do (unless firstp (terpri out))
                 (write-string (if firstp
                                   line
                                   (subseq line (or (position #\space line :test #'char/= :end (min column (length line)))
                                                    (min column (length line)))))
                               out))))))

(defun examples (files names)
  "EXAMPLEs, in the order of FILES, of calls of the functions called NAMES; and the names in the
order of how often they are called."
  (let ((counts (make-hash-table :test 'equal)) (left *most-test-text*) (found '()))
    (dolist (name names) (setf (gethash name counts) 0))
    (dolist (file files)
      (let ((text (and (plusp left) (file-text file))))
        (when (and text
                   (or (pathname-type file) (starts-with ";" text))
                   (plusp (decf left (length text))))
          (loop for at = 0 then (if begin end (1+ end))
                for (nil begin end) = (multiple-value-list (scan-datum text at))
                until (and (null begin) (>= end (length text)))
                when (and begin (char= #\( (char text begin)))
                  do (calls-within text begin end counts
                                   (lambda (begin end names)
                                     (push (make-example :file file :line (line-and-column text begin)
                                                         :text (outdented text begin end) :names names)
                                           found))
                                   t)))))
    (values (reverse found)
            (let ((called '()))
              (maphash (lambda (name count) (when (plusp count) (push (cons count name) called))) counts)
              (mapcar #'cdr (sort (sort called #'string< :key #'cdr) #'> :key #'car))))))

(defparameter *checking*
  '("=" "EQ" "EQL" "EQUAL" "EQUALP" "STRING=" "ASSERT" "IS" "OK" "CHECK" "TRUE" "FALSE" "EXPECT"
    "SHOULD" "TEST" "DEFTEST")
  "Words in the operators of forms that show what a call returns.")

(defun example-rank (example)
  "Forms that show what comes of the call first, then those that do more than call, short ones
before long ones."
  (let* ((text (example-text example))
         (head (subseq text 1 (or (position-if #'blankp text) (length text)))))
    (list (cond ((intersection *checking* (words-between head "-:!?") :test #'string-equal) 0)
                ((find head (example-names example) :test #'string-equal) 2)
                (t 1))
          (length text))))

(defun chosen-examples (files names count)
  "At most COUNT EXAMPLEs: for each of the names that are called most the shortest one, if there
is one that also shows what comes of the call."
  (multiple-value-bind (examples called) (examples files names)
    (let ((chosen '()) (shown '()))
      (dolist (name called)
        (when (= (length chosen) count) (return))
        (unless (member name shown :test #'string=)
          (let ((fitting (remove-if-not (lambda (example) (member name (example-names example) :test #'string=))
                                        examples)))
            (when fitting
              (let ((example (first (stable-sort fitting #'lexicographically< :key #'example-rank))))
                (push example chosen)
                (setf shown (append (example-names example) shown)))))))
      (remove-if-not (lambda (example) (member example chosen)) examples))))

(defun example-lines (directory names)
  "Lines with calls of functions called NAMES in the tests of the library in DIRECTORY."
  (let ((file nil))
    (loop for example in (chosen-examples (test-files directory) names 6)
          unless (equal file (example-file example))
            collect (format nil "; ~A" (setf file (example-file example)))
          collect (example-text example))))

(defun library-sections (directory names)
  "Sections about the library in DIRECTORY, whose functions are called NAMES."
  (let ((readme (readme-lines directory)) (examples (and names (example-lines directory names))))
    (append (and readme (list (cons "README" readme)))
            (and examples (list (cons "Calls In Its Tests" examples))))))
