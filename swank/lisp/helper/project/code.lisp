;;;; code.lisp -- fingerprints of machine code, which images of one SBCL can compare

(cl:in-package #:swank-mcp)

;;; The same source, compiled in the same environment, gives the same instructions in each image,
;;; but for addresses and numbers that SBCL deals out as it goes: those of layouts and of places
;;; for the values of special variables in each thread, and the counter of GENSYM.

(defun instruction-begin (line)
  "Where the instruction in LINE begins, behind the octets that encode it."
  (let* ((at (or (position #\space line :start (min 1 (length line)) :test-not #'char=) (length line)))
         (end (or (position #\space line :start at) (length line))))
    (when (and (> end at) (char= (char line (1- end)) #\:)) ; a label; which line has it matters little
      (setf at (or (position #\space line :start end :test-not #'char=) (length line))
            end (or (position #\space line :start at) (length line))))
    (if (and (> end at) (evenp (- end at)) (= end (skip-digits line at 16)))
        end
        at)))

(defun skip-digits (line at radix)
  "The position of the first character of LINE from AT on that is no digit in RADIX."
  (or (position-if-not (lambda (char) (digit-char-p char radix)) line :start at) (length line)))

(defun volatile-end (line at)
  "The end of what stands in LINE at AT if other images have something else there, or NIL."
  (flet ((at-p (text) (eql (mismatch text line :start2 at) (length text))))
    (cond ((at-p "{") (let ((end (position #\} line :start at))) (and end (1+ end))))
          ((at-p "[RIP") (position #\] line :start at)) ; how far away; the comment names it
          ((at-p "#x")
           (let ((end (skip-digits line (+ at 2) 16))) (and (> (- end at) 7) end)))
          ((at-p "ID=") (skip-digits line (+ at 3) 10))
          ((at-p "@ ") (skip-digits line (+ at 2) 16)) ; where a table for jumps is
          ((at-p "], ") (and (search "DWORD PTR" line :end2 at)
                             (let ((end (skip-digits line (+ at 3) 10))) (and (> end (+ at 3)) end))))
          ((and (digit-char-p (char line at))
                (or (search "tls:" line :start2 at) (in-uninterned-name-p line at)))
           (skip-digits line at 10)))))

(defun in-uninterned-name-p (line at)
  "True if the digits in LINE at AT end the name of an uninterned symbol."
  (let ((begin (search "#:" line :end2 at :from-end t)))
    (and begin (not (find-if #'delimiter-or-blank-p line :start begin :end at)))))

(defun delimiter-or-blank-p (char) (or (blankp char) (delimiter-p char)))

(defun fold-line (code line)
  "CODE, a hash, with what each image has in LINE of a disassembly."
  (declare (type (unsigned-byte 64) code))
  (let ((at (instruction-begin line)))
    (loop while (< at (length line))
          do (let ((end (volatile-end line at)))
               (cond (end (setf at end))
                     (t (setf code (fold-number code (char-code (char line at))))
                        (incf at)))))
    code))

(defun code-fingerprint (function)
  "A hash of the machine code that FUNCTION, of a compiled file, is of, with what it refers to by name; NIL
if it is not known.  An image of the same SBCL has the same of what was compiled alike.  What is compiled in
memory is another code."
  #+sbcl
  (let* ((*print-pretty* nil) (*print-length* 100) (*print-level* 5) (*print-circle* nil)
         (*package* (find-package '#:keyword))
         (sbcl:*disassem-location-column-width* 0)
         (code (and (file-source function)
                    (ignore-errors (sbcl:fun-code-header (sbcl:%fun-fun function)))))
         (text (and code
                    (ignore-errors
                     (with-output-to-string (out)
                       (sbcl:disassemble-code-component code :stream out))))))
    (when (plusp (length text))
      (let ((hash +hash-begin+))
        (loop for start = 0 then (1+ end)
              for end = (position #\newline text :start start)
              for line = (subseq text start end)
              do (unless (search "Origin" line) ; where it is
                   (setf hash (fold-line hash line)))
              while end)
        hash)))
  #-sbcl (progn function nil))
