;;;; views.lisp -- the facts and parts of objects of each kind

(cl:in-package #:swank-mcp)

(defstruct (part (:constructor make-part (label value &key (boundp t) (why "unbound") key setter))
                 (:copier nil))
  label value boundp
  why                       ; why there is no value, in words
  (key nil)                 ; NIL or (KEY) of an entry of a hash table
  setter)                   ; function of a new value, or NIL

(defstruct (view (:copier nil))
  (facts '())               ; ((NAME . TEXT) ...)
  (count 0)                 ; of parts
  (range (constantly '()))  ; function of two positions: the parts between them
  text                      ; of a string
  (notes '()))

(defun view-of-parts (parts &key facts notes)
  (make-view :facts facts :notes notes :count (length parts)
             :range (lambda (start end) (subseq parts start end))))

(defun list-shape (list)
  "(VALUES LENGTH END): the number of conses, and the CDR of the last; :CIRCULAR if there is none."
  (let ((slow list) (fast list) (count 0))
    (loop (unless (consp fast) (return (values count fast)))
          (unless (consp (cdr fast)) (return (values (1+ count) (cdr fast))))
          (setf fast (cddr fast) slow (cdr slow))
          (incf count 2)
          (when (eq slow fast)          ; SLOW is as far into the circle as LIST is before it
            (return (values (+ (loop for from-start = list then (cdr from-start)
                                     until (eq from-start slow)
                                     count t
                                     do (setf slow (cdr slow)))
                               (loop for rest = (cdr slow) then (cdr rest)
                                     count t
                                     until (eq rest slow)))
                            :circular))))))

(defgeneric object-view (object)
  (:documentation "The view of OBJECT: facts and parts.")
  (:method (object)
    (let ((slots (ignore-errors (instance-slots object))))
      (view-of-parts slots))))

#+sbcl
(defun instance-slots (object)
  (loop for slot in (sb-mop:class-slots (class-of object))
        collect (slot-part object (sb-mop:slot-definition-name slot))))

(defun slot-part (object name)
  "The slot NAME of OBJECT as a part.  Methods of its metaclass may be called, and may fail."
  (flet ((part (value &rest more)
           (apply #'make-part (symbol-name name) value
                  :setter (lambda (value) (setf (slot-value object name) value))
                  more)))
    (handler-case (if (slot-boundp object name)
                      (part (slot-value object name))
                      (part nil :boundp nil))
      (serious-condition (condition)
        (part nil :boundp nil
                  :why (format nil "reading it failed: ~A: ~A" (type-label condition)
                               (clip (first-line (condition-text condition)) 100)))))))

(defmethod object-view ((list cons))
  (multiple-value-bind (count end) (list-shape list)
    (let ((tailed (and end (not (eq end :circular)))))
      (make-view
       :facts (list (cons "Length" (format nil "~:D~@[ ~A~]" count
                                           (cond ((eq end :circular) "and circular")
                                                 (tailed "and a tail that is no list")))))
       :count (if tailed (1+ count) count)
       :range (lambda (from to)
                (append (loop for i from from below (min to count)
                              for rest on (nthcdr from list)
                              collect (let ((rest rest))
                                        (make-part nil (car rest)
                                                   :setter (lambda (value) (setf (car rest) value)))))
                        (when (and tailed (> to count))
                          (list (make-part "tail" end
                                           :setter (lambda (value) (setf (cdr (last list)) value)))))))))))

(defmethod object-view ((array array))
  (make-view
   :facts (append (list (cons "Dimensions" (format nil "~{~D~^ by ~}" (array-dimensions array)))
                        (cons "Element type" (brief (array-element-type array))))
                  (when (array-has-fill-pointer-p array)
                    (list (cons "Fill pointer" (format nil "~D" (fill-pointer array)))))
                  (when (adjustable-array-p array) (list (cons "Adjustable" "yes")))
                  (when (array-displacement array)
                    (list (cons "Displaced to" (brief (array-displacement array))))))
   :count (array-total-size array)
   :range (lambda (from to)
            (loop for i from from below to
                  collect (let ((i i))
                            (make-part (and (/= 1 (array-rank array)) (subscripts-text array i))
                                       (row-major-aref array i)
                                       :setter (lambda (value) (setf (row-major-aref array i) value))))))))

(defun subscripts-text (array index)
  (let ((subscripts '()))
    (dolist (dimension (reverse (array-dimensions array)) (format nil "[~{~D~^,~}]" subscripts))
      (multiple-value-bind (rest subscript) (floor index dimension)
        (push subscript subscripts)
        (setf index rest)))))

(defmethod object-view ((string string))
  (make-view :facts (list (cons "Length" (format nil "~:D" (length string)))
                          (cons "Type" (brief (type-of string))))
             :text (subseq string 0 (min 4000 (length string)))
             :notes (when (> (length string) 4000) '("The first 4,000 characters are shown."))))

(defmethod object-view ((table hash-table))
  (make-view
   :facts (append (list (cons "Test" (brief (hash-table-test table)))
                        (cons "Count" (format nil "~:D" (hash-table-count table))))
                  #+sbcl
                  (when (sb-ext:hash-table-weakness table)
                    (list (cons "Weakness" (brief (sb-ext:hash-table-weakness table)))))
                  #+sbcl
                  (when (sb-ext:hash-table-synchronized-p table) (list (cons "Synchronized" "yes"))))
   :count (hash-table-count table)
   :range (lambda (from to)
            (let ((i -1) (found '()))
              (block walk
                (maphash (lambda (key value)
                           (when (>= (incf i) to) (return-from walk))
                           (when (>= i from)
                             (push (make-part (brief key) value :key (list key)
                                              :setter (lambda (value) (setf (gethash key table) value)))
                                   found)))
                         table))
              (nreverse found)))))

(defmethod object-view ((symbol symbol))
  (view-of-parts
   (append (when (boundp symbol)
             (list (make-part "value" (symbol-value symbol)
                              :setter (unless (constantp symbol)
                                        (lambda (value) (setf (symbol-value symbol) value))))))
           (cond ((macro-function symbol) (list (make-part "macro" (macro-function symbol))))
                 ((special-operator-p symbol) '())
                 ((fboundp symbol) (list (make-part "function" (fdefinition symbol)))))
           (when (fboundp `(setf ,symbol))
             (list (make-part "setf" (fdefinition `(setf ,symbol)))))
           (when (find-class symbol nil) (list (make-part "class" (find-class symbol))))
           (when (symbol-package symbol) (list (make-part "package" (symbol-package symbol))))
           (when (symbol-plist symbol) (list (make-part "plist" (symbol-plist symbol)))))
   :facts (list (cons "Name" (brief (symbol-name symbol))))))

(defmethod object-view ((function function))
  #+sbcl
  (view-of-parts
   (append (when (typep function 'sb-mop:funcallable-standard-object)
             (ignore-errors (instance-slots function)))
           (when (sbcl:closurep function)
             (mapcar (lambda (value) (make-part "closed over" (closed-over-value value)))
                     (sbcl:%closure-values function))))
   :facts (list (cons "Name" (brief (sbcl:%fun-name function)))
                (cons "Lambda list" (multiple-value-bind (list knownp) (kept-lambda-list function)
                                      (if knownp (brief list) "not known")))
                (cons "Type" (brief (sbcl:%simple-fun-type (sbcl:%fun-fun function))))))
  #-sbcl (make-view))

#+sbcl
(defun closed-over-value (value)
  "The value of a closed-over variable.  One that is assigned is in a value cell."
  (if (sb-sys:with-pinned-objects (value) (eql (sbcl:widetag-of value) sbcl:value-cell-widetag))
      (sbcl:value-cell-ref value)
      value))

(defmethod object-view ((generic generic-function))
  #+sbcl
  (view-of-parts
   (list (make-part "methods" (sb-mop:generic-function-methods generic))
         (make-part "method combination" (sb-mop:generic-function-method-combination generic))
         (make-part "method class" (sb-mop:generic-function-method-class generic)))
   :facts (list (cons "Name" (brief (sb-mop:generic-function-name generic)))
                (cons "Lambda list" (brief (sb-mop:generic-function-lambda-list generic)))))
  #-sbcl (make-view))

(defmethod object-view ((class class))
  #+sbcl
  (view-of-parts
   (append (list (make-part "direct superclasses" (sb-mop:class-direct-superclasses class))
                 (make-part "direct subclasses" (sb-mop:class-direct-subclasses class))
                 (make-part "direct slots" (sb-mop:class-direct-slots class))
                 (make-part "direct methods" (sb-mop:specializer-direct-methods class)))
           (when (sb-mop:class-finalized-p class)
             (list (make-part "precedence list" (sb-mop:class-precedence-list class))
                   (make-part "slots" (sb-mop:class-slots class)))))
   :facts (list (cons "Name" (brief (class-name class)))
                (cons "Metaclass" (brief (class-name (class-of class))))
                (cons "Finalized" (if (sb-mop:class-finalized-p class) "yes" "no"))))
  #-sbcl (make-view))

(defmethod object-view ((package package))
  (let ((externals 0) (present 0))
    (do-external-symbols (symbol package) (declare (ignore symbol)) (incf externals))
    (do-symbols (symbol package) (when (eq (symbol-package symbol) package) (incf present)))
    (view-of-parts
     (list (make-part "uses" (package-use-list package))
           (make-part "used by" (package-used-by-list package))
           (make-part "shadowing" (package-shadowing-symbols package)))
     :facts (list (cons "Name" (package-name package))
                  (cons "Nicknames" (format nil "~{~A~^, ~}" (package-nicknames package)))
                  (cons "Symbols" (format nil "~:D of its own, ~:D external" present externals))))))

(defmethod object-view ((integer integer))
  (make-view :facts (append (list (cons "Bits" (format nil "~:D" (integer-length integer))))
                            (when (< (integer-length integer) 300)
                              (list (cons "Hexadecimal" (format nil "~X" integer))
                                    (cons "Binary" (format nil "~B" integer))))
                            (when (< -1 integer char-code-limit)
                              (list (cons "Character" (brief (code-char integer))))))))

(defmethod object-view ((ratio ratio))
  (view-of-parts (list (make-part "numerator" (numerator ratio))
                       (make-part "denominator" (denominator ratio)))
                 :facts (list (cons "Float" (brief (ignore-errors (float ratio 1d0)))))))

(defmethod object-view ((float float))
  (make-view :facts (ignore-errors
                     (multiple-value-bind (significand exponent sign) (integer-decode-float float)
                       (list (cons "Exactly" (format nil "~:[~;-~]~D * 2^~D" (minusp sign) significand exponent))
                             (cons "Rational" (brief (rational float))))))))

(defmethod object-view ((complex complex))
  (view-of-parts (list (make-part "realpart" (realpart complex))
                       (make-part "imagpart" (imagpart complex)))))

(defmethod object-view ((character character))
  (make-view :facts (list (cons "Code" (format nil "~D, #x~:*~X" (char-code character)))
                          (cons "Name" (or (char-name character) "none")))))

(defmethod object-view ((pathname pathname))
  (view-of-parts (list (make-part "host" (pathname-host pathname))
                       (make-part "device" (pathname-device pathname))
                       (make-part "directory" (pathname-directory pathname))
                       (make-part "name" (pathname-name pathname))
                       (make-part "type" (pathname-type pathname))
                       (make-part "version" (pathname-version pathname)))))
