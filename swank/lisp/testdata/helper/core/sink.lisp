;;;; sink.lisp -- output streams that never fill the memory

(cl:in-package #:swank-mcp)

(defun filled-sink (keep &rest strings)
  (let ((sink (make-sink keep)))
    (dolist (string strings sink) (write-string string sink))))

(define-test sink
  (check (sink-text (make-sink 10)) nil)
  (check (sink-text (filled-sink 10 "abc" "def")) '("abcdef"))
  (check (sink-text (filled-sink 4 "abcd")) '("abcd"))
  (check (sink-text (filled-sink 4 "abcdef")) '("abcdef"))
  (check (sink-text (filled-sink 4 "abc" "defgh" "ijklm")) '("abcd" "jklm" 5))
  (check (sink-text (filled-sink 4 (make-string 100 :initial-element #\x) "yz")) '("xxxx" "xxyz" 94))
  (check (multiple-value-list (sink-since (filled-sink 10 "abcdef") 2 100)) '("cdef" 6))
  (check (multiple-value-list (sink-since (filled-sink 10 "abcdef") 0 3)) '("def" 6))
  (check (multiple-value-list (sink-since (filled-sink 4 "abcdefghijkl") 6 100)) '("ijkl" 12))
  (check (multiple-value-list (sink-since (filled-sink 4 "abc") 3 100)) '("" 3))
  (check (sink-text (let ((sink (make-sink 100)))
                      (format sink "~&a~&~%b~10Tc~%")
                      (fresh-line sink)
                      sink))
         (list (format nil "a~%~%b         c~%")))
  (check (let ((sink (filled-sink 10 "in time")) (*late-output* (make-string-output-stream)))
           (close-sink sink)
           (write-string "too late" sink)
           (list (first (sink-text sink)) (get-output-stream-string *late-output*)))
         '("in time" "too late"))
  ;; against a plain model, every split of a text of 12 over a sink of 5
  (dotimes (mask 2048)
    (let* ((text "abcdefghijkl") (sink (make-sink 5)) (start 0))
      (loop for i from 1 to 12
            when (or (= i 12) (logbitp (1- i) mask))
              do (write-string text sink :start start :end i)
                 (setf start i))
      (check (list mask (sink-text sink)) (list mask '("abcde" "hijkl" 2))))))
