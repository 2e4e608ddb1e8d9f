;;;; heap-limit.lisp -- how full the heap may be, and whose code may have filled it

(cl:in-package #:swank-mcp)

;;; SBCL cannot recover from a heap that fills up during a collection: the collector needs room
;;; to copy into.  So code that fills the heap is ended before that.  heap-watch.lisp watches a
;;; launched image, guest-heap-watch.lisp a person's.  Both need this limit; heap-filled.lisp ends
;;; an evaluation or a thread at once.
;;;
;;; The room that a collection needs depends on the objects.  Copying doubles what is live.
;;; Objects a little larger than a page leave half of every second page empty, which doubles it
;;; again; only objects of four pages and more are not copied.  So a quarter of the heap is the
;;; limit in the worst case.  In a person's image, which must not be lost, the pages in use are
;;; counted in the collector's own table.

(defparameter *heap-limit* 23/100
  "The share of the dynamic space that may be live after a collection.")

(defun heap-full-p ()
  (> (heap-used) (* *heap-limit* (heap-size))))

(defmacro page-in-use-p (index generation)
  "True if the heap's page INDEX is in use, wholly or in part, by GENERATION or a younger one."
  (if (and (eq (sbcl:info :variable :kind 'sbcl:page-table) :alien)
           (eq (symbol-package 'sbcl:words-used*) (find-package '#:sb-vm))
           (eq (symbol-package 'sbcl:gen) (find-package '#:sb-vm)))
      `(let ((page (sb-alien:deref sbcl:page-table ,index)))
         (and (> (sb-alien:slot page 'sbcl:words-used*) 1) ; the lowest bit is a flag
              (<= (logand 7 (sb-alien:slot page 'sbcl:gen)) ,generation)))
      `(and ,generation (oddp ,index)))) ; unknown: as if half of the pages were in use

(defun share-in-use (&optional (generation 7))
  "The share of the heap's pages that are in use by GENERATION and younger ones."
  (let ((pages (sb-alien:extern-alien "page_table_pages" sb-alien:long)))
    (/ (loop for index below pages count (page-in-use-p index generation))
       pages)))

(defun share-limit ()
  "The share of pages up to which any collection has room to copy into, after as much is allocated as
SBCL allocates between two collections."
  (max 1/4 (- 1/2 (* 2 (/ (sb-ext:bytes-consed-between-gcs) (heap-size))))))

(defun heap-over-p (used base)
  "True if USED bytes are too many where BASE were in use before the code began.  A collection rarely
copies what was there before."
  (let ((size (heap-size)))
    (and (> used (+ base (* 2/25 (- size base))))
         (or (> used (max (* *heap-limit* size)
                          (+ base (* *heap-limit* (- (/ size 2) base)))))
             (> (share-in-use) (share-limit))))))

(defvar *busy-base* nil
  "In a person's image, bytes in use before the first of the evaluations and threads that are
watched; NIL while there are none.")

(defun collect-all (live)
  "Collect all garbage and return T if there is room to copy LIVE bytes, or all that may be copied; else
collect the generations for which there is room, which may make more, and return NIL."
  (flet ((roomp (generation) (< (share-in-use generation) (- 1 (share-in-use)))))
    (loop repeat 3
          do (when (or (< (* 2 (/ live (heap-size))) (- 1 (share-in-use)))
                       (roomp 5))       ; the next one is the core's own, which stays
               (sb-ext:gc :full t)
               (return t))
             (let ((generation (find-if #'roomp '(4 3 2 1 0))))
               (if generation
                   (sb-ext:gc :gen generation)
                   (return nil))))))

(defun note-heap-base (evaluation)
  "Remember the heap's use before EVALUATION, which is about to begin.  Garbage of an evaluation that
has just ended is no part of it, if there is room to collect that."
  (let ((base *busy-base*))
    (when (and base (heap-over-p (heap-used) base) (collect-all base))
      (setf *busy-base* (heap-used)))
    (setf (evaluation-heap-base evaluation) (heap-used))))

(defun busy-evaluations ()
  "The evaluations that may fill the heap.  Suspended ones do so only if there are no others."
  (let ((evaluations (with-lock () (copy-list *evaluations*))))
    (or (remove-if #'suspendedp evaluations) evaluations)))

(defun least-base (evaluations threads)
  (reduce #'min (append (mapcar #'evaluation-heap-base evaluations)
                        (mapcar #'session-thread-base threads))
          :initial-value (heap-size)))

(defun filling-threads (threads left)
  "Those of THREADS that may be the reason that a collection has LEFT so many bytes."
  (remove-if-not (lambda (known) (heap-over-p left (session-thread-base known))) threads))
