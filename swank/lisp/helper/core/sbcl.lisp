;;;; sbcl.lisp -- the door to SBCL: its internal names
;;;;
;;;; A name stands here if it is internal to its package, or if the package is internal to SBCL
;;;; (SB-KERNEL, SB-IMPL, SB-INT, SB-C, SB-DI, SB-DEBUG, SB-PCL, SB-VM, SB-UNIX): another SBCL may
;;;; not have it.  What SBCL's manual documents (SB-EXT, SB-THREAD, SB-SYS, SB-MOP, SB-INTROSPECT
;;;; ...) is named where it is used.
;;;;
;;;; All other files name them through the package SWANK-MCP/SBCL, as SBCL:FRAME-CALL; a test
;;;; holds that.  Each name there is SBCL's own symbol, which costs nothing.  If this SBCL does not
;;;; have the name, it is a stand-in made here: a function or macro that returns the value beside
;;;; its name, NIL by default, or that is the function beside its name; a variable with that
;;;; value; or an empty type.  So a missing name disables what needs it, not the helper, and
;;;; MISSING-NOTE reports it.  The callers of a stand-in must accept its value: a test takes each
;;;; name away and evaluates.
;;;;
;;;; Other Lisps have no such names: they read neither this file's list nor the files that
;;;; swank-mcp.asd marks with :IF-FEATURE :SBCL.

