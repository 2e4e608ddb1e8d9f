;;;; failure.lisp -- what went wrong, as a property list for the wire

(cl:in-package #:swank-mcp)

(defun failure (type message &optional frames (total 0))
  (list* :kind :error :type type :message message (frames-for-wire frames total)))

(defun instead-of (name near)
  "What goes into a report when the first of the names NEAR may have been meant."
  (and near (list :instead (list name (first near)))))

(defun frames-for-wire (frames total)
  "The part of a report that is about FRAMES.  All of them are :KEPT, which stays
here; see last-error.lisp."
  (let ((shown (subseq frames 0 (min *max-frames* (length frames)))))
    (list :frames shown :more (max 0 (- total (length shown))) :kept frames)))
