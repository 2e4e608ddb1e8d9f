;;;; frames.lisp -- backtraces of user frames, printed without user code

(cl:in-package #:swank-mcp)

;;; A backtrace is taken while something has gone wrong, sometimes with little
;;; stack left, sometimes in an interrupt.  No PRINT-OBJECT method of the user
;;; may run then: it may be the very thing that loops or fails.  So arguments
;;; are printed by this little printer, which knows data and names, and shows
;;; anything else by its type.

(defvar *max-frames* 20
  "How many frames a report shows.")
(defvar *kept-frames* 100
  "How many are kept for who asks.")
(defparameter *max-argument-length* 10)
(defparameter *max-argument-depth* 4)
(defparameter *max-string-shown* 100)

(defun show-argument (object stream depth)
  (typecase object
    (null (write-string "NIL" stream))
    (symbol (prin1 object stream))
    (integer (show-integer object stream))
    (ratio (show-integer (numerator object) stream)
     (write-char #\/ stream)
     (show-integer (denominator object) stream))
    (float (prin1 object stream))
    (complex (show-argument (list 'complex (realpart object) (imagpart object)) stream 1))
    (character (prin1 object stream))
    (string (prin1 (clip object *max-string-shown*) stream))
    (cons (if (plusp depth)
              (show-list object stream (1- depth))
              (write-char #\# stream)))
    (function (show-function object stream))
    ;; SBCL's stand-ins: #<unused argument>, #<unavailable argument>
    #+sbcl (sbcl:unprintable-object (prin1 object stream))
    (package (format stream "#<PACKAGE ~A>" (package-name object)))
    (pathname (prin1 object stream))
    (vector (format stream "#<VECTOR ~D>" (length object)))
    (t (format stream "#<~A>" (let ((name (class-name (class-of object))))
                                (if (symbolp name) name "?"))))))

(defun show-integer (integer stream)
  (if (> (integer-length integer) 400)
      (format stream "#<INTEGER of ~D bits>" (integer-length integer))
      (prin1 integer stream)))

(defun show-list (list stream depth)
  (cond ((and (member (first list) '(quote function)) (consp (rest list)) (null (cddr list)))
         (write-string (if (eq (first list) 'quote) "'" "#'") stream)
         (show-argument (second list) stream depth))
        (t (write-char #\( stream)
           (loop for rest = list then (cdr rest)
                 for count from 0
                 do (cond ((= count *max-argument-length*)
                           (write-string "..." stream)
                           (return))
                          (t (show-argument (car rest) stream depth)))
                    (cond ((null (cdr rest)) (return))
                          ((atom (cdr rest))
                           (write-string " . " stream)
                           (show-argument (cdr rest) stream depth)
                           (return))
                          (t (write-char #\space stream))))
           (write-char #\) stream))))

(defun show-function (function stream)
  (let ((name #+sbcl (sbcl:%fun-name function)
              #-sbcl (nth-value 2 (function-lambda-expression function))))
    (if (and name (symbolp name))
        (format stream "#<FUNCTION ~A>" (symbol-name name))
        (write-string "#<FUNCTION>" stream))))

(defun call-with-frame-printing (package function)
  (with-standard-io-syntax
    (let ((*package* package) (*print-readably* nil) (*print-pretty* nil))
      (funcall function))))

(defun show-form (form package)
  (call-with-frame-printing
   package
   (lambda ()
     (clip (with-output-to-string (s) (show-argument form s *max-argument-depth*)) 500))))

;;; Which frames are the user's

#+sbcl
(defun frame-name-symbol (name)
  "The symbol by which the function of a frame is known: FOO for FOO, (SETF FOO),
(LAMBDA (X) :IN FOO), (FLET BAR :IN FOO), (SB-PCL::FAST-METHOD FOO ...)."
  (loop while (consp name)
        do (let ((in (ignore-errors (getf (cddr name) :in))))
             (when (stringp in)         ; a file: SYS: is the implementation's
               (when (eql 0 (search "SYS:" in)) (return-from frame-name-symbol 'eval))
               (setf in nil))
             (setf name (if in in (if (rest name) (second name) (first name))))
             ;; (LAMBDA (X)) of no function: a user's form
             (when (and (null in) (listp name)) (return-from frame-name-symbol nil))))
  (and (symbolp name) name))

(defun program-package-p (package)
  "True of a package that code of a program is read in."
  (not (or (null package)
           (eq package (find-package '#:common-lisp))
           (implementation-package-p package)
           (helper-package-p package))))

#+sbcl
(defun frame-package (frame)
  "The package that the code of FRAME was read in, as far as the names of its function
and of its variables tell; or NIL."
  (ignore-errors
   (let ((function (sbcl:frame-debug-fun frame)))
     (find-if #'program-package-p
              (mapcar (lambda (symbol) (and symbol (symbol-package symbol)))
                      (cons (frame-name-symbol (sbcl:debug-fun-name function))
                            (map 'list #'sbcl:debug-var-symbol
                                 (sbcl:debug-fun-debug-vars function))))))))

#-sbcl
(defun frame-package (frame)
  (declare (ignore frame))
  nil)

(defun helper-package-p (package)
  (member (package-name package)
          '("SWANK-MCP" "SWANK-MCP/SBCL" "SWANK-MCP-BOOT" "SWANK" "SWANK/BACKEND" "SWANK/SBCL"
            "SWANK/GRAY" "SWANK/RPC")
          :test #'equal))

#+sbcl
(defun public-name (name)
  "The name a user knows for a function that the compiler called in its place."
  (let ((text (and (symbolp name)
                   (implementation-package-p (symbol-package name))
                   (symbol-name name))))
    (cond ((and (consp name)
                (member (first name) '(sbcl:fast-method sbcl:slow-method)))
           (cons 'method (rest name)))
          ;; (SB-PCL::GF-DISPATCH FOO)
          ((and (typep name '(cons symbol (cons t null))) (string= (first name) "GF-DISPATCH"))
           (second name))
          ((null text) name)
          ((eql 0 (search "TWO-ARG-" text))
           (or (find-symbol (subseq text 8) '#:common-lisp) name))
          ((string= text "INTEGER-/-INTEGER") '/)
          (t name))))

(defparameter *machinery*
  '(eval error cerror signal warn break invoke-debugger macroexpand macroexpand-1
    symbol-function no-applicable-method no-next-method slot-unbound slot-missing)
  "Functions of the standard that appear in a backtrace between the user's call
and the debugger, and tell nothing that the message does not.")

#+sbcl
(defun user-frame-p (name)
  (cond ((stringp name) (string= name "undefined function"))
        (t (let ((symbol (frame-name-symbol name)))
             (cond ((null symbol) (not (or (form-frame-p name) (eval-in-frame-p name))))
                   ((implementation-package-p (symbol-package symbol)) nil)
                   ((helper-package-p (symbol-package symbol)) nil)
                   (t (not (member symbol *machinery*))))))))

#+sbcl
(defun form-frame-p (name)
  "True of what EVAL makes of a form; newer versions have a name for it."
  (or (equal name '(lambda ())) (equal name "top level form")))

#+sbcl
(defun eval-in-frame-p (name)
  "True of (LAMBDA (#:G1)), which EVAL-IN-FRAME makes of its form."
  (and (consp name)
       (eq (first name) 'lambda)
       (null (cddr name))
       (typep (second name) '(cons symbol null))
       (null (symbol-package (first (second name))))))

#+sbcl
(defun frame-text (name args missing)
  "MISSING is the function's name when the frame is a call of one that is undefined."
  (with-output-to-string (s)
    (write-char #\( s)
    ;; not PRIN1: a method's specializer can be any object
    (show-argument (if (equal name "undefined function") (or missing name) name) s 8)
    (if (listp args)
        (dolist (argument args)
          (write-char #\space s)
          (show-argument argument s *max-argument-depth*))
        (write-string " ..." s))
    (write-char #\) s)))

;;; Of the frames beyond those shown only the number is wanted, and after a stack
;;; overflow there are hundreds of thousands: the count stops at *DEEPEST-FRAME*.

(defparameter *deepest-frame* 5000)

#+sbcl
(defun collect-frames (limit package &key missing)
  "Texts of the innermost LIMIT user frames above EVALUATE-FORM, how many user
frames were seen in all, and the frames of those texts; without any, the frame
of the form.  MISSING names the function of an \"undefined function\" frame."
  (let ((texts '()) (frames '()) (total 0) (alias nil) (of-form '()))
    (flet ((visit (frame name)
             (let ((public (public-name name)))
               (when (user-frame-p public)
                 (let ((text (and (< total limit)
                                  (frame-text public (frame-arguments frame) missing))))
                   ;; (/ 1 0) calls SB-KERNEL::INTEGER-/-INTEGER: one call to the user
                   (cond ((and alias (equal text alias))
                          (setf (first frames) frame))
                         (t (incf total)
                            (when text
                              (push (clip text 500) texts)
                              (push frame frames))))
                   (setf alias (and (not (eq public name)) text)))))))
      (call-with-frame-printing
       package
       (lambda ()
         (block walk
           (sbcl:map-backtrace
            (lambda (frame)
              (let ((name (frame-name frame)))
                (when (member name '(evaluate-form read-form value-text do-work))
                  (return-from walk))
                (when (form-frame-p name) (setf of-form (list frame)))
                (ignore-errors (visit frame name))))
            :from (or (sbcl:resolve-stack-top-hint) :interrupted-frame)
            :count *deepest-frame*)))))
    (values (nreverse texts) total (or (nreverse frames) of-form))))

#+sbcl
(defun frame-name (frame)
  "The name of the function of FRAME: that of a closure, like a generic function's, if it
has one of its own."
  (let ((function (sbcl:frame-debug-fun frame)))
    (or (ignore-errors (sbcl:debug-fun-closure-name function frame))
        (ignore-errors (sbcl:debug-fun-name function)))))

#+sbcl
(defun frame-arguments (frame)
  (nth-value 1 (sbcl:frame-call frame :replace-dynamic-extent-objects t)))

#-sbcl
(defun foreign-frame-text (frame)
  "Swank's text of FRAME on one line, or NIL where that is nothing but an address."
  #+ecl
  (let ((name (swank/ecl::frame-name frame)))
    (and name (not (eq name 'si:bytecodes)) (prin1-to-string name)))
  #-ecl
  (clip (substitute #\space #\newline
                    (with-output-to-string (s) (swank/backend:print-frame frame s)))
        300))

#-sbcl
(defun collect-frames (limit package &key missing)
  "Swank's idea of the frames inside of EVALUATE-FORM, without those of this
helper; what is left of the implementation's own cannot be told from the user's."
  (declare (ignore missing))
  (flet ((frame-texts (package)
           (call-with-frame-printing
            package
            (lambda ()
              (let ((*print-length* *max-argument-length*) (*print-level* *max-argument-depth*))
                (remove nil (mapcar #'foreign-frame-text
                                    (swank/backend:compute-backtrace 0 (+ limit 60)))))))))
    (ignore-errors
     (swank/backend:call-with-debugging-environment
      (lambda ()
        (let* ((texts (frame-texts package))
               ;; the same with every symbol's package, to know ours by it
               (names (frame-texts (find-package '#:keyword)))
               (end (or (position-if (lambda (name) (search "SWANK-MCP::EVALUATE-FORM" name)) names)
                        (length names)))
               (ours (position-if (lambda (name) (search "SWANK-MCP::" name)) names
                                  :end end :from-end t))
               (found (subseq texts (if ours (1+ ours) 0) end)))
          (values (subseq found 0 (min limit (length found))) (length found))))))))
