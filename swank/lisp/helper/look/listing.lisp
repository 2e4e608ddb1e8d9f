;;;; listing.lisp -- LIST-DEFINITIONS, LIST-PACKAGES

(cl:in-package #:swank-mcp)

(defparameter *sections*
  '((:function . :functions) (:variable . :variables) (:macro . :macros) (:class . :classes)
    (:generic-function . :generic-functions) (:structure . :structures)
    (:condition . :conditions) (:type . :types) (:constant . :constants)
    (:symbol-macro . :symbol-macros) (:setf-expander . :setf-functions)
    (:compiler-macro . :compiler-macros) (:method-combination . :method-combinations)
    (:hash-table-test . :hash-table-tests) (:alien-type . :alien-types)
    (:alien-variable . :alien-variables))
  "Kind to section; methods stand under their generic function.")

(defparameter *printing-seconds* 2
  "How long all values of a list may take to print.")

(defvar *print-until* nil
  "The time, see MICROSECONDS, when the list stops calling methods to print values.")

(defun value-line (value)
  "The beginning of VALUE, printed by its own PRINT-OBJECT method if that ends soon.  Once the
list has taken too long, no method is called any more."
  (if (and *print-until* (> (microseconds) *print-until*))
      (one-line (show-form value *package*))
      (call-with-time-limit 1/2
                            (lambda () (one-line (bounded-text value 100)))
                            (lambda (lock) (declare (ignore lock)) "#<printing it takes too long>"))))

(defun slot-names-text (class)
  #+sbcl (safely (let ((*package* (or (symbol-package (class-name class)) *package*)))
                   (format nil "(~{~S~^ ~})"
                           (mapcar #'sb-mop:slot-definition-name (sb-mop:class-direct-slots class)))))
  #-sbcl (progn class ""))

(defun definition-line (kind name)
  (let ((text (name-text name)))
    (flet ((with (more) (format nil "~A ~A" text more)))
      (case kind
        ((:function :macro :generic-function) (with (lambda-list-text name)))
        (:compiler-macro (with (lambda-list-text name kind)))
        ((:variable :constant) (format nil "~A = ~A" text (value-line (symbol-value name))))
        (:symbol-macro (format nil "~A = ~A" text (value-line (macroexpand-1 name))))
        (:structure (if (find-class name nil) (with (slot-names-text (find-class name))) text))
        (t text)))))

(defun definition-line-and-loss (session kind name)
  (let ((why (why-lost session (cons kind name))))
    (format nil "~A~@[ ; no source: ~A~]" (definition-line kind name)
            (and why (string/= why *assigned-why*) why))))

(defun method-line (designator)
  (destructuring-bind (name qualifiers specializers) designator
    (declare (ignore name))
    (safely (format nil "  ~{~S ~}~:S" qualifiers specializers))))

(defun section-of (kind name)
  (if (and (eq kind :function) (consp name))
      :setf-functions
      (cdr (assoc kind *sections*))))

(defun generic-lines (definitions)
  "A line for each generic function that was defined or got methods, and one for each of these
methods."
  (let ((names (sort (remove-duplicates
                      (loop for (kind . name) in definitions
                            when (eq kind :generic-function) collect name
                            when (eq kind :method) collect (first name))
                      :test #'equal)
                     #'string< :key #'name-text)))
    (loop for name in names
          collect (definition-line :generic-function name)
          append (sort (loop for (kind . designator) in definitions
                             when (and (eq kind :method) (equal (first designator) name))
                               collect (method-line designator))
                       #'string<))))

(defun system-spelling (name)
  "NAME, of a system, as it is listed: as the symbol that means it, or as a string if none does."
  (if (string= name (string-downcase name)) (string-upcase name) (format nil "\"~A\"" name)))

(defun definitions-by-section (session &optional package)
  "Alist of section to its lines, sorted, without empty sections; with PACKAGE, only of its names."
  (let ((definitions (remove-if-not (lambda (key)
                                      (or (null package)
                                          (eq package (symbol-package (key-symbol key)))))
                                    (own-definitions session)))
        (lines (make-hash-table)))
    (loop for (kind . name) in definitions
          unless (member kind '(:method :generic-function))
            do (push (definition-line-and-loss session kind name)
                     (gethash (section-of kind name) lines)))
    (let ((generic (generic-lines definitions))
          (packages (if package '() (mapcar #'package-name (own-packages session))))
          (systems (if package '() (mapcar #'system-spelling (session-systems session)))))
      (append (loop for section being the hash-keys of lines using (hash-value found)
                    collect (cons section (sort found #'string<)))
              (and generic (list (cons :generic-functions generic)))
              (and packages (list (cons :packages packages)))
              (and systems (list (cons :loaded-systems (sort systems #'string<))))))))

(defun list-definitions (&optional (session "default") package)
  "((SECTION LINE ...) ...): what SESSION has defined and is still so, in all
packages or the one called PACKAGE.  ((\"unknown-package\" TEXT)) if there is none."
  (let ((found (and package (package-seen-from (ensure-session session) package)))
        (*print-until* (+ (microseconds) (* 1000000 *printing-seconds*))))
    (call-with-listing-syntax
     (lambda ()
       (answer (if (and package (null found))
                   (list (list "unknown-package" (unknown-package-text package)))
                   (loop for (section . lines) in (definitions-by-section (ensure-session session) found)
                         collect (cons (string-downcase section) lines))))))))

(defun list-packages (&optional (session "default"))
  "((NAME NICKNAMES EXTERNAL-COUNT CURRENTP OWNP IMPLEMENTATIONP) ...), by name: whether
it is the session's package, one that the session made, one of the Lisp system's."
  (let* ((session (ensure-session session))
         (current (live-package session)))
    (answer
     (sort (loop for package in (list-all-packages)
                 collect (list (package-name package)
                               (package-nicknames package)
                               (let ((count 0))
                                 (do-external-symbols (symbol package count)
                                   (declare (ignore symbol))
                                   (incf count)))
                               (eq package current)
                               (and (member package (session-packages session)) t)
                               (and (internal-package-p package) t)))
           #'string< :key #'first))))
