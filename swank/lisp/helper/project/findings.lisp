;;;; findings.lisp -- what is not the same in the image and on disk, a line for each

(cl:in-package #:swank-mcp)

(defstruct (finding (:copier nil))
  "TEXT, a line.  KIND tells what it is about, NAMES the labels of definitions, KEYS their keys, FILE
the one that would have to be loaded, or NIL.  OBJECT identifies the definition that is alone; CERTAIN is
the (KIND . TEXT) to tell of it while no fresh image has shown that it has none, or NIL; AGAIN the line on
it if one has it, too, or NIL.  NEXT is the call, as of NEXT-CALL, without which loading fails, or NIL."
  kind text names keys file object certain again next)

(defparameter *finding-kinds*
  '(:ill-formed :gone :changed :not-again :live :evaluated :left :called :alone :made :stale :outdated :missing :exports
    :fails :fresh-only :obsolete :system)
  "The order in which they are told: what a person has done, then what comes of it.")

(defun of-kinds (kinds findings)
  (remove-if-not (lambda (finding) (member (finding-kind finding) kinds)) findings))

(defun form-place (form version)
  (format nil "~A:~D" (short-file (version-file version))
          (line-and-column (version-text version) (source-form-begin form))))

(defun verdicts-of (state comparison)
  (sort (loop for verdict being the hash-values of (comparison-states comparison)
              when (eq (verdict-state verdict) state) collect verdict)
        #'string< :key (lambda (verdict) (label-of (verdict-key verdict)))))

;;; Definitions

(defun calls-on-disk-p (key name comparison)
  "True if KEY, of a function that calls NAME in the image, mentions it on disk, too; or if a macro in
a file has made it."
  (let ((disk (gethash key (comparison-disk comparison))))
    (if disk
        (find-if (lambda (token) (token-name= token (string (function-symbol name))))
                 (tokens-in (scan-datum (version-text (cdr disk)) (source-form-begin (car disk)))))
        (null (state-of key comparison)))))

(defun file-callers (name callers comparison)
  "Labels of the functions that call NAME, in the image and on disk."
  (labels-of (remove-if-not (lambda (key)
                              (and (not (equal (cdr key) name))
                                   (calls-on-disk-p key name comparison)))
                            (gethash name callers))))

(defun alone-findings (comparison)
  "Definitions that no file has; first those that the project's functions call."
  (let* ((alone (remove-if #'implied-p (verdicts-of :alone comparison)))
         (wanted (make-hash-table :test 'equal)))
    (dolist (verdict alone)
      (when (eq (car (verdict-key verdict)) :function)
        (setf (gethash (cdr (verdict-key verdict)) wanted) t)))
    (let ((callers (names-to-keys #'called-names wanted comparison)))
      (loop for verdict in alone
            for key = (verdict-key verdict)
            for called = (and (eq (car key) :function)
                              (file-callers (cdr key) callers comparison))
            collect (alone-finding verdict called comparison)))))

(defun scratch-functions ()
  "A table of the names in CL-USER of functions that sessions have defined."
  (let ((names (make-hash-table :test 'equal)) (package (find-package '#:common-lisp-user)))
    (dolist (session (with-lock () (loop for session being the hash-values of *sessions* collect session))
                     names)
      (loop for ((kind . name)) in (all-entries session)
            when (and (eq kind :function)
                      (eq (symbol-package (function-symbol name)) package)
                      (fboundp name))
              do (setf (gethash name names) t)))))

(defun scratch-findings (comparison)
  "Functions of CL-USER that no file has, but which the project's functions call.  Others there are
nobody's business."
  (let ((callers (names-to-keys #'called-names (scratch-functions) comparison)))
    (loop for name being the hash-keys of callers
          for key = (cons :function name)
          for called = (and (not (gethash key (comparison-disk comparison)))
                            (file-callers name callers comparison))
          when called
            collect (let ((text (nth-value 1 (object-place (definition-object key)))))
                      (alone-finding (make-verdict :key key :text text) called comparison)))))

(defun implied-p (verdict)
  "True of a generic function that its methods, which are named, imply."
  (let* ((key (verdict-key verdict))
         (function (and (eq (car key) :function) (ignore-errors (fdefinition (cdr key))))))
    (and (typep function 'generic-function)
         (null (documentation function t))
         #+sbcl (sb-mop:generic-function-methods function)
         #+sbcl (eq (sb-mop:generic-function-method-combination function)
                    (sb-mop:generic-function-method-combination #'print-object)))))

(defun alone-finding (verdict called comparison)
  "The FINDING on the definition of VERDICT, which functions labelled CALLED call, that the image may
have alone."
  (let* ((key (verdict-key verdict)) (label (label-of key))
         (text (verdict-text verdict)) (file (verdict-file verdict))
         (text (and text (clip (on-one-line text) 60))))
    (make-finding
     :kind (if called :called :alone) :names (list label) :keys (list key)
     :object (verdict-object verdict)
     :text (format nil "~A is in the image only, ~A~@[; ~A~]" label
                   (cond (text (format nil "by an evaluation: ~A" text))
                         ((null file) "by an evaluation")
                         ((nth-value 1 (gethash file (comparison-files comparison)))
                          (format nil "~A has it no more" (short-file file)))
                         (t (format nil "from ~A, which no loaded system has" (short-file file))))
                   (and called
                        (format nil "~A call~:[~;s~] it" (few called 4) (null (rest called)))))
     :again (and text
                 (format nil "~A: an evaluation has defined it, and so do the files, by another form" label))
     :certain (cond (text (cons :evaluated (format nil "~A was defined by an evaluation: ~A" label text)))
                    ((null file) (cons :evaluated (format nil "~A was defined by an evaluation" label)))
                    ((not-defined-again-p key (verdict-object verdict))
                     (cons :not-again (format nil "~A is left of ~A, which was loaded again without it" label
                                              (short-file file))))
                    ((not (nth-value 1 (gethash file (comparison-files comparison))))
                     (cons :left (format nil "~A is from ~A, which no loaded system has"
                                         label (short-file file))))))))

(defun live-findings (comparison)
  (loop for verdict in (verdicts-of :live comparison)
        for key = (verdict-key verdict)
        for (form . version) = (gethash key (comparison-disk comparison))
        collect (make-finding :kind :live :names (list (label-of key))
                              :text (format nil "~A: ~:[an evaluation~;~:*~A~] made it other than ~A has it"
                                            (label-of key) (verdict-file verdict)
                                            (form-place form version)))))

(defun outdated-findings (comparison)
  (loop for verdict in (verdicts-of :outdated comparison)
        for key = (verdict-key verdict)
        for (form . version) = (gethash key (comparison-disk comparison))
        collect (make-finding :kind :outdated :names (list (label-of key))
                              :text (format nil "~A keeps the value that ~:[an evaluation~;an earlier ~:*~A~] gave it; ~A has another"
                                            (label-of key)
                                            (and (null (evaluated-value-codes (cdr key)))
                                                 (source-form-operator form))
                                            (form-place form version)))))

(defun stale-findings (comparison)
  "A suspicion of each function that is older than something which has changed."
  (loop for (key . changed) in (suspected-users comparison)
        collect (make-finding :kind :stale :names (list (label-of key)) :keys (list key) :object changed)))

(defun stale-finding (keys changed comparison)
  "The FINDING on the functions KEYS, whose code is another one in a fresh image, after the changes of the
definitions CHANGED."
  (let* ((labels (labels-of keys)) (disk (gethash (first keys) (comparison-disk comparison))))
    (make-finding :kind :stale :names labels :keys keys :file (and disk (version-file (cdr disk)))
                  :text (format nil "~A ~:[were~;was~] compiled before ~A changed; a fresh image compiles ~:[them~;it~] otherwise"
                                (few labels) (null (rest labels)) (few (labels-of changed))
                                (null (rest labels))))))

(defun made-findings ()
  "Suspicions of definitions that macros of files have made, and which are gone: a fresh image knows the
names that they make now."
  (loop for (key . loaded) in (with-shared-table (*made-by-macros*)
                                (loop for key being the hash-keys of *made-by-macros* using (hash-value loaded)
                                      collect (cons key loaded)))
        if (not (eq loaded (loaded-file (loaded-file-file loaded))))
          do (remhash key *made-by-macros*) ; the file was loaded again
        else if (not (definition-object key))
          collect (make-finding :kind :made :names (list (label-of key)) :keys (list key))))

(defun unbound-p (key form version)
  "True if the variable KEY has no value, though FORM of VERSION gives it one."
  (and (eq (car key) :variable)
       (symbolp (cdr key))
       (not (boundp (cdr key)))
       (value-code form (version-text version))
       t))

(defun missing-findings (comparison)
  "Definitions of files that are loaded as they are, but which the image does not have."
  (loop for key being the hash-keys of (comparison-disk comparison) using (hash-value (form . version))
        for origin = (gethash key *origins*)
        for unboundp = (unbound-p key form version)
        when (and origin
                  (origin-object origin)
                  (eql (origin-code origin) (source-form-code form))
                  (or unboundp (not (definition-object key))))
          collect (make-finding :kind :missing :names (list (label-of key))
                                :file (version-file version)
                                :text (format nil "~A of ~A ~:[is not in the image any more~;has no value~]"
                                              (label-of key) (form-place form version) unboundp))))

;;; Files

(defun codes-of (version)
  (let ((codes (make-hash-table)))
    (loop for form across (version-forms version)
          do (setf (gethash (source-form-code form) codes) form))
    codes))

(defun settled-p (key comparison)
  "True if the difference in the definition KEY needs no loading, or has its own line."
  (or (member (state-of key comparison) '(:same :live-same :live :alone :outdated))
      (let ((form (and (eq (car key) :package) (first (gethash key (comparison-disk comparison))))))
        (and form (exported-already-p key form)))))

(defun evaluated-call-p (form version comparison)
  "True if FORM of VERSION is a call on disk that was evaluated, or what it was before."
  (let ((code (gethash (form-head form (version-text version)) (comparison-evaluated comparison))))
    (and code
         (or (eql code (source-form-code form))
             (not (gethash (source-form-code form) (comparison-calls comparison)))))))

(defun changed-parts (loaded now comparison)
  "(VALUES CHANGED NEW GONE OTHERP): keys of definitions that the versions LOADED and NOW have
otherwise, and whether other forms differ."
  (let ((old (codes-of loaded)) (new (codes-of now))
        (changed '()) (added '()) (gone '()) (otherp nil))
    (flet ((each (version known function)
             (loop for form across (version-forms version)
                   unless (gethash (source-form-code form) known)
                     do (if (source-form-specs form)
                            (dolist (spec (source-form-specs form)) (funcall function (spec-key spec)))
                            (unless (evaluated-call-p form version comparison)
                              (setf otherp t))))))
      (each now old (lambda (key)
                      (unless (settled-p key comparison)
                        (if (loaded-definition key) (push key changed) (push key added)))))
      (each loaded new (lambda (key)
                         (when (and (not (gethash key (comparison-disk comparison)))
                                    (eq :loaded (state-of key comparison)))
                           (push key gone)))))
    (values changed added gone otherp)))

(defun changed-text (file changed added gone otherp callers comparison)
  (let ((parts (remove nil
                       (list (and changed (format nil "~A differ~:[~;s~]" (few (labels-of changed)) (null (rest changed))))
                             (and added (format nil "~A ~:[are~;is~] not loaded" (few (labels-of added)) (null (rest added))))
                             (and gone
                                  (format nil "~A ~:[are~;is~] gone from it~@[, though called by ~A~]"
                                          (few (labels-of gone)) (null (rest gone))
                                          (let ((labels (loop for key in gone
                                                              append (and (eq (car key) :function)
                                                                          (file-callers (cdr key) callers comparison)))))
                                            (and labels (few labels 4)))))
                             (and otherp "forms that define nothing differ")))))
    (format nil "~A has changed since it was loaded~@[: ~{~A~^; ~}~]" (short-file file) parts)))

(defun ill-formed-finding (file text at)
  (multiple-value-bind (line column) (line-and-column text at)
    (make-finding :kind :ill-formed :next (list "validate-syntax" "path" file nil)
                  :text (format nil "~A is not well-formed: ~:[the form that begins at ~D:~D has no end~;~D:~D has a parenthesis too many~]"
                                (short-file file) (char= (char text at) #\)) line column))))

(defun file-finding (file component now comparison)
  "The FINDING on FILE of COMPONENT, whose version now is NOW, or NIL."
  (let* ((loaded (loaded-file file)) (before (and loaded (loaded-file-version loaded)))
         (misfit (and now
                      (not (and before (same-forms-p before now)))
                      ;; one that has been loaded so has a syntax of its own
                      (not (and before (misfit (version-text before))))
                      (misfit (version-text now)))))
    (cond ((null now)
           (make-finding :kind :gone :file file
                         :text (format nil "~A is gone~@[; the image still has ~A of it~]" (short-file file)
                                       (let ((labels (and loaded (labels-of (loaded-file-keys loaded)))))
                                         (and labels (few labels))))))
          (misfit (ill-formed-finding file (version-text now) misfit))
          ((loaded-unseen-p file component)
           (make-finding :kind :changed
                         :file (and *launched* file) ; else whether to load it is for the person to say
                         :text (format nil "~A was loaded ~:[without this server~;in a way that is not seen~], and written since: it is not compared"
                                       (short-file file) *launched*)))
          ((null loaded)
           (make-finding :kind :changed :file file
                         :text (format nil "~A was not loaded" (short-file file))))
          ((same-forms-p before now) nil)
          (t (multiple-value-bind (changed added gone otherp) (changed-parts before now comparison)
               (when (or changed added gone otherp)
                 (let ((wanted (make-hash-table :test 'equal)))
                   (dolist (key gone) (setf (gethash (cdr key) wanted) t))
                   (make-finding
                    :kind :changed :file file
                    :text (changed-text file changed added gone otherp
                                        (names-to-keys #'called-names wanted comparison)
                                        comparison)))))))))

(defun file-findings (comparison)
  (loop for (file . component) in (comparison-sources comparison)
        for finding = (file-finding file component (gethash file (comparison-files comparison)) comparison)
        when finding collect finding))
