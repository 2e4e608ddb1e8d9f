;;;; flushed.lisp -- what code has flushed outlives the image

(cl:in-package #:swank-mcp)

;;; The answer to an evaluation has its output.  An image that dies gives no answer.  So what is
;;; flushed goes to descriptor 1 of a launched image as well, as records that the bridge takes out
;;; of what it reads there; it looks at them if the image dies.

(defparameter *most-flushed* 30000
  "Characters from the beginning of a stream that are told when they are flushed.")

(defparameter *record-characters* 900
  "Of UTF-8 in one record: a pipe takes 4,096 bytes as a whole.")

#+sbcl
(defun standard-output-pipe-p ()
  "False if code has put something else in the place of descriptor 1."
  (let ((mode (ignore-errors (sb-posix:stat-mode (sb-posix:fstat 1)))))
    (and mode (sb-posix:s-isfifo mode))))

#+sbcl
(defun write-record (owner text)
  (let ((octets (sb-ext:string-to-octets
                 (format nil "~C~A ~A~C~A~C" (code-char 30) "swank-mcp-flushed" owner (code-char 31)
                         (substitute-if #\? (lambda (char) (<= 30 (char-code char) 31)) text)
                         (code-char 30))
                 :external-format '(:utf-8 :replacement #\?))))
    (sb-sys:with-pinned-objects (octets)
      (sb-posix:write 1 (sb-sys:vector-sap octets) (length octets)))))

(defun tell-flushed (sink)
  "Tell the bridge what was written to SINK, which has an owner, since it was last flushed."
  #+sbcl
  (when (sink-owner sink)
    (with-sink-lock (sink)
      (let ((from (sink-flushed sink))
            (end (min (sink-count sink) (sink-keep sink) *most-flushed*)))
        (when (and (sink-openp sink) (< from end) (standard-output-pipe-p))
          (setf (sink-flushed sink) end)
          (ignore-errors
           (loop while (< from end)
                 do (let ((to (min end (+ from *record-characters*))))
                      (write-record (sink-owner sink) (subseq (sink-head sink) from to))
                      (setf from to))))))))
  #-sbcl (progn sink nil))

(defmethod swank/gray:stream-force-output ((sink sink)) (tell-flushed sink) nil)
(defmethod swank/gray:stream-finish-output ((sink sink)) (tell-flushed sink) nil)
