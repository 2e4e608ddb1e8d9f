;;;; backtrace.lisp -- the frames of SBCL's stack that are the program's

(cl:in-package #:swank-mcp)

(defun frame-name-symbol (name)
  "The symbol FOO of a frame's function NAME: FOO, (SETF FOO), (LAMBDA (X) :IN FOO),
(FLET BAR :IN FOO), (SB-PCL::FAST-METHOD FOO ...)."
  (loop while (consp name)
        do (let ((in (ignore-errors (getf (cddr name) :in))))
             (when (stringp in)         ; a file: SYS: is the implementation's
               (when (eql 0 (search "SYS:" in)) (return-from frame-name-symbol 'eval))
               (setf in nil))
             (setf name (if in in (if (rest name) (second name) (first name))))
             ;; (LAMBDA (X)) in no function is of a user's form
             (when (and (null in) (listp name)) (return-from frame-name-symbol nil))))
  (and (symbolp name) name))

(defun frame-package (frame)
  "The package in which the code of FRAME was read, inferred from the names of its function and
its variables; or NIL."
  (ignore-errors
   (let ((function (sbcl:frame-debug-fun frame)))
     (find-if #'program-package-p
              (mapcar (lambda (symbol) (and symbol (symbol-package symbol)))
                      (cons (frame-name-symbol (sbcl:debug-fun-name function))
                            (map 'list #'sbcl:debug-var-symbol
                                 (sbcl:debug-fun-debug-vars function))))))))

(defun public-name (name)
  "The name under which a user knows NAME, an internal function that the compiler calls."
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
  "Standard functions that stand in a backtrace between the user's call and the debugger.  They
add nothing to the message.")

(defun user-frame-p (name)
  (cond ((stringp name) (string= name "undefined function"))
        (t (let ((symbol (frame-name-symbol name)))
             (cond ((null symbol) (not (or (form-frame-p name) (eval-in-frame-p name))))
                   ((implementation-package-p (symbol-package symbol)) nil)
                   ((helper-package-p (symbol-package symbol)) nil)
                   (t (not (member symbol *machinery*))))))))

(defun form-frame-p (name)
  "True if NAME is that of the function that EVAL makes of a form; newer SBCLs name it."
  (or (equal name '(lambda ())) (equal name "top level form")))

(defun eval-in-frame-p (name)
  "True if NAME is (LAMBDA (#:G1)), the function that EVAL-IN-FRAME makes of its form."
  (and (consp name)
       (eq (first name) 'lambda)
       (null (cddr name))
       (typep (second name) '(cons symbol null))
       (null (symbol-package (first (second name))))))

(defun frame-text (name args missing)
  "The text of a frame.  MISSING is the name of the function if the frame calls an undefined one."
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

;;; A generic function calls its methods from functions that SBCL makes: those of the effective
;;; method, and of the error that none is applicable.  Their frames have its arguments, which the
;;; method's may have lost.

(defun effective-method-p (name)
  "True of (SB-PCL::EMF FOO)."
  (and (typep name '(cons symbol (cons t null))) (string= (first name) "EMF")))

(defun dispatched-call (frame name)
  "(VALUES FUNCTION-NAME ARGUMENTS T) if FRAME, of the function NAME, calls methods of a generic
function or has found none."
  (cond ((effective-method-p name)
         (let ((arguments (frame-arguments frame)))
           ;; before them are two of SBCL's own
           (values (second name) (if (listp arguments) (nthcdr 2 arguments) arguments) t)))
        ((and (symbolp name) (string= name "CALL-NO-APPLICABLE-METHOD"))
         (destructuring-bind (&optional function arguments) (frame-arguments frame)
           (when (typep function 'generic-function)
             (values (sb-mop:generic-function-name function) arguments t))))))

(defun method-of-p (name function-name)
  "True if NAME is (METHOD FUNCTION-NAME ...)."
  (and (consp name) (eq (first name) 'method) (equal (second name) function-name)))

(defun with-arguments-of (arguments dispatched)
  "ARGUMENTS, with those of DISPATCHED in place of those that are lost."
  (if (and (listp arguments) (listp dispatched))
      (loop for argument in arguments
            for rest = dispatched then (rest rest)
            collect (if (and rest (typep argument 'sbcl:unprintable-object)) (first rest) argument))
      arguments))

;;; Frames beyond those shown are only counted.  After a stack overflow there are hundreds of
;;; thousands, so the count stops at *DEEPEST-FRAME*.

(defparameter *deepest-frame* 5000)

(defun collect-frames (limit package &key missing from until)
  "(VALUES TEXTS TOTAL FRAMES): texts of the innermost LIMIT user frames above EVALUATE-FORM, how
many user frames there are, and the frames of TEXTS; without any, the frame of the form.  MISSING
names the function of an \"undefined function\" frame.  FROM is the innermost frame, where it is not that of
the error.  UNTIL is true of the user frame before which to end."
  (let ((texts '()) (frames '()) (total 0) (alias nil) (of-form '()) (endedp nil)
        (public nil) (arguments nil))   ; of the frame visited last
    (labels ((text ()
               (clip (frame-text public arguments missing) 500))
             (visit (frame name)
               (multiple-value-bind (function given dispatchedp) (dispatched-call frame name)
                 (cond ((and dispatchedp (method-of-p public function) (user-frame-p public))
                        (setf arguments (with-arguments-of arguments given))
                        (when (and texts (= total (length texts)))
                          (setf (first texts) (text))))
                       (t (setf public (if dispatchedp function (public-name name))
                                arguments given)
                          (when (user-frame-p public)
                            ;; of other frames SBCL may have to intern names for the arguments
                            (unless dispatchedp (setf arguments (frame-arguments frame)))
                            (if (and until (funcall until frame))
                                (setf endedp t)
                                (note frame name)))))))
             (note (frame name)
               (let ((text (and (< total limit) (text))))
                 ;; (/ 1 0) calls SB-KERNEL::INTEGER-/-INTEGER: one call to the user
                 (cond ((and alias (equal text alias))
                        (setf (first frames) frame))
                       (t (incf total)
                          (when text
                            (push text texts)
                            (push frame frames))))
                 (setf alias (and (not (eq public name)) text)))))
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
                (ignore-errors (visit frame name))
                (when endedp (return-from walk))))
            :from (or from (sbcl:resolve-stack-top-hint) :interrupted-frame)
            :count *deepest-frame*)))))
    (values (nreverse texts) total (or (nreverse frames) of-form))))

(defun frame-name (frame)
  "The name of FRAME's function.  A closure, as of a generic function, may have its own name."
  (let ((function (sbcl:frame-debug-fun frame)))
    (or (ignore-errors (sbcl:debug-fun-closure-name function frame))
        (ignore-errors (sbcl:debug-fun-name function)))))

;;; An interrupt may find a function before it has set its variables.  They are then what was there
;;; before, which may be no object.  Where no list was made of the values of a &REST, SBCL copies
;;; them from the stack: as many as one variable says, from where another one says.  If these are
;;; not set it writes beyond the stack, which is a memory fault at best.

(defun object-word-p (word)
  "True if WORD, which stands where an object should, may be one, as far as SBCL can tell."
  (or (nth-value 1 (sbcl:make-lisp-obj word nil))
      ;; those it does not take for objects: NIL, and what was made just now
      (= word (sbcl:get-lisp-obj-address nil))
      (and (= 3 (logand 3 word))        ; a pointer, near the newest object
           (< (abs (- word (sbcl:get-lisp-obj-address (list nil)))) (sb-ext:dynamic-space-size)))))

(defun stack-objects-p (address count)
  "True if the COUNT words down from ADDRESS are on this thread's stack and are objects."
  (let* ((top (sbcl:current-sp)) (size sbcl:n-word-bytes) (lowest (- address (* size (1- count))))
         (end (and sbcl:thread-control-stack-end-slot
                   (sbcl:current-thread-offset-sap sbcl:thread-control-stack-end-slot))))
    (and top end
         (zerop (mod address size))
         (<= (sb-sys:sap-int top) lowest)
         (< address (sb-sys:sap-int end))
         (loop for at from lowest to address by size
               for word = (sb-sys:sap-ref-word (sb-sys:int-sap at) 0)
               always (or (<= (sb-sys:sap-int top) word (sb-sys:sap-int end)) ; of dynamic extent
                          (object-word-p word))))))

(defun more-arguments-there-p (frame)
  "False if FRAME has variables that say where more arguments are, and they cannot be right."
  (let* ((more (find-if (lambda (element) (and (consp element) (eq :more (first element))))
                        (ignore-errors
                         (sbcl:debug-fun-lambda-list (sbcl:frame-debug-fun frame)))))
         (location (sbcl:frame-code-location frame)))
    (or (null more)
        (notevery (lambda (variable) (eq :valid (sbcl:debug-var-validity variable location)))
                  (rest more))          ; SBCL does not read them
        (destructuring-bind (from count)
            (mapcar (lambda (variable) (sbcl:debug-var-value variable frame)) (rest more))
          (and (typep from 'fixnum) (typep count '(and fixnum unsigned-byte))
               (stack-objects-p (sbcl:get-lisp-obj-address from) count))))))

(defun frame-arguments (frame)
  "The arguments of FRAME, or an atom if they are not known."
  (if (more-arguments-there-p frame)
      (nth-value 1 (sbcl:frame-call frame :replace-dynamic-extent-objects t))
      :unknown))