(cl:in-package #:swank-mcp)

(eval-when (:compile-toplevel :load-toplevel :execute)
  (defvar *missing-internals* '()
    "Names, such as \"SB-DEBUG::FRAME-CALL\", that this SBCL does not have."))

#+sbcl
(eval-when (:compile-toplevel :load-toplevel :execute)

  (defun find-internal (kind name package)
    "The symbol NAME of PACKAGE if it is of that KIND, else NIL.  For variables, types and mere
names SBCL cannot always tell."
    (let ((symbol (and (find-package package) (find-symbol name package))))
      (and symbol
           (ecase kind
             (:function (and (fboundp symbol) (not (macro-function symbol))))
             (:macro (macro-function symbol))
             ((:variable :type :name) t))
           symbol)))

  (defun make-stand-in (kind symbol value)
    (ecase kind
      (:function (setf (fdefinition symbol)
                       (if (functionp value) value (constantly value))))
      (:macro (setf (macro-function symbol)
                    (if (functionp value) value (constantly value))))
      (:variable (proclaim `(special ,symbol))
       (setf (symbol-value symbol) value))
      (:type (eval `(deftype ,symbol () nil)))
      (:name nil)))                     ; of a catch tag, a restart, a kind of frame

  (defun open-internal (kind name package value)
    "Make NAME of PACKAGE, or a stand-in with that VALUE, external in SWANK-MCP/SBCL."
    (let* ((door (find-package '#:swank-mcp/sbcl))
           (known (find-symbol name door))
           (found (and (not (and known (eq (symbol-package known) door))) ; a stand-in as another kind
                       (find-internal kind name package))))
      (when found
        (import found door))
      (let ((symbol (intern name door)))
        (export symbol door)
        (unless found
          (make-stand-in kind symbol value)
          (pushnew (format nil "~A::~A" package name) *missing-internals* :test #'string=))))))

(defmacro define-internals (package &rest clauses)
  "Each of CLAUSES is (KIND NAME ...), where a NAME may be (NAME STAND-IN)."
  #-sbcl (progn package clauses nil)
  #+sbcl
  `(eval-when (:compile-toplevel :load-toplevel :execute)
     ,@(loop for (kind . names) in clauses
             append (loop for name in names
                          for (symbol stand-in) = (if (consp name) name (list name))
                          collect `(open-internal ,kind ,(string symbol) ,(string package)
                                                  ,stand-in)))))

;;; Frames, and what the compiler has noted of the code in them

(define-internals #:sb-di
  (:function #:code-location-debug-source #:code-location-form-number
             #:code-location-toplevel-form-offset
             (#:compiled-code-location-step-info "") #:debug-fun-closure-name
             #:debug-fun-debug-vars #:debug-fun-fun #:debug-fun-name
             #:debug-source-created #:debug-source-namestring
             #:debug-var-symbol #:debug-var-validity #:debug-var-value
             #:find-stepped-frame (#:form-number-translations (vector '()))
             #:frame-catches #:frame-code-location #:frame-debug-fun #:fun-debug-fun
             #:preprocess-for-eval)
  (:macro #:do-debug-block-locations #:do-debug-fun-blocks)
  (:type #:debug-condition #:debug-fun)
  (:name #:%down))                      ; slot of a frame

(define-internals #:sb-di
  (:function #:debug-fun-lambda-list #:frame-down))

(define-internals #:sb-debug
  (:function #:%list-traced-funs #:code-location-source-form #:debugger-disabled-hook
             #:frame-args-as-list #:frame-call #:frame-has-debug-tag-p #:map-backtrace
             #:resolve-stack-top-hint
             (#:unwind-to-frame-and-call
              (lambda (frame function)
                (declare (ignore frame function))
                (error "This SBCL does not leave frames by SB-DEBUG:UNWIND-TO-FRAME-AND-CALL."))))
  (:variable #:*stack-top-hint*)
  (:type #:unprintable-object))

(define-internals #:sb-c
  (:function #:core-debug-source-form #:debug-info-source #:debug-source-plist)
  (:type #:core-debug-source)
  (:name #:top-level-form))

(define-internals #:sb-kernel
  (:function #:%closure-values #:%code-debug-info #:%fun-fun #:%fun-lambda-list #:%fun-name
             #:%simple-fun-type #:%simple-fun-xrefs #:closurep #:code-header-ref
             (#:code-header-words 0) #:fdefn-name #:fun-code-header
             #:value-cell-ref #:widetag-of)
  (:type #:fdefn))

;;; The compiler at work: where it is, and what it says

(define-internals #:sb-c
  (:function #:compiler-error-context-file-name #:compiler-error-context-original-form
             #:compiler-error-context-original-source-path #:find-error-context
             #:file-info-forms #:file-info-pathname
             #:lexenv-funs #:lexenv-vars #:map-packed-xref-data
             #:source-info-file-info #:source-info-parent #:source-info-stream
             #:undefined-warning-count #:undefined-warning-kind #:undefined-warning-name)
  (:variable #:*failure-p* #:*policy* #:*policy-max* #:*policy-min* #:*source-info* #:*source-paths*
             #:*warnings-p* (#:*undefined-warnings* :unknown))
  (:type #:compiler-error #:global-var))

(define-internals #:sb-int
  (:function #:call-with-each-globaldb-name #:encapsulated-condition
             #:form-tracking-stream-form-start-char-pos)
  (:macro (#:named-lambda (lambda (form environment)
                            (declare (ignore environment))
                            `(lambda ,@(cddr form)))))
  (:type #:encapsulated-condition))

(define-internals #:sb-kernel
  (:type #:lexenv #:redefinition-warning))

;;; Definitions: what there is of a name, and where it was defined

(define-internals #:sb-c
  (:function #:definition-source-location-namestring #:definition-source-location-p
             #:definition-source-location-plist)
  (:variable #:*source-plist*))

(define-internals #:sb-int
  (:function #:clear-info #:encapsulate #:encapsulated-p #:info #:legal-fun-name-p
             #:unencapsulate))

(define-internals #:sb-impl
  (:function #:package-source-location)
  (:variable #:*package-names-cookie* #:*user-hash-table-tests*))

(define-internals #:sb-disassem
  (:function #:disassemble-code-component)
  (:variable #:*disassem-location-column-width*))

(define-internals #:sb-introspect
  (:function #:definition-source-description #:translate-source-location))

(define-internals #:sb-kernel
  (:function #:classoid-name #:classoid-of #:classoid-source-location #:dd-name #:find-classoid
             #:find-defstruct-description #:type-specifier))

(define-internals #:sb-pcl
  (:function #:%method-function-fast-function #:definition-source
             #:method-combination-info-source-location #:safe-method-fast-function)
  (:variable (#:**method-combinations** (make-hash-table)))
  (:type #:%method-function #:class-not-found-error #:condition-class #:initarg-error
         #:slot-object #:structure-direct-slot-definition)
  (:name #:fast-method #:initargs #:slow-method))

;;; Errors, restarts and stepping

(define-internals #:sb-impl
  (:function #:enable-stepping)
  (:variable #:*step-out*))

(define-internals #:sb-int
  (:variable #:*print-condition-references*))

(define-internals #:sb-kernel
  (:function #:restart-interactive-function)
  (:variable #:*handler-clusters* #:**initial-handler-clusters** (#:*current-error-depth* 0))
  (:name #:recklessly-continue))

;;; Threads, interrupts, stacks and the end of the image

(define-internals #:sb-di
  (:function (#:code-header-from-pc t) #:nth-interrupt-context))

(define-internals #:sb-impl
  (:function #:finalizer-thread-start #:finalizer-thread-stop)
  (:variable (#:*finalizer-thread* t) #:*in-a-finalizer*
             (#:*exit-lock* #+sbcl (sb-thread:make-mutex :name "nobody's")))
  (:name #:%end-of-the-world))

(define-internals #:sb-kernel
  (:function #:binding-stack-exhausted-error #:binding-stack-pointer-sap #:current-sp
             (#:get-lisp-obj-address 0) #:make-lisp-obj)
  (:variable (#:*free-interrupt-context-index* 0) #:*gc-inhibit* #:*interrupt-pending*))

(define-internals #:sb-thread
  (:function #:thread-waiting-for)
  (:name #:%abort-thread))

(define-internals #:sb-impl
  (:name #:thread))                     ; the slot of a timer

(define-internals #:sb-int
  (:function #:get-floating-point-modes #:set-floating-point-modes))

(define-internals #:sb-vm
  (:function #:context-pc #:current-thread-offset-sap)
  (:variable (#:n-word-bytes 8)
             #:thread-binding-stack-start-slot #:thread-control-stack-end-slot
             #:thread-control-stack-start-slot))

;;; The heap

(define-internals #:sb-kernel
  (:function (#:dynamic-usage 0) (#:generation-of 0)
             (#:heap-exhausted-error (lambda (available requested)
                                       (declare (ignore available requested))
                                       (error 'storage-condition)))
             #:sub-gc)
  (:type #:code-component #:funcallable-instance #:instance))

(define-internals #:sb-vm
  (:function #:map-allocated-objects)
  (:name #:page-table #:words-used* #:gen) ; the collector's pages, an alien variable, and slots
  (:variable (#:+pseudo-static-generation+ 6) (#:code-constants-offset 0)
             (#:value-cell-widetag :none)))

;;; The system under SBCL

(define-internals #:sb-impl
  (:function #:module-provide-contrib)
  (:variable #:*active-processes*)
  (:name #:%status #:%exit-code))       ; slots of a process

(define-internals #:sb-int
  (:function #:sbcl-homedir-pathname))

(define-internals #:sb-bsd-sockets
  (:name #:file-descriptor))

(define-internals #:sb-unix
  (:function #:clock-gettime #:unix-close #:unix-isatty #:unix-open #:unix-readlink #:unix-stat
             #:unblock-deferrable-signals #:unix-write)
  (:variable (#:o_rdwr 2)))

;;; For reports

(defun missing-note ()
  "A sentence about the names that this SBCL does not have, or NIL."
  (and *missing-internals*
       (format nil "~A ~A has no ~{~A~^, ~}: what of swank-mcp needs that does less or nothing."
               (lisp-implementation-type) (lisp-implementation-version)
               (sort (copy-list *missing-internals*) #'string<))))
