;;;; start.lisp -- CONFIGURE: an image that was launched for a bridge

(cl:in-package #:swank-mcp)

(defun watch-launched-image ()
  "Watch the functions that define, undefine, load and change packages.  The first time, SBCL goes
through all its code for that, which takes tens of milliseconds; a saved core has done it."
  (watch-undefiners)
  #+sbcl (watch-definers)
  #+sbcl (watch-loads)
  #+sbcl (watch-threads))

(defun configure (&key launched)
  "Set up the image.  In one that was LAUNCHED for the bridge, output that comes after the end of
its evaluation goes to the process's own, and the heap is watched."
  (note-known-systems)
  (setf *launched* launched
        *late-output* (and launched #+sbcl sb-sys:*stdout* #-sbcl nil))
  (when launched
    (await-own-connection)
    (setf *baseline* (record-packages))
    (watch-launched-image)
    (start-heap-watch)
    (open-binding-stack-for-handlers))
  (answer t))
