;;;; disassemble.lisp -- DISASSEMBLE-FUNCTION

(cl:in-package #:swank-mcp)

(defparameter *max-methods-disassembled* 20)

(defun disassembly-lines (function)
  "The machine code of FUNCTION as a list of lines, with a note in place of what is left out."
  (let ((sink (make-sink)))
    (disassemble function :stream sink)
    (lines-of (sink-string sink))))

(defun lines-of (text)
  (loop for start = 0 then (1+ newline)
        for newline = (position #\newline text :start start)
        for line = (string-right-trim " " (subseq text start newline))
        when (string/= line "") collect line
        while newline))

(defun disassembly-sections (name)
  (cond ((and (symbolp name) (special-operator-p name))
         (fail-lookup "NOT-A-FUNCTION" '() "~A is a special operator; only functions have machine code."
                      (spelling name)))
        ((and (symbolp name) (macro-function name))
         (list (cons "Macro Function" (disassembly-lines (macro-function name)))))
        ((not (fboundp name))
         (fail-lookup "UNDEFINED-FUNCTION" (functions-named-like name)
                      "~A names no function.~@[~%Functions of that name: ~{~A~^, ~}.~]"
                      (function-spelling name) (functions-named-like name)))
        #+sbcl
        ((typep (fdefinition name) 'generic-function)
         (loop for method in (first-few (sb-mop:generic-function-methods (fdefinition name))
                                        *max-methods-disassembled*)
               for text in (method-texts (fdefinition name))
               collect (cons (format nil "Method ~A" (subseq text 2))
                             (disassembly-lines (method-function-of method)))))
        (t (list (cons "Function" (disassembly-lines (fdefinition name)))))))

(defun functions-named-like (name)
  (when (symbolp name)
    (loop for symbol in (symbols-elsewhere (symbol-name name))
          when (and (fboundp symbol) (not (eq symbol name))) collect (qualified-spelling symbol))))

(defun disassemble-function (name &key (session "default") package)
  "Answer (:TITLE :SECTIONS ((TITLE LINE ...) ...) :NOTES) with the machine code of the function
called NAME."
  (with-look-up (session)
    (let* ((name (find-function-name name session package))
           (function (and (fboundp name) (fdefinition name)))
           (sections (disassembly-sections name))
           (count #+sbcl (if (typep function 'generic-function)
                             (length (sb-mop:generic-function-methods function))
                             0)
                  #-sbcl (progn function 0)))
      (list :title (function-spelling name)
            :sections sections
            :notes (when (> count *max-methods-disassembled*)
                     (list (format nil "~D more methods are not shown."
                                   (- count *max-methods-disassembled*))))))))
