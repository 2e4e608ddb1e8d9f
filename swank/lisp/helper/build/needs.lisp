;;;; needs.lisp -- what systems need that is not their project's, and what a fresh image has missed

(cl:in-package #:swank-mcp)

(defun full-spelling (name)
  "NAME, a symbol or (SETF SYMBOL), with its package, whatever the current package."
  (if (consp name)
      (format nil "(SETF ~A)" (full-spelling (second name)))
      (if (eq (symbol-package name) (find-package '#:common-lisp))
          (symbol-name name)
          (with-standard-io-syntax
            (let ((*package* (find-package '#:keyword))) (prin1-to-string name))))))

(defun files-of-system (name)
  "The native names of the definition of the system NAME and of all its components' files."
  (let ((files '()))
    (call-with-files name (lambda (component file)
                            (declare (ignore component))
                            (when (ignore-errors (probe-file file)) (push (native-name file) files))))
    (remove "" (cons (definition-name name) (nreverse files)) :test #'string=)))

(defun missing-for-wire ()
  "((KIND LABEL PACKAGE SYMBOL SETFP) ...) of what was missing and still is."
  (loop for (kind name) in (reverse *missing*)
        for symbol = (if (consp name) (second name) name)
        when (and symbol (symbolp symbol) (symbol-package symbol)
                  (not (ignore-errors (if (eq kind :function) (fboundp name) (boundp name)))))
          collect (list (string-downcase kind) (full-spelling name)
                        (package-name (symbol-package symbol)) (symbol-name symbol) (consp name))))

(defun defined-names (names)
  "Which of NAMES, as MISSING-FOR-WIRE has them, are defined here: a list of their labels."
  (answer (loop for (kind label package symbol setfp) in names
                for home = (find-package package)
                for found = (and home (find-symbol symbol home))
                when (and found
                          (if (string= kind "function")
                              (fboundp (if setfp (list 'setf found) found))
                              (boundp found)))
                  collect label)))

(defun system-named (name)
  "The name of the system that NAME, or the path of its definition, means."
  (let ((path (definition-path name)))
    (if path
        (or (name-meant-by path (names-defined-in path)) (pathname-name path))
        (meant-name name))))

(defun system-needs (names tests &rest own)
  "Answer with what the systems NAMES, a list of lists of one name, and if TESTS is true their tests, need
that has none of the primary names OWN or theirs, dependencies first; and if the image is fresh, with what
was missing and how many of the project's fasls were taken from those that are kept."
  (let* ((names (loop for (name) in names collect (system-named name)))
         (*own-systems* (append (mapcar #'primary-name names) own)))
    (answer (list :taken #+sbcl *taken* #-sbcl 0 :compiled #+sbcl *compiled-anew* #-sbcl 0
                  :doubt #+sbcl (in-doubt-p) #-sbcl nil
                  :needs (unless *preloaded* ; what the core was saved with
                           (loop for needed in (systems-of (append names (and tests (mapcan #'test-systems names))))
                                 unless (own-system-p needed)
                                   collect (list needed (definition-name needed) (files-of-system needed))))
                  :missing (missing-for-wire)))))
