;;;; changes.lisp -- what an evaluation has defined, for the history

(cl:in-package #:swank-mcp)

;;; The history has for each action which definitions it made, and what was there before: the
;;; definition itself, to be put back, and its source text.  That is looked for where the new form
;;; is expanded, and only if there was a definition.

(defparameter *max-changes* 200
  "How many definitions an action keeps.")

(defparameter *max-changed-sources* 50
  "For how many of them it keeps the source text of the definition before.")

(defun definition-before (key)
  "(SAVED SOURCES) of the definition that is there in the namespace of KEY."
  (ignore-errors
   (list (saved-definition key)
         #+sbcl (sources-of-definition key))))

#+sbcl
(defun sources-of-definition (key)
  (destructuring-bind (kind . name) key
    (if (eq kind :method)
        (let ((method (find-defined-method name)))
          (and method (list (sb-introspect:find-definition-source method))))
        (loop for kind in (or (find kind *sibling-kinds* :test #'member) (list kind))
                thereis (definition-sources name kind)))))

(defun text-before (key sources)
  "The source text of the definition of KEY that had SOURCES, or NIL."
  #+sbcl
  (ignore-errors
   (let ((symbol (key-symbol key)))
     (some (lambda (source)
             (let ((text (site-text (source-site source (symbol-name symbol)))))
               (and text (clip text (action-limit :code)))))
           sources)))
  #-sbcl (progn key sources nil))

(defun note-change (evaluation candidate)
  "Note that CANDIDATE has made a definition in EVALUATION."
  (let ((action (evaluation-action evaluation)) (key (candidate-key candidate)))
    (when action
      (let* ((place (namespace-of key))
             (identity (definition-identity (car key) (cdr key)))
             (known (find place (action-changes action)
                          :key (lambda (change) (namespace-of (change-key change))) :test #'equal)))
        (cond (known (setf (change-key known) key (change-identity known) identity))
              ((>= (length (action-changes action)) *max-changes*)
               (incf (action-changes-left-out action)))
              (t (destructuring-bind (&optional saved sources) (candidate-was candidate)
                   (push (make-change :key key :identity identity :saved saved
                                      :newp (null (candidate-was candidate))
                                      :source (and sources
                                                   (< (length (action-changes action)) *max-changed-sources*)
                                                   (text-before key sources)))
                         (action-changes action)))))))))

;;; What the bridge is told, for people who look at its transcript

(defparameter *max-redefined* 50
  "How many definitions an answer names that were replaced.")

(defparameter *max-redefined-text* 20000
  "How many characters of their sources an answer has.")

(defun redefined-for-wire (evaluation)
  "(NUMBER TOKEN (LABEL BEFORE AFTER) ...) of the definitions that EVALUATION has replaced: of its
action, and for each the source before and now, empty where it is not known or too long.  NIL if it
has replaced none."
  (let* ((action (evaluation-action evaluation)) (room *max-redefined-text*)
         (changes (and action (remove-if #'change-newp (reverse (action-changes action))))))
    (flet ((texts (change)
             (let* ((before (change-source change))
                    (after (and before (text-now (change-key change))))
                    (size (+ (length before) (length after))))
               (cond ((not (and before after)) (list "" ""))
                     ((or (> (length before) (action-limit :code)) ; then it was clipped
                          (> (length after) (action-limit :code))
                          (> size room))
                      (list "" ""))
                     (t (decf room size)
                        (list before after))))))
      (when changes
        (list* (action-number action) (action-token action)
               (loop for change in (first-few changes *max-redefined*)
                     collect (cons (key-label (change-key change)) (texts change))))))))

(defun text-now (key)
  #+sbcl (text-before key (ignore-errors (sources-of-definition key)))
  #-sbcl (progn key nil))
