;;;; interrupts.lisp -- interrupting a thread where it may be interrupted

(cl:in-package #:swank-mcp)

;;; A thread is left two hundred times while it is in malloc most of the time, and never
;;; in malloc: what it leaves locked there stays so, and SBCL waits for it for ever when
;;; the thread ends or the next one begins.  So it is, too, on a machine so busy that there
;;; is no time for a second interrupt.

(define-test interrupts-in-malloc
  #+sbcl
  (flet ((outcome ()
           (let* ((lefts 0) (in-malloc 0) (endp nil)
                  (thread (sb-thread:make-thread
                           (lambda ()
                             (loop until endp
                                   do (catch 'left
                                        (loop (dotimes (i 20)
                                                (sb-alien:free-alien
                                                 (sb-alien:make-alien (sb-alien:unsigned 8) 5000)))
                                              (dotimes (i 300)
                                                (setf *random-state* (identity *random-state*)))))
                                      (incf lefts))))))
             (flet ((leave ()
                      (interrupt-safely thread (lambda ()
                                                 (when (foreign-address) (incf in-malloc))
                                                 (ignore-errors (throw 'left nil))))))
               (dotimes (i 200) (leave))
               (setf endp t)
               ;; An interrupt that comes late does nothing; the bridge asks twice, too.
               (loop repeat 2
                     while (sb-thread:thread-alive-p thread)
                     do (ignore-errors (leave)) ; an error if it has just ended
                        (come-true-p (lambda () (not (sb-thread:thread-alive-p thread))) thread)))
             (list (sb-thread:thread-alive-p thread) (< 150 lefts) in-malloc))))
    (check (outcome) '(nil t 0))
    (let ((*interrupt-patience* 0))
      (check (outcome) '(nil t 0)))))

;;; Foreign code that waits, and foreign code that never ends, is left, too.

(define-test interrupts-in-foreign-code
  #+sbcl
  (flet ((left-p (function &key asleepp)
           (let* ((begun (sb-thread:make-semaphore))
                  (thread (sb-thread:make-thread (lambda ()
                                                   (catch 'left
                                                     (sb-thread:signal-semaphore begun)
                                                     (funcall function))))))
             (sb-thread:wait-on-semaphore begun)
             (when asleepp (come-true-p (lambda () (asleep-p thread)) thread))
             (interrupt-safely thread (lambda () (throw 'left :left)))
             (and (come-true-p (lambda () (not (sb-thread:thread-alive-p thread))) thread)
                  (sb-thread:join-thread thread :default nil)))))
    (check (left-p (lambda () (sleep 100000)) :asleepp t) :left)
    ;; Not with a string for an argument: SBCL may allocate for that by malloc, and a thread
    ;; that is left there leaves it locked for this one.  Thirty tries will do where nothing
    ;; is locked.
    (let* ((size 20000000) (buffer (sb-alien:make-alien (sb-alien:unsigned 8) size))
           (*interrupt-tries* 30)
           (left (left-p (lambda ()
                           (loop (sb-alien:alien-funcall
                                  (sb-alien:extern-alien "memset" (function sb-alien:void (* (sb-alien:unsigned 8))
                                                                            sb-alien:int sb-alien:unsigned-long))
                                  buffer 1 size))))))
      (check left :left)
      (when left (sb-alien:free-alien buffer))))) ; else it is being written to

;;; A look does not go where foreign code is at work, not even out of patience.

(define-test looks-in-foreign-code
  #+sbcl
  (let* ((endp nil) (seen '()) (size 20000000)
         (buffer (sb-alien:make-alien (sb-alien:unsigned 8) size))
         (thread (sb-thread:make-thread
                  (lambda ()
                    (loop until endp
                          do (sb-alien:alien-funcall
                              (sb-alien:extern-alien "memset" (function sb-alien:void (* (sb-alien:unsigned 8))
                                                                        sb-alien:int sb-alien:unsigned-long))
                              buffer 1 size))))))
    (flet ((addresses (forcep)
             (setf seen '())
             (loop repeat 30
                   do (let ((*interrupt-patience* (if forcep -1 20000))
                            (*interrupt-tries* (if forcep 0 *interrupt-tries*)))
                        (interrupt-safely thread (lambda () (push (foreign-address) seen)) :forcep forcep)))
             (count-if #'integerp seen)))
      (check (plusp (addresses t)) t)
      (check (addresses nil) 0))
    (setf endp t)
    (sb-thread:join-thread thread :default nil)
    (sb-alien:free-alien buffer)))

;;; An interrupt may find a function before its variables say where more arguments are: SBCL would
;;; copy as many as they say.

(defun take-more (function &rest more)
  (funcall function)
  (apply #'list more))

(define-test arguments-that-are-not-set
  #+sbcl
  (flet ((arguments (wrong)
           (let ((seen nil))
             (sb-int:encapsulate 'sbcl:debug-var-value 'wrong
                                 (lambda (function variable frame)
                                   (let ((value (funcall function variable frame)))
                                     (if (typep value 'fixnum) (funcall wrong value) value))))
             (unwind-protect
                  (take-more (lambda ()
                               (sbcl:map-backtrace
                                (lambda (frame)
                                  (when (eq 'take-more (frame-name frame))
                                    (setf seen (frame-arguments frame))))))
                             1 'two nil (list 3))
               (sb-int:unencapsulate 'sbcl:debug-var-value 'wrong))
             (if (listp seen) (rest seen) seen))))
    (check (arguments #'identity) '(1 two nil (3)))
    (check (arguments (lambda (value) (if (= 4 value) (ash most-positive-fixnum -5) value))) :unknown)
    (check (arguments (lambda (value) (if (= 4 value) value 80))) :unknown)
    (check (arguments (lambda (value) (if (= 4 value) -3 value))) :unknown))
  #+sbcl
  (check (mapcar #'object-word-p (list (sbcl:get-lisp-obj-address (list 1)) (sbcl:get-lisp-obj-address nil)
                                       (sbcl:get-lisp-obj-address "x") 14 #x48f87597 #x48f8759f))
         '(t t t t nil nil)))
