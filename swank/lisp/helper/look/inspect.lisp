;;;; inspect.lisp -- INSPECT-FORM, INSPECT-HANDLE: objects, part by part

(cl:in-package #:swank-mcp)

;;; Handles.  An inspected object has a number.  The newest *HELD* of these objects are kept alive;
;;; older ones live as long as the program itself keeps them.

(defparameter *held* 8)
(defparameter *max-handles* 200)

(defstruct (handle (:copier nil))
  number pointer
  object                    ; the object itself, as long as it is held
  session                   ; at whose reset it is forgotten
  connection                ; of the bridge, at whose end the object is released
  code)                     ; what was evaluated to get it

(defvar *handles* '() "Newest first.")
(defvar *last-handle* 0)

(defun weak-pointer-to (object)
  #+sbcl (sb-ext:make-weak-pointer object) #-sbcl (lambda () object))
(defun pointer-target (pointer)
  "(VALUES OBJECT T), or NIL and NIL if it was garbage."
  #+sbcl (sb-ext:weak-pointer-value pointer) #-sbcl (values (funcall pointer) t))

(defun remember-object (object session code)
  "A new handle's number."
  (let ((pointer (weak-pointer-to object)))
    (with-lock ()
      (push (make-handle :number (incf *last-handle*) :pointer pointer :object object
                         :session session :connection (own-connection)
                         :code (clip code 300))
            *handles*)
      (let ((released (nth *held* *handles*)))
        (when released (setf (handle-object released) nil)))
      (setf *handles* (first-few *handles* *max-handles*))
      *last-handle*)))

(defun forget-handles (session)
  (with-lock ()
    (setf *handles* (remove session *handles* :key #'handle-session))))

(defun release-handles-of (connection)
  "Release the objects that are held for the bridge behind CONNECTION."
  (with-lock ()
    (dolist (handle *handles*)
      (when (eq connection (handle-connection handle))
        (setf (handle-object handle) nil
              (handle-connection handle) nil)))))

(defun handle-text (number) (format nil "obj-~D" number))

(defun designated-handle (designator)
  "7 of 7, \"7\" or \"obj-7\"; NIL of anything else."
  (etypecase designator
    (integer designator)
    (string (let* ((text (string-trim " \"" designator))
                   (digits (if (eql 0 (search "obj-" (string-downcase text))) (subseq text 4) text)))
              (and (plusp (length digits))
                   (every #'digit-char-p digits)
                   (< (length digits) 10)
                   (parse-integer digits))))))

(defun handle-object-or-fail (designator)
  (let* ((number (designated-handle designator))
         (handle (with-lock () (find number *handles* :key #'handle-number))))
    (unless handle
      (fail-lookup "UNKNOWN-HANDLE" '()
                   "There is no handle ~A~@[; the newest is ~A~]. Handles look like obj-1 and last until the ~
                    ~Dth after them, a reset of the session, or the end of the image."
                   (if number (handle-text number) (prin1-to-string (clip designator 60)))
                   (let ((newest (first *handles*)))
                     (and newest (handle-text (handle-number newest))))
                   *max-handles*))
    (multiple-value-bind (object alive) (pointer-target (handle-pointer handle))
      (unless alive
        (fail-lookup "STALE-HANDLE" (list (handle-code handle))
                     "The object of ~A was garbage: the program does not keep it, and ~D others or more were inspected since, or the connection was lost."
                     (handle-text number) *held*))
      object)))

;;; Paths: 2, 0.name, 3k, with a dot between the steps

(defun path-steps (path)
  (let ((text (string-trim '(#\space #\.) path)))
    (loop with start = 0
          while (< start (length text))
          collect (let ((dot (or (position #\. text :start start) (length text))))
                    (prog1 (subseq text start dot) (setf start (1+ dot)))))))

(defparameter *most-labels* 5000 "How many parts are searched for a label.")

(defun find-part (object step trail)
  "The part of OBJECT that STEP names: an index, an index with k, or a label.  TRAIL has the steps
to OBJECT."
  (let* ((view (object-view object))
         (count (view-count view))
         (index (and (string/= step "")   ; "a..b"
                     (digit-char-p (char step 0))
                     (parse-integer step :junk-allowed t)))
         (keyp (and index (char-equal #\k (char step (1- (length step))))))
         (plain (and index (= (length step) (+ (if keyp 1 0) (length (format nil "~D" index)))))))
    (or (and plain (< index count)
             (let ((part (first (funcall (view-range view) index (1+ index)))))
               (cond ((null part) nil)
                     ((not keyp) part)
                     ((part-key part) (make-part "key" (first (part-key part)))))))
        (find-if (lambda (part)
                   (and (part-label part) (string-equal step (string-trim "\":|" (part-label part)))))
                 (funcall (view-range view) 0 (min count *most-labels*)))
        (fail-lookup "NO-SUCH-PART" '()
                     "~:[It~;Its part ~:*~A~] has no part ~S: ~A." (trail-text trail) step
                     (cond ((zerop count) "it has no parts")
                           (t (format nil "~D part~:P, 0 to ~D~@[, such as ~{~A~^, ~}~]" count (1- count)
                                      (remove nil (mapcar #'part-label
                                                          (funcall (view-range view) 0 (min count 8)))))))))))

(defun trail-text (trail)
  (and trail (format nil "~{~A~^.~}" (reverse trail))))

(defun walk-path (object path)
  "(VALUES PART-VALUE PART) at the end of PATH from OBJECT."
  (let ((part nil) (trail '()))
    (dolist (step (path-steps path) (values object part))
      (setf part (find-part object step trail))
      (push step trail)
      (unless (part-boundp part)
        (fail-lookup "UNBOUND-PART" '() "The part ~A has no value: ~A." (trail-text trail) (part-why part)))
      (setf object (part-value part)))))

(defun object (handle &optional (path ""))
  "For the user's code: the object of HANDLE (7 or \"obj-7\"), or its part at PATH.  SETF changes
the part."
  (values (walk-path (handle-object-or-fail handle) path)))

(defun (setf object) (value handle &optional (path ""))
  (let* ((steps (path-steps path))
         (whole (walk-path (handle-object-or-fail handle) (format nil "~{~A~^.~}" (butlast steps))))
         (part (if steps
                   (find-part whole (first (last steps)) (reverse (butlast steps)))
                   (error "Give a path to the part that is to be changed."))))
    (funcall (or (part-setter part) (error "The part ~A cannot be changed." path)) value)
    value))

;;; The text

(defun kind-label (object)
  "The name of OBJECT's class; for an internal class of the implementation, of its nearest standard
superclass."
  (let ((name (class-name (class-of object))))
    (if (and (symbolp name)
             (implementation-package-p (symbol-package name)))
        (name-label (or (find-if #'standard-name-p
                                 (mapcar #'class-name (class-ancestry (class-of object))))
                        name))
        (name-of-type object))))

(defun part-line (part index)
  (format nil "~D~@[ ~A~]: ~A" index (part-label part)
          (if (part-boundp part) (brief (part-value part)) (part-why part))))

(defun inspection (object handle path offset limit)
  "A plist (:TITLE :SECTIONS :NOTES) about OBJECT, which is at PATH from the object of HANDLE."
  (let* ((view (object-view object))
         (count (view-count view))
         (from (min offset count))
         (to (min count (+ from limit))))
    (list :title (format nil "~A~@[, part ~A~]: ~A, ~A" (handle-text handle) (and (path-steps path) path)
                         (kind-label object) (brief object))
          :sections (append (when (view-facts view)
                              (list (cons "facts" (loop for (name . text) in (view-facts view)
                                                        collect (format nil "~A: ~A" name text)))))
                            (when (> to from)
                              (list (cons (if (= count (- to from))
                                              "parts"
                                              (format nil "parts ~D to ~D of ~:D" from (1- to) count))
                                          (loop for part in (funcall (view-range view) from to)
                                                for index from from
                                                collect (part-line part index)))))
                            (when (view-text view) (list (list "text" (view-text view)))))
          :notes (append (view-notes view)
                         (when (< to count) (list (format nil "More: offset ~D" to)))))))

(defun refusing-failures (evaluation function)
  "Call FUNCTION; a LOOKUP-FAILURE ends EVALUATION with a report that has :NAMES."
  (handler-case (funcall function)
    (lookup-failure (failure)
      (report-with evaluation (lambda () (list :names (failure-names failure))))
      (refuse (failure-type failure) (failure-message failure)))))

(defun inspect-form (code &key (session "default") (token 0) package (path "") (offset 0) (limit 40))
  "Evaluate the form in CODE and inspect the part at PATH of its first value.  The answer is
EVALUATE's; its :REPORT is that of INSPECTION."
  (call-as-work
   (lambda (evaluation read)
     (let* ((form (funcall read code))
            (values (progn
                      (setf (evaluation-acts evaluation)
                            (not (and (looks-only-p form)
                                      (reads-plainly-p (evaluation-session evaluation) code))))
                      (multiple-value-list (evaluate-form form))))
            (object (first values))
            (handle (remember-object object (evaluation-session evaluation) code))
            (found (refusing-failures
                    evaluation
                    (lambda ()
                      (inspection (walk-path object path) handle path offset limit)))))
       (when (rest values)
         (push (format nil "The form has ~D values; this is the first." (length values))
               (getf found :notes)))
       (report-with evaluation (lambda () found))
       '()))
   :code code :session session :token token :package package))

(defun inspect-handle (handle path &key (session "default") (offset 0) (limit 40))
  "Answer INSPECTION of the part at PATH of the object of HANDLE."
  (with-look-up (session)
    (let* ((object (walk-path (handle-object-or-fail handle) path))
           (*package* (live-package session)))
      (inspection object (designated-handle handle) path offset limit))))
