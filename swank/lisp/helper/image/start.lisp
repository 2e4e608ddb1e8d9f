;;;; start.lisp -- CONFIGURE: an image that was launched for a bridge

(cl:in-package #:swank-mcp)

(defun watch-launched-image ()
  "Watch what defines, undefines and changes packages.  SBCL goes through all its code
for that the first time, which takes tens of milliseconds: a core has it done."
  (count-undoings)
  #+sbcl (watch-definers)
  #+sbcl (watch-threads))

(defun configure (&key launched)
  "Say what kind of image this is.  In one that was launched for the bridge,
output that comes too late for its evaluation goes to the process' own, and the
heap is watched."
  (know-systems)
  (setf *launched* launched
        *late-output* (and launched #+sbcl sb-sys:*stdout* #-sbcl nil))
  (when launched
    (setf *baseline* (record-packages))
    (watch-launched-image)
    (start-heap-watch)
    (open-binding-stack-for-handlers))
  (answer t))
